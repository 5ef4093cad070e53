import EventLoop
import Fetching
import Foundation
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import HTTPServer

/// Requests of players to the server of a house.
extension TestHouse {
    func get(_ path: String, _ fields: [String: String] = [:], method: String = "GET") async throws -> HTTPAnswer {
        try await HTTPProbe.fetch(players.url(path), method: method, fields: fields)
    }

    func asset(_ name: String) throws -> Asset { try #require(library.asset(named: name)) }

    /// The path of an origin's URL after our address.
    func typed(_ path: String) -> String { "/" + origin.url(path) }

    /// Loads the entry playlist and returns its paths in order.
    func entry(_ path: String) async throws -> [String] {
        let answer = try await get(path)
        guard answer.status == 200 else { throw TimedOut("an entry at \(path): \(answer.status) \(answer.text)") }
        return PlaylistText.paths(in: answer.text, at: path)
    }

    /// Stops the origin once what it sent is stored: a player has the last byte a moment before the store has it.
    func stopOrigin() async throws {
        try await waitUntil("the end of all fetches") {
            !library.assets.contains { library.loader.isFetching(in: $0.folders) }
        }
        try await origin.stop()
    }

    /// The paths in the playlist of the entry's rendition `index`.
    func media(_ entry: String, _ index: Int = 0) async throws -> [String] {
        try await paths(at: try await self.entry(entry)[index])
    }

    /// The paths in the playlist at a path.
    func paths(at path: String, _ fields: [String: String] = [:]) async throws -> [String] {
        PlaylistText.paths(in: try await get(path, fields).text, at: path)
    }

    /// The written lines of a log.
    func logLines(_ name: String) throws -> [String] {
        let folder = players.logs.path("log")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix(name) }.sorted()
        return try files.flatMap { file in
            try String(contentsOfFile: folder + "/" + file, encoding: .utf8).split(separator: "\n").map(String.init)
        }
    }

    func clearLogs() throws { try FileManager.default.removeItem(atPath: players.logs.path("log")) }

    /// Opens a connection and sends a request on it.
    func ask(_ path: String, _ fields: String...) async throws -> RawConnection {
        let connection = try RawConnection(port: players.port)
        let lines = ["GET \(path) HTTP/1.1", "Host: 127.0.0.1:\(players.port)"] + fields
        try await connection.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
        return connection
    }

    /// Lets time pass for the server's deadlines.
    func pass(_ time: Duration) {
        for _ in 0..<Int((time / WebServer.Configuration().tick).rounded(.up)) {
            players.server.tick()
        }
    }

    /// The connections whose replies wait for their clients to read.
    var heldUp: [Connection] { players.connections.connections.filter { $0.holding.use == .sending } }
}
