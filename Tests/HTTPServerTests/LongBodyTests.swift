import EventLoop
import Foundation
import HTTPMessage
import TestSupport
import Testing

@testable import HTTPServer

/// Admits long bodies at /long.
private struct LongBodyPolicy: RequestPolicy {
    func admitsLongBody(_ head: RequestHead) -> Bool { head.path == "/long" }

    func refusal(
        of head: RequestHead, _ status: HTTPStatus, _ sentence: String
    ) -> (fields: ResponseHead, body: [UInt8])? { nil }

    func verdict(onOtherUsers head: RequestHead) -> OtherUserVerdict { .admitted }
}

@Suite struct LongBodyTests {
    /// A server that accepts long bodies at /long and answers with their length.
    private func fixture() async throws -> ServerFixture {
        try await ServerFixture(
            with: {
                $0.longBody = 1_000_000
            }, policy: LongBodyPolicy(), handler: { $0.reply(.ok, "\($0.body.count), ends with \($0.body.last ?? 0)") })
    }

    @Test func aLongBodyIsAcceptedUpToItsLimitWhereAdmitted() async throws {
        let fixture = try await fixture()
        let connection = try fixture.connect()
        let body = [UInt8](repeating: 1, count: 999_999) + [9]
        for _ in 0..<2 {
            try await connection.send(Array(fixture.request("PUT /long", "Content-Length: 1000000").utf8) + body)
            #expect(try await connection.reply().text == "1000000, ends with 9\n")
        }
        #expect(try await fixture.ask("PUT /long", "Content-Length: 1000001").status == 413)
    }

    @Test func aLongBodyIsRefusedByItsHeadElsewhere() async throws {
        let fixture = try await fixture()
        for length in [65_537, 1_000_000] {
            #expect(try await fixture.ask("PUT /other", "Content-Length: \(length)").status == 413)
        }
        let connection = try fixture.connect()
        let body = [UInt8](repeating: 7, count: 65_536)
        try await connection.send(Array(fixture.request("PUT /other", "Content-Length: 65536").utf8) + body)
        #expect(try await connection.reply().text == "65536, ends with 7\n")
    }
}
