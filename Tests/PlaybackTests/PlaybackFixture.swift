import AccessLog
import EventLoop
import Foundation
import HTTPMessage
import Library
import Retention
import Store
import Substitution
import TestSupport
import Testing

@testable import HTTPServer
@testable import Origin
@testable import Playback

/// A playback server on its own port, with an origin that fails by rules.
@LoopActor final class PlaybackFixture {
    let folder: TemporaryFolder
    let origin: TestOrigin
    let client: OriginClient
    let library: Library
    let substitutions = Substitutions()
    let retention: Retention
    let playback: Playback
    private let logs: TemporaryFolder
    let server: HTTPServer
    let connections: ConnectionPool
    let port: Int

    /// - Parameters:
    ///   - absence: the duration of an origin's presumed absence, after which it is probed.
    ///   - clock: the clock of sessions; nil for the system's clock.
    ///   - root: the folder that the origin serves; nil for the fixtures.
    ///   - owners: the users who count as the daemon's owner.
    ///   - seen: called with each request, before it is answered.
    init(
        playerTimeout: Duration = .seconds(8), reserve: Int64 = 0, absence: Duration? = nil,
        allowedOrigins: [String] = [],
        clock: ManualClock? = nil, root: String? = nil, owners: OwnerRule = OwnerRule(),
        seen: @escaping @LoopActor (Exchange) -> Void = { _ in }
    ) async throws {
        folder = try TemporaryFolder()
        origin = try await TestOrigin(root: root ?? Repository.path("fixtures/media"))
        var configuration = OriginClient.Configuration()
        configuration.giveUpRule.retries.attempts = 2
        configuration.giveUpRule.retries.firstPause = .milliseconds(20)
        configuration.giveUpRule.retriesWhilePlayerWaits = configuration.giveUpRule.retries
        let pause = absence ?? .milliseconds(1)
        configuration.giveUpRule.absencePauses = pause...pause
        if absence == nil { configuration.giveUpRule.absenceInterest = .zero }
        client = OriginClient(configuration: configuration)
        let now = { clock?.instant ?? .now }
        library = Library(
            store: try Store(path: folder.path, reserve: reserve), client: client, partialPlayback: substitutions,
            now: now,
            date: clock.map { clock in { Int64(clock.date) } })
        retention = Retention(of: library)
        logs = try TemporaryFolder()
        var sessions = clock.map { clock in Sessions.Configuration { clock.date } } ?? Sessions.Configuration()
        (sessions.folder, sessions.software) = (logs.path("log"), "Weir/test")
        let playback = Playback(
            library: library, substitutions: substitutions, retention: retention, playerTimeout: playerTimeout,
            logs: sessions)
        self.playback = playback
        var limits = HTTPServer.Configuration()
        limits.allowedOrigins = allowedOrigins
        limits.owners = owners
        connections = ConnectionPool(limit: limits.connections)
        server = HTTPServer(configuration: limits, pool: connections) { exchange in
            seen(exchange)
            if !playback.handle(exchange) { exchange.reply(.notFound, "Not a player's.") }
        }
        port = Int(try server.listen(host: "127.0.0.1", port: 0))
    }

    // A client that probes an origin which has ended would reach the origin of a later test at the same port.
    isolated deinit { client.prober = nil }

    /// Lets time pass for the server's deadlines.
    func pass(_ time: Duration) {
        for _ in 0..<Int((time / HTTPServer.Configuration().tick).rounded(.up)) { server.tick() }
    }

    /// The connections whose replies wait for their clients to read.
    var heldUp: [Connection] { connections.connections.filter { $0.holding.use == .sending } }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    func get(_ path: String, _ fields: [String: String] = [:], method: String = "GET") async throws -> HTTPAnswer {
        try await HTTPProbe.fetch(url(path), method: method, fields: fields)
    }

    func asset(_ name: String) throws -> Asset { try #require(library.asset(named: name)) }

    /// The path of an origin's URL after our address.
    func typed(_ path: String) -> String { "/" + origin.url(path) }

    /// Loads the entry playlist and returns its paths in order.
    func entry(_ path: String) async throws -> [String] {
        let answer = try await get(path)
        guard answer.status == 200 else { throw TimedOut("an entry at \(path): \(answer.status) \(answer.text)") }
        return Self.paths(in: answer.text)
    }

    /// The URIs of a playlist, in lines and in attributes.
    static func paths(in text: String) -> [String] {
        text.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("#") else { return String(line) }
            return line.range(of: "URI=\"").map { String(line[$0.upperBound...].prefix { $0 != "\"" }) }
        }
    }

    /// The paths in the playlist of the entry's rendition `index`.
    func media(_ entry: String, _ index: Int = 0) async throws -> [String] {
        let path = try await self.entry(entry)[index]
        return Self.paths(in: try await get(path).text)
    }

    /// The requested paths, without playlists.
    func mediaRequests() async throws -> [String] {
        try await origin.requests().filter { !$0.isComparison }.map(\.path).filter { !$0.contains(".m3u8") }
    }

    /// The written lines of a log.
    func logLines(_ name: String) throws -> [String] {
        let folder = logs.path("log")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix(name) }.sorted()
        return try files.flatMap { file in
            try String(contentsOfFile: folder + "/" + file, encoding: .utf8).split(separator: "\n").map(String.init)
        }
    }

    func clearLogs() throws { try FileManager.default.removeItem(atPath: logs.path("log")) }

    /// Opens a connection and sends a request on it.
    func ask(_ path: String, _ fields: String...) async throws -> RawConnection {
        let connection = try RawConnection(port: port)
        let lines = ["GET \(path) HTTP/1.1", "Host: 127.0.0.1:\(port)"] + fields
        try await connection.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
        return connection
    }
}
