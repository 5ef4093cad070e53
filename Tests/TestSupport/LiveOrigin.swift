import Foundation
import Glibc

/// A running `tools/lab/live`: a low-latency, a sliding-window and an event presentation, broadcast in real time.
///
/// The program ends when the last reference is released, or with the test process.
public final class LiveOrigin: Sendable {
    /// A request as the origin received it.
    public struct Request: Codable, Sendable {
        /// The path with its query, as sent.
        public let path: String
        /// Status of the response; nil before the response.
        public let status: Int?
        /// Seconds from the start of the broadcast to the request.
        public let at: Double

        /// The path without its query.
        public var resource: String { String(path.prefix { $0 != "?" }) }
    }

    private let process: ChildProcess
    private let base: String

    /// Segments the media and starts the broadcast, which ends after `seconds` with EXT-X-ENDLIST.
    public init(seconds: Int) async throws {
        process = try ChildProcess(
            Repository.path("tools/lab/live"), ["--seconds", String(seconds), "--stop-with-stdin"])
        base = try await process.line(startingWith: "live origin is listening on ", within: .seconds(90))
    }

    /// The URL of a presentation (`ll`, `window` or `event`) for a player; see `requests(for:)`.
    public func master(_ kind: String, for player: String) -> String { "\(base)/for/\(player)/\(kind)/master.m3u8" }

    /// The requests for a player's URLs so far, in order of arrival.
    public func requests(for player: String) async throws -> [Request] {
        let answer = try await HTTPProbe.fetch(base + "/_origin/requests")
        return try JSONDecoder().decode([Request].self, from: answer.body)
            .filter { $0.path.hasPrefix("/for/\(player)/") }
    }

    /// Closes all connections and refuses new ones for some seconds. The broadcast continues.
    public func stayAway(seconds: Double) async throws {
        let body = try JSONEncoder().encode(["seconds": seconds])
        _ = try await HTTPProbe.fetch(base + "/_origin/away", method: "POST", body: body)
    }
}
