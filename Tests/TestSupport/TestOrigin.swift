import Foundation
import Glibc

/// A running `tools/origin`: an origin server on a free port that logs each request and fails by rule.
///
/// The program ends when the last reference is released, or with the test process.
public actor TestOrigin {
    /// A request as the origin received it.
    public struct Request: Codable, Sendable {
        /// Request number from 0, in the order in which heads arrived.
        public let order: Int
        /// Connection number, from 1.
        public let connection: Int
        /// The method, as in `GET`.
        public let method: String
        /// The path with its query, as sent.
        public let path: String
        /// Value of the Range field.
        public let range: String?
        /// All header fields, names in lower case.
        public let headers: [String: String]
        /// Status of the response; nil before the response.
        public let status: Int?
        /// Body bytes passed to the socket so far.
        public let bytes: Int
        /// `open`, `paused`, `done`, `cut` (by a rule) or `gone` (the client left).
        public let state: String
    }

    /// Current load of the origin.
    public struct Load: Codable, Sendable {
        /// Open connections, including this request's.
        public let connections: Int
        /// Connections since the start, including this request's.
        public let accepted: Int
        /// Responses that wait for a release.
        public let paused: Int
    }

    /// The served folder.
    public nonisolated let root: String
    /// The port on 127.0.0.1; ``restart()`` keeps it.
    public nonisolated let port: Int
    private var process: ChildProcess?

    /// Starts an origin and waits until it listens.
    ///
    /// - Parameter root: the folder to serve, by default the fixtures.
    public init(root: String = Repository.path("fixtures/media")) async throws {
        self.root = root
        let process = try TestOrigin.start(root: root, port: 0)
        let url = try await process.line(startingWith: TestOrigin.ready)
        guard let port = url.split(separator: ":").last.flatMap({ Int($0) }) else { throw TimedOut("a port in \(url)") }
        self.port = port
        self.process = process
    }

    /// The URL of a path such as `/ts/master.m3u8`.
    public nonisolated func url(_ path: String) -> String {
        "http://127.0.0.1:\(port)\(path)"
    }

    /// The URL of a fixture's multivariant playlist.
    public nonisolated func master(_ fixture: String) -> String {
        url("/\(fixture)/master.m3u8")
    }

    /// Kills the origin: connections are reset or closed, and new ones are refused.
    public func stop() async throws {
        process?.send(SIGKILL)
        _ = try await process?.end()
        process = nil
    }

    /// Restarts the origin on the same port, without rules and with an empty log.
    public func restart() async throws {
        try await stop()
        let process = try TestOrigin.start(root: root, port: port)
        _ = try await process.line(startingWith: TestOrigin.ready)
        self.process = process
    }

    /// Appends rules. The first matching rule that is not used up applies.
    public nonisolated func add(_ rules: OriginRule...) async throws {
        try await control("POST", "rules", body: JSONEncoder().encode(rules))
    }

    /// Removes all rules.
    public nonisolated func clearRules() async throws {
        try await control("DELETE", "rules")
    }

    /// Releases waiting responses whose path matches the glob; returns their number.
    @discardableResult
    public nonisolated func release(_ path: String = "*") async throws -> Int {
        let answer = try await control("POST", "release", body: JSONEncoder().encode(["path": path]))
        return try JSONDecoder().decode(Int.self, from: answer)
    }

    /// The requests since the start or the last ``clearRequests()``, in order.
    public nonisolated func requests() async throws -> [Request] {
        try JSONDecoder().decode([Request].self, from: await control("GET", "requests"))
    }

    /// The requests for one path (with its query).
    public nonisolated func requests(for path: String) async throws -> [Request] {
        try await requests().filter { $0.path == path }
    }

    /// Clears the request log.
    public nonisolated func clearRequests() async throws {
        try await control("DELETE", "requests")
    }

    /// Reads the current load.
    public nonisolated func load() async throws -> Load {
        try JSONDecoder().decode(Load.self, from: await control("GET", "state"))
    }

    /// Advances the playlists under `/_live/NAME` or `/_event/NAME` by some segments.
    public nonisolated func advance(_ name: String, by count: Int = 1) async throws {
        struct Step: Encodable {
            let name: String
            let by: Int
        }
        try await control("POST", "live/advance", body: JSONEncoder().encode(Step(name: name, by: count)))
    }

    /// Ends the playlists under `/_live/NAME` or `/_event/NAME` with EXT-X-ENDLIST.
    public nonisolated func end(_ name: String) async throws {
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
