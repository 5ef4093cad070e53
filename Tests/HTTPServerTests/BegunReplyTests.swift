import EventLoop
import Foundation
import Glibc
import HTTPMessage
import TestSupport
import Testing

@testable import HTTPServer

/// Replies whose head is sent before their body is known.
@Suite struct BegunReplyTests {
    enum Body: CaseIterable {
        case nothing, bytes, manyBytes, file, longFile, parts, longParts, growing

        var expected: [UInt8] {
            switch self {
            case .nothing: []
            case .bytes: ServerFixture.content(100)
            case .manyBytes, .longFile, .growing: ServerFixture.content(600_000)
            case .file: ServerFixture.content(1000)
            case .parts: [1, 2, 3] + ServerFixture.content(500)
            case .longParts: [1, 2, 3] + ServerFixture.content(400_000)
            }
        }
    }

    /// Holds the exchanges of begun replies, until the test answers them.
    @LoopActor final class Waiting {
        private let folder: TemporaryFolder
        private var exchange: Exchange?
        private var growing: GrowingFile?
        private(set) var end: ReplyEnd?
        var isBegun: Bool { exchange != nil }

        init() throws { folder = try TemporaryFolder() }

        func begin(_ exchange: Exchange) {
            end = nil
            exchange.whenEnded { [weak self] in self?.end = $0 }
            var head = ResponseHead(.ok)
            head.append(MediaType.mpegTS)
            exchange.begin(head)
            exchange.begin(head)
            self.exchange = exchange
        }

        func drop() { exchange = nil }
        func refuse() { exchange.take()?.reply(.badGateway, "It does not answer.") }

        func answer(_ body: Body) throws {
            guard let exchange = exchange.take() else { return }
            let bytes = body.expected
            let path = folder.path("file")
            let representation = Representation(size: Int64(bytes.count), mediaType: .mpegTS)
            try Data(bytes).write(to: URL(filePath: path))
            let file = OwnedDescriptor(open(path, O_RDONLY | O_CLOEXEC))
            switch body {
            case .nothing, .bytes, .manyBytes: exchange.reply(representation, .bytes(bytes))
            case .file, .longFile: exchange.reply(representation, .file(file))
            case .parts, .longParts:
                try Data(bytes.dropFirst(3)).write(to: URL(filePath: path))
                exchange.reply(representation, .parts(file, [.bytes([1, 2, 3]), .file(0..<Int64(bytes.count - 3))]))
            case .growing:
                let growing = try GrowingFile(path: folder.path("growing"))
                self.growing = growing
                growing.append(bytes.prefix(1000))
                exchange.reply(Representation(size: nil, mediaType: .mpegTS), .growing(growing))
                growing.append(bytes.dropFirst(1000))
                growing.finish(.complete)
            }
        }
    }

    private static func fixture() async throws -> (ServerFixture, Waiting) {
        let waiting = try await Waiting()
        return (try await ServerFixture { waiting.begin($0) }, waiting)
    }

    @Test(arguments: Body.allCases, ["", "Range: bytes=0-"])
    func theHeadComesFirstAndTheBodyIsWhole(body: Body, range: String) async throws {
        let (fixture, waiting) = try await Self.fixture()
        let connection = try fixture.connect()
        // The connection is used again.
        for _ in 0..<2 {
            try await connection.send(range.isEmpty ? fixture.request("GET /") : fixture.request("GET /", range))
            try await waitUntil("the request") { await waiting.isBegun }
            async let reply = connection.reply()
            try await waiting.answer(body)
            let whole = try await reply
            let expected = body.expected
            #expect(whole.status == 200 && whole.field("Content-Type") == "video/mp2t")
            #expect(whole.isWhole && whole.body == expected)
            try await waitUntil("the end") { await waiting.end != nil }
            let end = await waiting.end
            #expect(end == ReplyEnd(cause: .complete, status: 200, bodyBytes: Int64(expected.count)))
        }
    }

    @Test func theClientHasTheHeadMeanwhile() async throws {
        let (fixture, waiting) = try await Self.fixture()
        let connection = try fixture.connect()
        try await connection.send(fixture.request("GET /"))
        let head = String(decoding: try await connection.receiveHead().bytes, as: UTF8.self)
        #expect(head.hasPrefix("HTTP/1.1 200 ") && head.contains("Transfer-Encoding: chunked\r\n"))
        #expect(await waiting.end == nil)
        try await waiting.answer(.bytes)
    }

    @Test func withoutChunksTheBodyEndsWithTheConnection() async throws {
        let (fixture, waiting) = try await Self.fixture()
        let connection = try fixture.connect()
        try await connection.send("GET / HTTP/1.0\r\nHost: localhost:\(fixture.port)\r\n\r\n")
        try await waitUntil("the request") { await waiting.isBegun }
        try await waiting.answer(.longFile)
        let reply = try await connection.reply()
        #expect(reply.isWhole && reply.body == Body.longFile.expected)
    }

    /// Arguments: true if the exchange is dropped, false if it is answered with an error.
    @Test(arguments: [true, false]) func anErrorCutsItShort(isDropped: Bool) async throws {
        let (fixture, waiting) = try await Self.fixture()
        let connection = try fixture.connect()
        try await connection.send(fixture.request("GET /"))
        try await waitUntil("the request") { await waiting.isBegun }
        if isDropped {
            await waiting.drop()
        } else {
            await waiting.refuse()
        }
        let reply = try await connection.reply()
        #expect(reply.status == 200 && !reply.isWhole && reply.body.isEmpty)
        try await waitUntil("the end") { await waiting.end != nil }
        let end = await waiting.end
        #expect(end == ReplyEnd(cause: .bodyFailed, status: 200, bodyBytes: 0))
    }

    @Test func aClientThatLeavesIsNoticed() async throws {
        let (fixture, waiting) = try await Self.fixture()
        do {
            let connection = try fixture.connect()
            try await connection.send(fixture.request("GET /"))
            try await waitUntil("the request") { await waiting.isBegun }
        }
        try await waitUntil("the end") { await waiting.end != nil }
        let end = await waiting.end
        #expect(end?.cause == .clientLeft)
    }

    @Test func aHeadRequestIsAnsweredAtOnce() async throws {
        let (fixture, waiting) = try await Self.fixture()
        let connection = try fixture.connect()
        try await connection.send(fixture.request("HEAD /"))
        try await waitUntil("the request") { await waiting.isBegun }
        try await waiting.answer(.file)
        #expect(try await connection.reply(hasBody: false).field("Content-Length") == "1000")
    }
}
