import Foundation
import Glibc

/// A running `tools/origin`: an origin server on a free port that logs each request and fails by rule.
///
/// The program ends when the last reference is released, or with the test process.
package actor TestOrigin {
    /// A request as the origin received it.
    package struct Request: Codable, Sendable {
        /// Request number from 0, in the order in which heads arrived.
        package let order: Int
        /// Connection number, from 1.
        package let connection: Int
        package let method: String
        package let path: String
        package let range: String?
        /// All header fields, names in lower case.
        package let headers: [String: String]
        package let status: Int?
        package let bytes: Int
        /// `open`, `paused`, `done`, `cut` (by a rule) or `gone` (the client left).
        package let state: String

        /// True for the request by which Weir compares a stored segment with the origin's: exactly its first 4 KiB, or an
        /// answer without a body. The piece is not fetched again.
        package var isComparison: Bool {
            guard status != 304 else { return bytes == 0 }
            let ends = range?.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) } ?? []
            return status == 206 && ends.count == 2 && ends[1] - ends[0] + 1 == 4096 && bytes <= 4096
        }
    }

    package struct Load: Codable, Sendable {
        /// Open connections, including this request's.
        package let connections: Int
        /// Connections since the start, including this request's.
        package let accepted: Int
        package let paused: Int
    }

    package nonisolated let root: String
    /// The port on 127.0.0.1; ``restart()`` keeps it.
    package nonisolated let port: Int
    private var process: ChildProcess?

    /// Starts an origin and waits until it listens.
    ///
    /// - Parameter root: the folder to serve, by default the fixtures.
    package init(root: String = Repository.path("fixtures/media")) async throws {
        self.root = root
        let process = try TestOrigin.start(root: root, port: 0)
        let url = try await process.line(startingWith: TestOrigin.ready)
        guard let port = url.split(separator: ":").last.flatMap({ Int($0) }) else { throw TimedOut("a port in \(url)") }
        self.port = port
        self.process = process
    }

    /// The URL of a path such as `/ts/master.m3u8`.
    package nonisolated func url(_ path: String) -> String {
        "http://127.0.0.1:\(port)\(path)"
    }

    package nonisolated func master(_ fixture: String) -> String {
        url("/\(fixture)/master.m3u8")
    }

    /// Kills the origin: connections are reset or closed, and new ones are refused.
    package func stop() async throws {
        process?.send(SIGKILL)
        _ = try await process?.end()
        process = nil
    }

    /// Restarts the origin on the same port, without rules and with an empty log.
    package func restart() async throws {
        try await stop()
        let process = try TestOrigin.start(root: root, port: port)
        _ = try await process.line(startingWith: TestOrigin.ready)
        self.process = process
    }

    /// Appends rules. The first matching rule that is not used up applies.
    package nonisolated func add(_ rules: OriginRule...) async throws {
        try await control("POST", "rules", body: JSONEncoder().encode(rules))
    }

    package nonisolated func clearRules() async throws {
        try await control("DELETE", "rules")
    }

    /// Releases waiting responses whose path matches the glob; returns their number.
    @discardableResult
    package nonisolated func release(_ path: String = "*") async throws -> Int {
        let answer = try await control("POST", "release", body: JSONEncoder().encode(["path": path]))
        return try JSONDecoder().decode(Int.self, from: answer)
    }

    /// The requests since the start or the last ``clearRequests()``, in order.
    package nonisolated func requests() async throws -> [Request] {
        try JSONDecoder().decode([Request].self, from: await control("GET", "requests"))
    }

    package nonisolated func requests(for path: String) async throws -> [Request] {
        try await requests().filter { $0.path == path }
    }

    package nonisolated func clearRequests() async throws {
        try await control("DELETE", "requests")
    }

    package nonisolated func load() async throws -> Load {
        try JSONDecoder().decode(Load.self, from: await control("GET", "state"))
    }

    /// Advances the playlists under `/_live/NAME` or `/_event/NAME` by some segments.
    package nonisolated func advance(_ name: String, by count: Int = 1) async throws {
        struct Step: Encodable {
            let name: String
            let by: Int
        }
        try await control("POST", "live/advance", body: JSONEncoder().encode(Step(name: name, by: count)))
    }

    /// Ends the playlists under `/_live/NAME` or `/_event/NAME` with EXT-X-ENDLIST.
    package nonisolated func end(_ name: String) async throws {
        try await control("POST", "live/end", body: JSONEncoder().encode(["name": name]))
    }

    private static let ready = "origin is listening on "

    private static func start(root: String, port: Int) throws -> ChildProcess {
        let program = Repository.path("tools/origin")
        return try ChildProcess(program, ["--root", root, "--port", String(port), "--stop-with-stdin"])
    }

    @discardableResult
    private nonisolated func control(_ method: String, _ path: String, body: Data? = nil) async throws -> Data {
        let answer = try await HTTPProbe.fetch(url("/_origin/" + path), method: method, body: body)
        guard answer.status == 200 else { throw HTTPProbeError("\(method) \(path): \(answer.status) \(answer.text)") }
        return answer.body
    }
}

/// A running `tools/lab/live`: a low-latency, a sliding-window and an event presentation, broadcast in real time.
///
/// The program ends when the last reference is released, or with the test process.
package final class LiveOrigin: Sendable {
    /// A request as the origin received it.
    package struct Request: Codable, Sendable {
        package let path: String
        package let status: Int?
        /// Seconds from the start of the broadcast to the request.
        package let at: Double

        package var resource: String { String(path.prefix { $0 != "?" }) }
    }

    private let process: ChildProcess
    private let base: String

    /// Segments the media and starts the broadcast, which ends after `seconds` with EXT-X-ENDLIST.
    package init(seconds: Int) async throws {
        process = try ChildProcess(
            Repository.path("tools/lab/live"), ["--seconds", String(seconds), "--stop-with-stdin"])
        base = try await process.line(startingWith: "live origin is listening on ", within: .seconds(90))
    }

    /// The URL of a presentation (`ll`, `window` or `event`) for a player; see `requests(for:)`.
    package func master(_ kind: String, for player: String) -> String { "\(base)/for/\(player)/\(kind)/master.m3u8" }

    /// The requests for a player's URLs so far, in order of arrival.
    package func requests(for player: String) async throws -> [Request] {
        let answer = try await HTTPProbe.fetch(base + "/_origin/requests")
        return try JSONDecoder().decode([Request].self, from: answer.body)
            .filter { $0.path.hasPrefix("/for/\(player)/") }
    }

    /// Closes all connections and refuses new ones for some seconds. The broadcast continues.
    package func stayAway(seconds: Double) async throws {
        let body = try JSONEncoder().encode(["seconds": seconds])
        _ = try await HTTPProbe.fetch(base + "/_origin/away", method: "POST", body: body)
    }
}
