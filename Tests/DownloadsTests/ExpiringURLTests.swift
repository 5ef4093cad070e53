import Assets
import EventLoop
import Orders
import TestRooms
import TestSupport
import Testing

@testable import Downloads

/// Signed URLs that expire while a download uses them.
@Suite @LoopActor struct ExpiringURLTests {
    /// The resources that the origin has sent in full more than once.
    private func repetitions(_ origin: TestOrigin) async throws -> [String] {
        let given = try await origin.requests().filter { [200, 206].contains($0.status) && !$0.path.contains(".m3u8") }
            .map { $0.path.prefix { $0 != "?" } + ($0.range.map { " \($0)" } ?? "") }
        return Set(given).filter { resource in given.count { $0 == resource } > 1 }.map { String($0) }
    }

    private func download(_ name: String, _ signature: OriginRule.Signature, throttle: Int? = nil) async throws {
        let fixture = try await TestHouse(.downloader())
        try await fixture.origin.add(
            OriginRule("/\(name)/*") { ($0.signed, $0.throttle) = (signature, throttle) })
        let all = Selection(quality: .best, audio: .all, subtitles: .all)
        let download = try await fixture.start("/\(name)/master.m3u8", all)
        try await waitUntil("the end", within: .seconds(30)) { [.complete, .failed].contains(download.state) }
        #expect(download.state == .complete, "\(String(describing: download.failure))")
        #expect(download.isComplete)
        #expect(try await repetitions(fixture.origin) == [])
        #expect(try await fixture.origin.requests().contains { $0.status == signature.refusal ?? 403 })
    }

    /// The token is valid for fewer requests than there are fetches under way: each token serves some fetches, and the
    /// others are refused.
    @Test(arguments: ["ts", "aes", "cmaf"], [2, 4])
    func tokensForAFewRequestsDoNotStopADownload(_ name: String, _ requests: Int) async throws {
        try await download(name, .init(requests: requests))
    }

    @Test(arguments: [401, 410, 404, 400])
    func everyRefusalStatusRefreshesTheURLs(_ status: Int) async throws {
        try await download("aes", .init(requests: 3, refusal: status))
    }

    @Test func tokensShorterThanASegmentsTransferDoNotStopADownload() async throws {
        try await download("cmaf", .init(seconds: 0.2, beginsWithUse: true), throttle: 100_000)
    }
}
