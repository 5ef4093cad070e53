import EventLoop
import HTTPMessage
import TestSupport
import Testing

@testable import HTTPServer

@Suite struct RenderedReplyTests {
    /// A body of numbers. Counts the bytes that it has made.
    private final class Numbers: RenderedBody {
        nonisolated let count: Int
        var made = 0

        nonisolated init(count: Int) { self.count = count }

        func bytes(in range: Range<Int>) -> [UInt8] {
            made += range.count
            return range.map(Self.byte)
        }

        static nonisolated func byte(_ offset: Int) -> UInt8 { UInt8(truncatingIfNeeded: offset ^ offset >> 8) }
    }

    private static func fixture(_ body: Numbers) async throws -> ServerFixture {
        try await ServerFixture { exchange in
            exchange.reply(Representation(size: Int64(body.count), mediaType: .playlist), .rendered(body))
        }
    }

    @Test(arguments: [
        (1_000, "bytes=0-", 0..<1_000), (1_000, "bytes=990-", 990..<1_000), (700_000, "bytes=0-", 0..<700_000),
        (700_000, "bytes=131071-500000", 131_071..<500_001), (700_000, "bytes=699999-", 699_999..<700_000),
    ])
    func theBodyAndItsRangesAreSent(size: Int, field: String, range: Range<Int>) async throws {
        let fixture = try await Self.fixture(Numbers(count: size))
        let part = try await fixture.ask("GET /", "Range: \(field)")
        #expect(part.status == 206 && part.body == range.map(Numbers.byte))
        let whole = try await fixture.ask("GET /")
        #expect(whole.status == 200 && whole.body == (0..<size).map(Numbers.byte))
        #expect(try await fixture.ask("HEAD /").field("Content-Length") == "\(size)")
    }

    @Test func aClientThatDoesNotReadCostsNoMoreThanItsSocketHolds() async throws {
        let body = Numbers(count: 32 << 20)
        let fixture = try await Self.fixture(body)
        let connection = try fixture.connect(receiveBuffer: 4_096)
        try await connection.send(fixture.request("GET /"))
        _ = try await connection.receiveHead()
        var made = -1
        try await waitUntil("a full socket") {
            let before = made
            made = await body.made
            return made == before
        }
        // Linux lets a socket's send buffer grow to 4 MB (tcp_wmem).
        #expect(made > 0 && made < 8 << 20)
        #expect(try await connection.receive(count: 1 << 20).bytes.count == 1 << 20)
    }
}
