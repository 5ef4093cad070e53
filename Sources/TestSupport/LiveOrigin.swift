import Foundation
import Glibc

/// A running `tools/lab/live`: low latency, a sliding window and a growing event, broadcast in real time from its start on.
///
/// It ends with the last reference, or with the test process.
public final class LiveOrigin: Sendable {
    /// A request as the origin saw it.
    public struct Request: Codable, Sendable {
        /// The path with its query, as it was sent.
        public let path: String
        /// The status of the reply; nil before there is one.
        public let status: Int?
        /// Seconds from the beginning of the broadcast to the request.
        public let at: Double

        /// The path without its query.
        public var resource: String { String(path.prefix { $0 != "?" }) }
    }

    private let process: ChildProcess
    private let base: String

    /// Cuts the media and begins the broadcast, which ends after so many seconds with EXT-X-ENDLIST.
    public init(seconds: Int) async throws {
        process = try ChildProcess(
            Repository.path("tools/lab/live"), ["--seconds", String(seconds), "--stop-with-stdin"])
        base = try await process.line(startingWith: "live origin is listening on ", within: .seconds(90))
    }

    /// The URL of a presentation (`ll`, `window` or `event`) whose requests `requests(for:)` finds again.
    public func master(_ kind: String, for player: String) -> String { "\(base)/for/\(player)/\(kind)/master.m3u8" }

    /// The requests for a player's URLs so far, in the order in which they came.
    public func requests(for player: String) async throws -> [Request] {
        let answer = try await HTTPProbe.fetch(base + "/_origin/requests")
        return try JSONDecoder().decode([Request].self, from: answer.body)
            .filter { $0.path.hasPrefix("/for/\(player)/") }
    }

    /// Breaks all connections and accepts none for so long, while the broadcast goes on.
    public func stayAway(seconds: Double) async throws {
        let body = try JSONEncoder().encode(["seconds": seconds])
        _ = try await HTTPProbe.fetch(base + "/_origin/away", method: "POST", body: body)
    }
}
