import EventLoop
import Foundation
import HTTPMessage
import TestSupport
import Testing

@testable import HTTPServer

@Suite struct FeedReplyTests {
    /// A server that answers each request with a feed, and its feeds.
    @LoopActor private final class Feeds {
        var all: [ScriptedFeed] = []
        var ends: [ReplyEnd] = []

        func reply(to exchange: Exchange) {
            let feed = ScriptedFeed()
            all.append(feed)
            exchange.whenEnded { self.ends.append($0) }
            var head = ResponseHead(.ok)
            head.append(.text)
            exchange.reply(head, .feed(feed))
        }

        /// The first feed, once its reply has begun.
        func first() async throws -> ScriptedFeed {
            try await waitUntil("a reply") { self.all.first?.isOpen == true }
            return all[0]
        }
    }

    private func fixture() async throws -> (ServerFixture, Feeds) {
        let feeds = Feeds()
        let fixture = try await ServerFixture { feeds.reply(to: $0) }
        return (fixture, feeds)
    }

    @Test(arguments: ["HTTP/1.1", "HTTP/1.0"])
    func feedBytesArriveAtOnceAndTheReplyEndsWithTheFeed(version: String) async throws {
        let (fixture, feeds) = try await fixture()
        let connection = try fixture.connect()
        try await connection.send("GET / \(version)\r\nHost: localhost:\(fixture.port)\r\n\r\n")
        let head = String(decoding: try await connection.receiveHead().bytes, as: UTF8.self)
        #expect(head.contains("Transfer-Encoding: chunked") == (version == "HTTP/1.1"))
        let feed = try await feeds.first()
        for word in ["one", "three"] {
            await feed.say(Array(word.utf8))
            let wanted = version == "HTTP/1.1" ? "\(word.utf8.count)\r\n\(word)\r\n" : word
            #expect(try await connection.receive(count: wanted.utf8.count).bytes == Data(wanted.utf8))
        }
        await feed.finish()
        let rest = try await connection.receive(count: 5)
        #expect(rest.bytes == Data((version == "HTTP/1.1" ? "0\r\n\r\n" : "").utf8))
        #expect(rest.end == (version == "HTTP/1.1" ? .satisfied : .closed))
        #expect(await feed.closings == 1)
        #expect(await feeds.ends.map(\.cause) == [.complete])
        #expect(await feeds.ends.map(\.bodyBytes) == [8])
    }

    @Test func anotherRequestOnTheConnectionIsAnsweredAfterTheFeed() async throws {
        let (fixture, feeds) = try await fixture()
        let connection = try fixture.connect()
        try await connection.send(fixture.request("GET /") + fixture.request("HEAD /"))
        let feed = try await feeds.first()
        await feed.say([1, 2, 3])
        await feed.finish()
        #expect(try await connection.reply().body == [1, 2, 3])
        #expect(try await connection.reply(hasBody: false).status == 200)
        // HEAD has no body.
        #expect(await !feeds.all[1].isOpen)
        #expect(await feeds.all.count == 2)
    }

    @Test func aFeedIsClosedAtOnceWhenItsClientLeaves() async throws {
        let (fixture, feeds) = try await fixture()
        do {
            let connection = try fixture.connect()
            try await connection.send(fixture.request("GET /"))
            _ = try await feeds.first()
        }
        try await waitUntil("the end") { await feeds.all[0].closings == 1 }
        #expect(await feeds.ends.map(\.cause) == [.clientLeft])
    }

    @Test func aFeedIsNotReadWhileTheClientDoesNotRead() async throws {
        let (fixture, feeds) = try await fixture()
        let connection = try fixture.connect(receiveBuffer: 4096)
        try await connection.send(fixture.request("GET /"))
        let feed = try await feeds.first()
        let block = ServerFixture.content(1_000_000)
        for _ in 0..<20 {
            await feed.say(block)
        }
        #expect(await feed.waiting > 10)
        await feed.finish()
        let reply = try await connection.reply()
        #expect(reply.isWhole && reply.body.count == 20 * block.count)
        #expect(reply.body.suffix(block.count) == block[...])
    }

    @Test func aFailedFeedIsCutOffDespiteQueuedBytes() async throws {
        let (fixture, feeds) = try await fixture()
        let connection = try fixture.connect(receiveBuffer: 4096)
        try await connection.send(fixture.request("GET /"))
        let feed = try await feeds.first()
        for _ in 0..<20 {
            await feed.say(ServerFixture.content(1_000_000))
        }
        await feed.fail()
        #expect(await feed.closings == 1)
        #expect(await feeds.ends.map(\.cause) == [.bodyFailed])
        #expect(try await !connection.reply().isWhole)
    }
}

/// A feed that the test drives.
@LoopActor final class ScriptedFeed: ReplyFeed {
    private var blocks: [[UInt8]] = []
    private var isOver = false
    private var wake: (() -> Void)?
    private(set) var hasFailed = false
    private(set) var isOpen = false
    private(set) var closings = 0

    /// The number of blocks not requested yet.
    var waiting: Int { blocks.count }

    func say(_ bytes: [UInt8]) {
        blocks.append(bytes)
        wake?()
    }

    func finish() {
        isOver = true
        wake?()
    }

    func fail() {
        hasFailed = true
        wake?()
    }

    func open(wake: @escaping @LoopActor () -> Void) {
        isOpen = true
        self.wake = wake
    }

    func next() -> ReplyFeedStep {
        if !blocks.isEmpty {
            return .bytes(blocks.removeFirst())
        }
        return isOver ? .end : .wait
    }

    func close() {
        closings += 1
        wake = nil
    }
}
