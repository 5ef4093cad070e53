import Foundation
import Glibc

/// A running `tools/link`: a network link with limited rate, delay and loss in front of one upstream.
///
/// The program ends when the last reference is released, or with the test process.
package final class LinkConditioner: Sendable {
    package struct Traffic: Codable, Sendable {
        /// The active preset; nil with custom rates.
        package let preset: String?
        package let connections: Int
        package let accepted: Int
        /// Bytes that arrived at the clients.
        package let bytesDown: Int
        package let bytesUp: Int
    }

    /// Bytes that arrived in one second.
    package struct Second: Codable, Sendable {
        /// Whole seconds since the start.
        package let at: Int
        /// Bytes that arrived at the clients.
        package let down: Int
        package let up: Int
    }

    /// `http://127.0.0.1:PORT`, to use instead of the upstream's address.
    package let address: String
    /// `http://127.0.0.1:PORT/_link`, for `weir link --control`.
    package let control: String
    /// The state directory where the link records its control URL.
    package let state: String
    package var pid: Int32 { process.pid }
    private let folder: TemporaryFolder
    private let process: ChildProcess

    /// Starts a link in front of an upstream (`http://127.0.0.1:PORT`).
    ///
    /// - Parameters:
    ///   - preset: preset name, such as `3G`.
    ///   - options: more options of `tools/link`, such as `["--down", "2M"]`.
    ///   - state: state directory in which `weir link` finds the link; nil for a temporary one.
    package init(
        to upstream: String, preset: String = "off", options: [String] = [], state: String? = nil
    ) async throws {
        folder = try TemporaryFolder()
        self.state = state ?? folder.path("state")
        let own = ["--preset", preset, "--state", self.state, "--log", folder.path("log"), "--stop-with-stdin"]
        process = try ChildProcess(Repository.path("tools/link"), own + options + [upstream])
        address = try await process.line(startingWith: "link is listening on ")
        control = try await process.line(startingWith: "link is controlled at ")
    }

    /// Translates an upstream URL or path into a URL through the link.
    package func url(_ other: String) -> String {
        guard other.hasPrefix("http://") else { return address + other }
        return address + other.dropFirst("http://".count).drop { $0 != "/" }
    }

    /// Switches to a preset, also for open connections.
    package func set(_ preset: String) async throws {
        try await change(["preset": preset])
    }

    /// Changes the rates, in bits per second; delays stay.
    package func set(down: Double, up: Double) async throws {
        try await change(["down": down, "up": up])
    }

    package func traffic() async throws -> Traffic {
        try JSONDecoder().decode(Traffic.self, from: try await HTTPProbe.fetch(control).body)
    }

    /// Stops the link gracefully and returns the seconds with traffic.
    package func stop() async throws -> [Second] {
        process.send(SIGTERM)
        let exit = try await process.end()
        guard exit == .code(0) else { throw HTTPProbeError("tools/link ended by \(exit): \(process.standardError)") }
        let log = try String(contentsOfFile: folder.path("log"), encoding: .utf8)
        // Other lines record changes of the link.
        return log.split(separator: "\n").compactMap { try? JSONDecoder().decode(Second.self, from: Data($0.utf8)) }
    }

    private func change(_ fields: some Encodable) async throws {
        let body = try JSONEncoder().encode(fields)
        let answer = try await HTTPProbe.fetch(
            control, method: "POST", fields: ["Content-Type": "application/json"], body: body)
        guard answer.status == 200 else { throw HTTPProbeError("POST \(control): \(answer.status) \(answer.text)") }
    }
}
