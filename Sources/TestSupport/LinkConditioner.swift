import Foundation
import Glibc

/// A running `tools/link`: a conditioned link between whoever connects to it and one upstream.
///
/// It ends with the last reference, or with the test process.
public final class LinkConditioner: Sendable {
    /// What it has carried.
    public struct Traffic: Codable, Sendable {
        /// The preset that is in force; nil for own figures.
        public let preset: String?
        /// Connections that are open.
        public let connections: Int
        /// Connections since the start.
        public let accepted: Int
        /// Bytes that arrived at the clients.
        public let bytesDown: Int
        /// Bytes that arrived at the upstream.
        public let bytesUp: Int
    }

    /// What arrived in one second.
    public struct Second: Codable, Sendable {
        /// Seconds since the start, whole.
        public let at: Int
        /// Bytes that arrived at the clients.
        public let down: Int
        /// Bytes that arrived at the upstream.
        public let up: Int
    }

    /// `http://127.0.0.1:PORT`, in the place of the upstream's.
    public let address: String
    /// `http://127.0.0.1:PORT/_link`, for `weir link --control`.
    public let control: String
    /// The state directory in which it notes where it is controlled.
    public let state: String
    private let folder: TemporaryFolder
    private let process: ChildProcess

    /// Puts a link in front of an upstream (`http://127.0.0.1:PORT`).
    ///
    /// - Parameters:
    ///   - preset: the name of one, such as `3G`.
    ///   - options: further options of `tools/link`, such as `["--down", "2M"]`.
    ///   - state: a state directory for `weir link` to find it by; nil for one of its own.
    public init(
        to upstream: String, preset: String = "off", options: [String] = [], state: String? = nil
    ) async throws {
        folder = try TemporaryFolder()
        self.state = state ?? folder.path("state")
        let own = ["--preset", preset, "--state", self.state, "--log", folder.path("log"), "--stop-with-stdin"]
        process = try ChildProcess(Repository.path("tools/link"), own + options + [upstream])
        address = try await process.line(startingWith: "link is listening on ")
        control = try await process.line(startingWith: "link is controlled at ")
    }

    /// The URL, through the link, of a URL of the upstream's or of a path there.
    public func url(_ other: String) -> String {
        guard other.hasPrefix("http://") else { return address + other }
        return address + other.dropFirst("http://".count).drop { $0 != "/" }
    }

    /// Goes over to a preset, for open connections as well.
    public func set(_ preset: String) async throws {
        try await change(["preset": preset])
    }

    /// Goes over to other rates, in bits a second; the delays stay.
    public func set(down: Double, up: Double) async throws {
        try await change(["down": down, "up": up])
    }

    /// What it has carried up to now.
    public func traffic() async throws -> Traffic {
        try JSONDecoder().decode(Traffic.self, from: try await HTTPProbe.fetch(control).body)
    }

    /// Stops it in good order, and gives the seconds in which anything arrived.
    public func stop() async throws -> [Second] {
        process.send(SIGTERM)
        let exit = try await process.end()
        guard exit == .code(0) else { throw HTTPProbeError("tools/link ended by \(exit): \(process.standardError)") }
        let log = try String(contentsOfFile: folder.path("log"), encoding: .utf8)
        // The other lines tell of changes of the link.
        return log.split(separator: "\n").compactMap { try? JSONDecoder().decode(Second.self, from: Data($0.utf8)) }
    }

    private func change(_ fields: some Encodable) async throws {
        let body = try JSONEncoder().encode(fields)
        let answer = try await HTTPProbe.fetch(
            control, method: "POST", fields: ["Content-Type": "application/json"], body: body)
        guard answer.status == 200 else { throw HTTPProbeError("POST \(control): \(answer.status) \(answer.text)") }
    }
}
