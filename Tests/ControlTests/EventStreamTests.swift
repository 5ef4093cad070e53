import EventLoop
import Foundation
import HTTPServer
import Orders
import TestSupport
import Testing
import WeirAPI

@testable import Control

/// Tests `GET /api/v1/events` over a socket.
@Suite struct EventStreamTests {
    private let folder: TemporaryFolder
    private let claim: StateClaim

    init() throws {
        folder = try TemporaryFolder()
        claim = try StateDirectory(folder.path).claim()
    }

    /// A server with one feed, whose snapshot has one download.
    @LoopActor private struct Stage {
        let feed: EventFeed
        let server: WebServer
        let port: Int
    }

    private func stage(_ change: (inout EventFeed.Configuration) -> Void = { _ in }) async throws -> Stage {
        var configuration = EventFeed.Configuration()
        change(&configuration)
        let stage = try await Self.start(configuration, token: claim.token)
        try claim.publish(url: "http://127.0.0.1:\(stage.port)")
        return stage
    }

    @LoopActor private static func start(_ configuration: EventFeed.Configuration, token: String) throws -> Stage {
        let feed = EventFeed(configuration: configuration) { [API.Download(id: "d1", asset: "sintel")] }
        let routes = ControlRoutes(ScriptedService().handlers, events: feed, token: token)
        let server = WebServer { _ = routes.handle($0) }
        return Stage(feed: feed, server: server, port: Int(try server.listen(host: "127.0.0.1", port: 0)))
    }

    private func connect(_ port: Int, lastEventID: String? = nil, receiveBuffer: Int? = nil) async throws
        -> RawConnection
    {
        let connection = try RawConnection(port: port, receiveBuffer: receiveBuffer)
        let last = lastEventID.map { "Last-Event-ID: \($0)\r\n" } ?? ""
        // HTTP/1.0, so that the body is not chunked.
        try await connection.send(
            "GET /api/v1/events HTTP/1.0\r\nHost: localhost:\(port)\r\nAuthorization: Bearer \(claim.token)\r\n\(last)\r\n"
        )
        let head = String(decoding: try await connection.receiveHead().bytes, as: UTF8.self)
        #expect(head.hasPrefix("HTTP/1.1 200 ") && head.contains("Content-Type: text/event-stream\r\n"), "\(head)")
        #expect(head.contains("Cache-Control: no-store\r\n"))
        return connection
    }

    /// The next message or comment, with the empty line at its end.
    private func message(_ connection: RawConnection) async throws -> String {
        var text = ""
        while !text.hasSuffix("\n\n") {
            let (bytes, end) = try await connection.receive(count: 1)
            guard end == .satisfied else { throw TimedOut("a whole message but \(end) after \(text.debugDescription)") }
            text += String(decoding: bytes, as: UTF8.self)
        }
        return text
    }

    private func id(_ message: String) throws -> String {
        let line = try #require(message.split(separator: "\n").first { $0.hasPrefix("id: ") })
        return String(line.dropFirst(4))
    }

    private func removed(_ name: String) -> API.Event { .removed(.init(id: name, asset: name)) }

    @Test func aSnapshotComesFirstThenEvents() async throws {
        let stage = try await stage()
        let one = try await connect(stage.port)
        let two = try await connect(stage.port)
        let snapshot = try await message(one)
        #expect(snapshot.contains("\nevent: snapshot\ndata: {\"downloads\":[{\"asset\":\"sintel\""), "\(snapshot)")
        _ = try await message(two)
        await stage.feed.publish(removed("x"))
        let first = try await message(one)
        #expect(first.hasSuffix("\nevent: removed\ndata: {\"asset\":\"x\",\"id\":\"x\"}\n\n"))
        #expect(try await message(two) == first)
        await stage.feed.publish(.download(.progress, API.Download(id: "d1", asset: "sintel")))
        #expect(try await message(one).contains("\nevent: progress\ndata: {\"asset\":\"sintel\""))
        let ids = try [id(snapshot), id(first)].map { $0.split(separator: "-") }
        #expect(ids[0][0] == ids[1][0] && Int(ids[0][1])! + 1 == Int(ids[1][1])!)
        await stage.feed.end()
        _ = try await message(two)
        #expect(try await two.receive().end == .closed)
    }

    @Test func aReconnectGetsMissedEventsOrASnapshot() async throws {
        let stage = try await stage()
        let stays = try await connect(stage.port)
        let leaves = try await connect(stage.port)
        _ = try await message(stays)
        let seen = try id(try await message(leaves))
        for name in ["a", "b"] {
            await stage.feed.publish(removed(name))
        }
        let back = try await connect(stage.port, lastEventID: seen)
        #expect(try await message(back).contains(#""id":"a""#))
        let last = try await message(back)
        #expect(last.contains(#""id":"b""#))
        // No event was missed: the stream begins with a comment instead of a snapshot.
        #expect(try await message(connect(stage.port, lastEventID: id(last))) == ":\n\n")
        for unknown in ["other-1", "", "1", try id(last) + "9", "é"] {
            #expect(try await message(connect(stage.port, lastEventID: unknown)).contains("event: snapshot"))
        }
    }

    @Test func anOldOrForeignEventIDGivesASnapshot() async throws {
        let stage = try await stage { $0.history = 1000 }
        let stays = try await connect(stage.port)
        let first = try id(try await message(stays))
        var last = first
        for number in 0..<100 {
            await stage.feed.publish(removed("asset-\(number)"))
            last = try id(try await message(stays))
        }
        let snapshot = try await message(connect(stage.port, lastEventID: first))
        #expect(try snapshot.contains("event: snapshot") && id(snapshot) == last)
        #expect(try await message(connect(stage.port, lastEventID: last)) == ":\n\n")
        // A restarted daemon uses other ids, even if their numbers are equal.
        let again = try await self.stage()
        let other = try await connect(again.port)
        #expect(try await message(other).contains("event: snapshot"))
        for number in 0..<100 {
            await again.feed.publish(removed("asset-\(number)"))
            _ = try await message(other)
        }
        #expect(try await message(connect(again.port, lastEventID: last)).contains("event: snapshot"))
    }

    @Test func concurrentClientsShareASnapshotUntilAnEvent() async throws {
        await Self.countSnapshots()
    }

    @LoopActor private static func countSnapshots() {
        var made = 0
        var configuration = EventFeed.Configuration()
        configuration.snapshotLife = .seconds(3600)
        let feed = EventFeed(configuration: configuration) {
            made += 1
            return []
        }
        func begin() -> EventReader {
            let reader = feed.reader(after: nil)
            reader.open {}
            return reader
        }
        let readers = (0..<50).map { _ in begin() }
        #expect(made == 1)
        feed.publish(.mode(API.Mode(.offline)))
        let late = begin()
        #expect(made == 2)
        for reader in readers + [late] {
            reader.close()
        }
    }

    @Test func eventsWithoutClientsAreInTheNextSnapshot() async throws {
        let stage = try await stage()
        let seen: String
        do { seen = try id(await message(connect(stage.port))) }
        try await waitUntil("nobody") { await stage.feed.readerCount == 0 }
        #expect(try await message(connect(stage.port, lastEventID: seen)) == ":\n\n")
        try await waitUntil("nobody") { await stage.feed.readerCount == 0 }
        await stage.feed.publish(removed("x"))
        #expect(try await message(connect(stage.port, lastEventID: seen)).contains("event: snapshot"))
    }

    @Test func aQuietStreamHasAHeartbeat() async throws {
        let stage = try await stage { $0.heartbeat = .milliseconds(20) }
        let connection = try await connect(stage.port)
        _ = try await message(connection)
        for _ in 0..<3 {
            #expect(try await message(connection) == ":\n\n")
        }
    }

    @Test func aClientThatDoesNotReadIsDisconnected() async throws {
        let stage = try await stage { $0.backlog = 100_000 }
        let idle = try await connect(stage.port, receiveBuffer: 4096)
        let busy = try await connect(stage.port)
        let process = try id(await message(busy)).split(separator: "-")[0]
        let long = String(repeating: "x", count: 20_000)
        var sent = 0
        // The system's buffers for a client that does not read are limited as well.
        while await stage.feed.readerCount == 2, sent < 1_000 {
            await stage.feed.publish(removed(long))
            sent += 1
            let message = "id: \(process)-\(sent)\nevent: removed\ndata: {\"asset\":\"\(long)\",\"id\":\"\(long)\"}\n\n"
            #expect(try await busy.receive(count: message.utf8.count).bytes == Data(message.utf8))
        }
        #expect(await stage.feed.readerCount == 1 && sent < 1_000)
        await stage.feed.publish(removed("y"))
        #expect(try await message(busy).contains(#""id":"y""#))
        let rest = try await idle.receive()
        #expect(rest.end == .closed || rest.end == .reset)
    }

    @Test func aDisconnectedClientIsRemovedAtOnce() async throws {
        let stage = try await stage()
        do { _ = try await message(connect(stage.port)) }
        try await waitUntil("nobody") { await stage.feed.readerCount == 0 }
    }

    @Test func eventsNeedTheToken() async throws {
        let stage = try await stage()
        let answer = try await HTTPProbe.fetch("http://127.0.0.1:\(stage.port)/api/v1/events")
        #expect(answer.status == 401)
        let fields = ["Authorization": "Bearer \(claim.token)"]
        let head = try await HTTPProbe.fetch(
            "http://127.0.0.1:\(stage.port)/api/v1/events", method: "HEAD", fields: fields)
        #expect(head.status == 200 && head["content-type"] == "text/event-stream")
        #expect(await stage.feed.readerCount == 0)
    }

    @Test func theClientReadsEventsUntilTheDaemonStops() async throws {
        let stage = try await stage()
        let client = APIClient(state: claim.directory)
        var seen: [API.Event] = []
        for try await event in client.events() {
            seen.append(event)
            if seen.count == 1 {
                await stage.feed.publish(removed("x"))
            } else {
                await stage.feed.end()
            }
        }
        #expect(seen == [.snapshot([API.Download(id: "d1", asset: "sintel")]), removed("x")])
        await stage.server.stop(within: .seconds(2))
        let error = await #expect(throws: APIError.self) { for try await _ in client.events() {} }
        #expect(error?.code == .noDaemon)
    }
}
