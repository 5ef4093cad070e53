import EventLoop
import HTTPMessage
import TestSupport
import Testing

@testable import HTTPServer

@Suite struct ConnectionGroupTests {
    @LoopActor private final class Member {
        private(set) var changes: [ConnectionGroup.Change] = []
        private(set) lazy var group = ConnectionGroup { [weak self] in self?.changes.append($0) }
        nonisolated init() {}
    }

    @Test func theEndOfTheLastConnectionIsToldWithItsCause() async throws {
        let member = Member()
        let fixture = try await ServerFixture { exchange in
            exchange.join(member.group)
            exchange.reply(.ok, "here")
        }
        var connections = [try fixture.connect(), try fixture.connect()]
        for connection in connections + connections.prefix(1) {
            try await connection.send(fixture.request("GET /"))
            #expect(try await connection.reply().status == 200)
        }
        #expect(await member.group.count == 2)
        #expect(await member.group.isReused)
        connections.removeLast()
        try await waitUntil("the first end") { await member.group.count == 1 }
        #expect(await member.changes == [.opened])
        connections.removeLast()
        try await waitUntil("the second end") { await member.group.count == 0 }
        #expect(await member.changes == [.opened, .emptied(byClient: true)])
    }

    @Test func anIdleConnectionStaysOpenUntilTheGroupEnds() async throws {
        let member = Member()
        let other = Member()
        let fixture = try await ServerFixture(with: { $0.idleTimeout = DeadlineTests.short }) { exchange in
            exchange.join(exchange.head.target == "/other" ? other.group : member.group)
            exchange.reply(.ok, "here")
        }
        let kept = try fixture.connect()
        let idle = try fixture.connect()
        await other.group.end()
        for (connection, path) in [(kept, "/"), (idle, "/other")] {
            try await connection.send(fixture.request("GET \(path)"))
            #expect(try await connection.reply().status == 200)
        }
        #expect(try await idle.isClosed())
        #expect(await other.changes == [.opened, .emptied(byClient: false)])
        try await kept.send(fixture.request("GET /"))
        #expect(try await kept.reply().status == 200)
        await member.group.end()
        #expect(try await kept.isClosed())
    }
}
