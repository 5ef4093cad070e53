import Foundation
import Glibc

/// An origin on a free port of this process that logs each request and fails by rule, as `tools/origin` does.
///
/// It ends when the last reference is released.
package final class TestOrigin: Sendable {
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
        package internal(set) var status: Int?
        package internal(set) var bytes: Int
        /// `open`, `paused`, `done`, `cut` (by a rule) or `gone` (the client left).
        package internal(set) var state: String

        init(order: Int, connection: Int, head: OriginRequestHead) {
            self.order = order
            self.connection = connection
            method = head.method
            path = head.target
            range = head.headers["range"]
            headers = head.headers
            status = nil
            bytes = 0
            state = "open"
        }

        /// True for the request by which Weir compares a stored piece with the origin's: its first 4 KiB, or all of a smaller one, or
        /// an answer without a body. The piece is not fetched again.
        package var isComparison: Bool {
            guard status != 304 else { return bytes == 0 }
            let ends = range?.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) } ?? []
            guard status ?? 206 == 206, ends.count == 2 else { return false }
            // A small resource that is itself a range of a file looks alike.
            let count = ends[1] - ends[0] + 1
            return count == 4096 || ends[0] == 0 && count < 4096 && !path.contains("/all.")
        }
    }

    package struct Load: Codable, Sendable {
        /// Open connections.
        package let connections: Int
        /// Connections since the start.
        package let accepted: Int
        /// Responses that wait for ``TestOrigin/release(_:)``.
        package let paused: Int
    }

    package let root: String
    /// The port on 127.0.0.1; ``restart()`` keeps it.
    package let port: Int
    private let server: OriginServer

    /// Starts an origin.
    ///
    /// - Parameter root: the folder to serve, by default the fixtures.
    package init(root: String = Repository.path("fixtures/media")) async throws {
        self.root = root
        server = OriginServer(root: root)
        port = try server.start(port: 0)
    }

    deinit {
        server.stop()
    }

    /// The URL of a path such as `/ts/master.m3u8`.
    package func url(_ path: String) -> String {
        "http://127.0.0.1:\(port)\(path)"
    }

    package func master(_ fixture: String) -> String {
        url("/\(fixture)/master.m3u8")
    }

    /// Ends the origin: connections are reset or closed, and new ones are refused.
    package func stop() async throws {
        server.stop()
        try await waitUntil("the end of the origin's connections") { server.isQuiet }
    }

    /// Restarts the origin on the same port, without rules and with an empty log.
    package func restart() async throws {
        try await stop()
        _ = try server.start(port: port)
    }

    /// Appends rules. The first matching rule that is not used up applies.
    package func add(_ rules: OriginRule...) async throws {
        server.add(rules)
    }

    package func clearRules() async throws {
        server.replaceRules(by: [])
    }

    /// Clears the rules and appends others in one step: a client that asks all the time never meets an origin without rules.
    package func replaceRules(with rules: OriginRule...) async throws {
        server.replaceRules(by: rules)
    }

    /// Releases waiting responses whose path matches the glob; returns their number.
    @discardableResult
    package func release(_ path: String = "*") async throws -> Int {
        server.release(path)
    }

    /// The requests since the start or the last ``clearRequests()``, in order.
    package func requests() async throws -> [Request] {
        server.requests
    }

    package func requests(for path: String) async throws -> [Request] {
        server.requests.filter { $0.path == path }
    }

    package func clearRequests() async throws {
        server.clearRequests()
    }

    package func load() async throws -> Load {
        server.load
    }

    /// Advances the playlists under `/_live/NAME` or `/_event/NAME` by some segments.
    package func advance(_ name: String, by count: Int = 1) async throws {
        server.changePlaylists { $0.advance(name, by: count) }
    }

    /// Declares another duration of all live and event segments. Clients reload a live playlist once in that time, so that tests
    /// that decode nothing need not wait for the true two seconds.
    package func declareLiveSegments(seconds: Int) async throws {
        server.changePlaylists { $0.seconds = seconds }
    }

    /// Ends the playlists under `/_live/NAME` or `/_event/NAME` with EXT-X-ENDLIST.
    package func end(_ name: String) async throws {
        server.changePlaylists { $0.end(name) }
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
