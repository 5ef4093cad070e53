import Assets
import EventLoop
import HTTPMessage
import Origin
import TestRooms
import TestSupport
import Testing

@testable import Sharing

/// Lists of an object store that does not end them.
@Suite @LoopActor struct BucketListTests {
    private func list(_ items: String, _ token: String) async throws -> (ExchangeError?, requests: Int) {
        let fixture = try await TestHouse()
        let text = """
            <?xml version="1.0"?><ListBucketResult><IsTruncated>true</IsTruncated>\(items)\
            <NextContinuationToken>\(token)</NextContinuationToken></ListBucketResult>
            """
        try await fixture.origin.add(OriginRule("*list-type=2*") { ($0.status, $0.body) = (200, text) })
        let signature = RequestSignature(accessKey: "a", secretKey: "b", region: "eu-central-1")
        let access = BucketAccess(signature, endpoint: try fixture.url("/"))
        let site = try BucketSite(
            "films", prefix: "film", access: access, asset: "film-0000", client: fixture.library.client)
        var failure: ExchangeError?
        do throws(ExchangeError) { _ = try await site.open() } catch { failure = error }
        return (failure, try await fixture.origin.requests().count)
    }

    @Test(arguments: [
        "<Contents><Key>film/a.ts</Key><Size>1</Size></Contents>", "",
    ])
    func anEndlessListEnds(_ items: String) async throws {
        let (error, requests) = try await list(items, "again")
        #expect(error?.code == .badAnswer && error?.message.contains("does not end") == true)
        #expect(requests <= 2)
    }
}
