import Dispatch
import EventLoop
import Foundation
import HTTPMessage
import TestSupport
import Testing

@testable import HTTPServer

@Suite struct FairShareTests {
    private static func key(_ literal: String) throws -> ClientKey {
        ClientKey(try #require(SocketAddress(literal: literal, port: 1)))
    }

    /// One connection for each word: a client's letter, the first letter of the use, and an exclamation mark if it is stale.
    private static func holdings(_ text: String) throws -> [FairShare.Holding] {
        let uses: [Character: FairShare.Use] = [
            "l": .lingering, "i": .idle, "n": .silent, "p": .partial, "s": .sending, "h": .handling,
        ]
        return try text.split(separator: " ").enumerated().map { activity, word in
            let letters = Array(word)
            return FairShare.Holding(
                client: try client(letters[0]), use: try #require(uses[letters[1]]), isStale: word.hasSuffix("!"),
                activity: activity)
        }
    }

    private static func victim(for newcomer: Character, in text: String) throws -> Int? {
        let holdings = try holdings(text)
        let counts = holdings.reduce(into: [ClientKey: Int]()) { $0[$1.client, default: 0] += 1 }
        return FairShare.victim(for: try client(newcomer), among: holdings, counts: counts)
    }

    private static func client(_ letter: Character) throws -> ClientKey {
        try key("127.0.0.\(try #require(letter.asciiValue) - 96)")
    }

    @Test(arguments: [
        // Of one client: idle ones, in the order of their last use; then stale ones. The newest may be about to ask.
        ("ai ai an", "a", 0), ("an ai", "a", 1), ("an ah", "a", nil), ("an! ah", "a", 0), ("ap ah ap!", "a", 2),
        ("ah as", "a", nil), ("ah as!", "a", 1), ("ah! ah!", "a", nil), ("ah al ai", "a", 1),
        // A client with fewer gets one from that with the most, whatever that does.
        ("ah ah bi", "b", 2), ("ah ah bh", "b", nil), ("ah ah ah bi", "b", 0), ("ah as ah bi", "b", 1),
        ("ah ap an", "c", 2),
        ("ah ah bh bh bh", "c", 2), ("ah bh ch", "d", nil), ("ai bh ch", "d", 0),
        // A client with the most does not get another's.
        ("ah ah bi", "a", nil),
    ])
    func theConnectionOfTheClientWithTheMostIsClosed(text: String, newcomer: Character, victim: Int?) throws {
        #expect(try Self.victim(for: newcomer, in: text) == victim)
    }

    @Test(arguments: [("an", 0), ("ap", 0), ("as!", 0), ("ah", 64), ("as", 64)])
    func theOldestOfACrowdWithoutRequestsIsClosed(word: String, victim: Int) throws {
        func text(_ count: Int) -> String { Array(repeating: word, count: count).joined(separator: " ") + " ai!" }
        #expect(try Self.victim(for: "a", in: text(64)) == victim)
        // So few are no crowd.
        #expect(try Self.victim(for: "a", in: text(16)) == 16)
    }

    @Test(arguments: ["ah", "as"]) func aCrowdWithRequestsGetsNoConnectionThatWasJustUsed(word: String) throws {
        let text = Array(repeating: word, count: 64).joined(separator: " ") + " ai"
        #expect(try Self.victim(for: "a", in: text) == nil)
        // Another client gets it.
        #expect(try Self.victim(for: "b", in: text) == 64)
    }

    @Test(arguments: [
        // Of those that do not read, the one that has not for the longest time, whatever the others do.
        ("ah as! as! ai", nil, 1), ("ai an ah as", nil, nil), ("as! bs!", "b", 1), ("as! bs bh bi", "b", nil),
    ])
    func theLongestSilentReaderGivesWay(text: String, client: Character?, victim: Int?) throws {
        let key = try client.map { try Self.client($0) }
        #expect(FairShare.longestSilent(among: try Self.holdings(text), of: key) == victim)
    }

    @Test func eachAddressIsAClient() throws {
        #expect(try Self.key("2001:db8::1") == Self.key("2001:db8:0::1"))
        #expect(try Self.key("2001:db8::1") != Self.key("2001:db8::2"))
        #expect(try Self.key("2001:db8::1") != Self.key("2001:db8:0:1::1"))
        #expect(try Self.key("192.0.2.1") == Self.key("192.0.2.1"))
        #expect(try Self.key("192.0.2.1") != Self.key("192.0.2.2"))
        let loopback = try #require(SocketAddress(literal: "127.0.0.1", port: 1))
        #expect(ClientKey(loopback, .known(1000)) == ClientKey(loopback, .known(1000)))
        #expect(ClientKey(loopback, .known(1000)) != ClientKey(loopback, .known(1001)))
        let elsewhere = try #require(SocketAddress(literal: "127.9.9.9", port: 1))
        #expect(ClientKey(loopback, .known(1000)) != ClientKey(elsewhere, .known(1000)))
        #expect(
            ClientKey(loopback, .known(1000), isOtherUser: true)
                == ClientKey(elsewhere, .known(1000), isOtherUser: true))
    }

    @Test @LoopActor func ofThoseThatWaitTheClientWithTheFewestIsNext() throws {
        let core = ServerCore(WebServer.Configuration(), policy: nil, pool: nil) { _ in }
        let requestGuard = RequestGuard(port: 1, literals: [], hostNames: [], allowedOrigins: [])
        var waiting = WaitingConnections()
        func add(_ letter: Character, _ descriptor: Int32) throws -> Int32? {
            let number = try #require(letter.asciiValue)
            let address = try #require(SocketAddress(literal: "127.0.0.\(number - 96)", port: 1))
            let peer = Connection.Client(address: address, user: .unknown, ownership: .unknown)
            return waiting.add(
                .init(descriptor: descriptor, peer: peer, requestGuard: requestGuard, core: core, since: 0), limit: 3)?
                .descriptor
        }
        #expect(try add("a", 1) == nil)
        #expect(try add("a", 2) == nil)
        #expect(try add("b", 3) == nil)
        // The latest of the client with the most leaves, and not the newcomer.
        #expect(try add("b", 4) == 4)
        #expect(try add("c", 5) == 2)
        let held = [try Self.client("a"): 5, try Self.client("b"): 1, try Self.client("c"): 1]
        #expect(waiting.next(held: held)?.descriptor == 3)
        #expect(waiting.next(held: [:])?.descriptor == 1)
        #expect(waiting.removeAll { $0.descriptor > 1 }.map(\.descriptor) == [3, 5])
    }
}

@Suite struct CrowdTests {
    /// The addresses of a hostile program and of a player. No test listens there: the connections take hundreds of ports.
    private static let hostile = "127.0.7.2"
    private static let player = "127.0.7.3"
    private static let attackers = 300

    /// The hostile program sends `sent` on each connection; a request for /held gets no reply.
    @Test(arguments: ["", "GET /half HTTP/1.1\r\nHost:", "GET /held HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n"])
    func aClientWithManyConnectionsDoesNotStarveAnother(sent: String) async throws {
        let held = HeldExchanges()
        let fixture = try await ServerFixture { exchange in
            if exchange.head.target == "/held" {
                held.exchanges.append(exchange)
            } else {
                exchange.reply(.ok, "Here.")
            }
        }
        let text = sent.replacingOccurrences(of: "PORT", with: "\(fixture.port)")
        let crowd = try (0..<Self.attackers).map { _ in try RawConnection(port: fixture.port, from: Self.hostile) }
        for connection in crowd where !text.isEmpty {
            try? await connection.send(text)
        }
        // Opens them again and again, twenty for each turn of the player: a machine with other work gives both less time.
        let (turns, turn) = AsyncStream.makeStream(of: Void.self)
        let attack = Task.detached {
            var connections = crowd
            var next = 0
            for await _ in turns {
                for _ in 0..<20 {
                    connections[next % connections.count] = try RawConnection(port: fixture.port, from: Self.hostile)
                    if !text.isEmpty {
                        try? await connections[next % connections.count].send(text)
                    }
                    next += 1
                }
            }
        }
        defer { attack.cancel() }
        let kept = try RawConnection(port: fixture.port, from: Self.player)
        var times: [Duration] = []
        for _ in 0..<100 {
            turn.yield()
            let start = ContinuousClock.now
            let fresh = try RawConnection(port: fixture.port, from: Self.player)
            for connection in [kept, fresh] {
                try await connection.send(fixture.request("GET /"))
                #expect(try await connection.reply().status == 200)
            }
            times.append(ContinuousClock.now - start)
        }
        let slowest = times.sorted()[98]
        // A starved client waits for ten seconds. The usual time, some milliseconds, is measured by tools/attack.
        #expect(slowest < .seconds(1), "two requests took \(slowest)")
    }

    /// The end of a released server runs in a later turn of the loop. Until then the pool may close its connections for others.
    @Test func aConnectionOfAReleasedServerLeavesThePool() async throws {
        let pool = await ConnectionPool(limit: 8)
        var server: WebServer? = await WebServer(pool: pool) { $0.reply(.ok, "Here.") }
        let port = try await server?.listen(host: "127.0.0.1", port: 0)
        let connection = try RawConnection(port: Int(try #require(port)))
        try await waitUntil("the connection") { await pool.connections.count == 1 }
        let blocked = await Blocked()
        let left = Task { @LoopActor in pool.closeIdle() ? pool.connections.count : nil }
        server = nil
        await blocked.end()
        #expect(await left.value == 0)
        withExtendedLifetime(connection) {}
    }

    /// The network's server and the one for this machine have one limit, since the process has.
    @Test @LoopActor func serversWithOnePoolShareItsConnections() async throws {
        let pool = ConnectionPool(limit: 8)
        var configuration = WebServer.Configuration()
        configuration.connections = 256
        let (first, second) = (
            WebServer(configuration: configuration, pool: pool) { $0.reply(.ok, "first") },
            WebServer(configuration: configuration, pool: pool) { $0.reply(.ok, "second") }
        )
        let ports = [try first.listen(host: "127.0.0.1", port: 0), try second.listen(host: "127.0.0.1", port: 0)]
        let crowd = try (0..<20).map { _ in try RawConnection(port: Int(ports[1]), from: Self.hostile) }
        try await waitUntil("the crowd") { second.connectionCount == 8 }
        for _ in 0..<3 {
            let own = try RawConnection(port: Int(ports[0]), from: Self.player)
            try await own.send("GET / HTTP/1.1\r\nHost: localhost:\(ports[0])\r\n\r\n")
            #expect(try await own.reply().text == "first\n")
            #expect(first.connectionCount + second.connectionCount <= 8)
        }
        // Those that wait at one server get the place of a connection that ends at the other.
        await first.stop(within: .milliseconds(1))
        try await waitUntil("the crowd again") { second.connectionCount == 8 && first.connectionCount == 0 }
        withExtendedLifetime(crowd) {}
    }

    /// All connections of a burst are accepted before the first of them is read.
    @Test func aRequestThatHasArrivedIsAnsweredInABurst() async throws {
        let fixture = try await ServerFixture(with: { $0.connections = 64 })
        // While the loop stands still, requests and silent connections gather in the listener's queue.
        let blocked = await Blocked()
        let asking = try fixture.connect()
        try await asking.send(fixture.request("GET /"))
        let silent = try (0..<120).map { _ in try fixture.connect() }
        await blocked.end()
        #expect(try await asking.reply().status == 200)
        withExtendedLifetime(silent) {}
    }

    /// More of them than are read before a connection is closed.
    @Test func everyRequestThatHasArrivedIsAnsweredInABurst() async throws {
        let fixture = try await ServerFixture(with: { $0.connections = 64 })
        let blocked = await Blocked()
        let asking = try (0..<120).map { _ in try fixture.connect() }
        for connection in asking {
            try await connection.send(fixture.request("GET /"))
        }
        await blocked.end()
        for connection in asking {
            #expect(try await connection.reply().status == 200)
        }
    }

    /// A connection that has been answered would make room for one that waits, but has more requests.
    @Test(arguments: 0..<4) func aPipelineIsAnsweredToItsEndBeforeAnotherGetsItsPlace(round: Int) async throws {
        let fixture = try await ServerFixture(with: { $0.connections = 2 }) { exchange in
            exchange.reply(.ok, "This is \(exchange.head.target).")
        }
        let first = try fixture.connect()
        let second = try fixture.connect()
        try await waitUntil("both") { await fixture.server.connectionCount == 2 }
        let waiting = try fixture.connect()
        // All arrives in one turn of the loop.
        let blocked = await Blocked()
        let order = round % 2 == 0 ? [first, second] : [second, first]
        for connection in order {
            let name = connection === first ? "first" : "second"
            try await connection.send(
                fixture.request("GET /\(name)/1") + fixture.request("GET /\(name)/2")
                    + fixture.request("GET /\(name)/3"))
        }
        try await waiting.send(fixture.request("GET /waiting"))
        await blocked.end()
        for connection in [first, second] {
            let name = connection === first ? "first" : "second"
            for number in 1...3 {
                #expect(try await connection.reply().text == "This is /\(name)/\(number).\n")
            }
        }
        #expect(try await waiting.reply().text == "This is /waiting.\n")
    }

    /// Sends a long body to each client, none of which reads.
    private func silentReaders(_ count: Int) async throws -> (ServerFixture, [RawConnection], Ends) {
        let ends = Ends()
        let fixture = try await ServerFixture(with: { $0.connections = count }) { exchange in
            guard exchange.head.target == "/long" else { return exchange.reply(.ok, "Here.") }
            exchange.whenEnded { ends.bytes.append($0.bodyBytes) }
            exchange.reply(ResponseHead(.ok), .rendered(Zeros(), 0..<Zeros.length))
            ends.begun += 1
        }
        let connections = try (0..<count).map { _ in try fixture.connect(receiveBuffer: 4096) }
        for connection in connections {
            try await connection.send(fixture.request("GET /long"))
        }
        try await waitUntil("all replies") { await ends.begun == count }
        return (fixture, connections, ends)
    }

    /// The system keeps what it has accepted in its own memory, megabytes for each connection.
    @Test func ofALongTextLittleIsSentToClientsThatDoNotRead() async throws {
        let (fixture, ends): (ServerFixture, Ends)
        var connections: [RawConnection]
        (fixture, connections, ends) = try await silentReaders(4)
        connections.removeAll()
        try await waitUntil("the ends") { await ends.bytes.count == 4 }
        let most = await ends.bytes.max() ?? .max
        #expect(most < 512 << 10)
        withExtendedLifetime(fixture) {}
    }

    @Test func aClientThatReadsALongTextGetsAllOfIt() async throws {
        let fixture = try await ServerFixture { exchange in
            exchange.reply(ResponseHead(.ok), .rendered(Zeros(), 0..<Zeros.length))
        }
        let connection = try fixture.connect()
        for _ in 0..<2 {
            try await connection.send(fixture.request("GET /long"))
            #expect(try await connection.reply().body.count == Zeros.length)
        }
    }

    /// In the usual time such a connection gives way after a second.
    @Test func aClientThatDoesNotReadALongTextGivesWaySoon() async throws {
        var shortest = Duration.seconds(10)
        for _ in 0..<5 where shortest > .milliseconds(700) {
            let (fixture, connections, _) = try await silentReaders(4)
            let start = ContinuousClock.now
            let fresh = try fixture.connect()
            try await fresh.send(fixture.request("GET /"))
            #expect(try await fresh.reply().status == 200)
            shortest = min(shortest, ContinuousClock.now - start)
            withExtendedLifetime(connections) {}
        }
        #expect(shortest < .milliseconds(700))
    }

    @Test func aNewConnectionIsNotClosedForAnother() async throws {
        let held = HeldExchanges()
        let fixture = try await ServerFixture(with: { $0.connections = 2 }) { exchange in
            if exchange.head.target == "/held" {
                held.exchanges.append(exchange)
            } else {
                exchange.reply(.ok, "Here.")
            }
        }
        let busy = try fixture.connect()
        try await busy.send(fixture.request("GET /held"))
        try await waitUntil("the request") { await held.exchanges.count == 1 }
        let silent = try fixture.connect()
        try await waitUntil("the silent one") { await fixture.server.connectionCount == 2 }
        let waiting = try fixture.connect()
        try await waiting.send(fixture.request("GET /"))
        try await silent.send(fixture.request("GET /"))
        #expect(try await silent.reply().status == 200)
        // It waited for the place of a connection that is idle now.
        #expect(try await waiting.reply().status == 200)
    }
}

/// Keeps exchanges from a reply.
@LoopActor private final class HeldExchanges {
    var exchanges: [Exchange] = []

    nonisolated init() {}
}

/// A long body that is made while it is sent.
private final class Zeros: RenderedBody {
    nonisolated static let length = 8 << 20
    var count: Int { Self.length }

    func bytes(in range: Range<Int>) -> [UInt8] { [UInt8](repeating: 0, count: range.count) }
}

/// The replies that have begun, and the body bytes of those that have ended.
@LoopActor private final class Ends {
    var begun = 0
    var bytes: [Int64] = []

    nonisolated init() {}
}

/// The loop's thread, which stands still until `end()`.
private final class Blocked: Sendable {
    private let gate = DispatchSemaphore(value: 0)
    private let standing: Task<Void, Never>

    init() async {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        standing = Task { @LoopActor [gate] in
            begin.finish()
            gate.wait()
        }
        for await _ in begun {}
    }

    func end() async {
        gate.signal()
        await standing.value
    }

    /// Also where the test has ended before.
    deinit { gate.signal() }
}
