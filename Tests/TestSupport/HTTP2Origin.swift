import Foundation

/// A running `tools/lab/http2`: an origin that speaks HTTP/2 and HTTP/1.1 over TLS, with faults on demand.
///
/// The program ends when the last reference is released, or with the test process.
package final class HTTP2Origin: Sendable {
    package struct Connection: Codable, Sendable {
        /// `h2` or `http/1.1`.
        package let protocolName: String
        package let requests: Int
        /// Most streams at once.
        package let most: Int

        private enum CodingKeys: String, CodingKey {
            case protocolName = "protocol"
            case requests, most
        }
    }

    package struct Request: Codable, Sendable {
        package let target: String
        package let range: String
        /// `h2` or `http/1.1`.
        package let protocolName: String
        /// The index of its connection.
        package let connection: Int

        private enum CodingKeys: String, CodingKey {
            case protocolName = "protocol"
            case target, range, connection
        }
    }

    package struct Statistics: Codable, Sendable {
        package let connections: [Connection]
        package let requests: [Request]
    }

    /// The path of the certificate that clients must trust.
    package let authority: String
    package let url: String
    private let process: ChildProcess
    private let version: String

    package convenience init(_ options: String...) async throws { try await self.init(options) }

    package init(_ options: [String]) async throws {
        version = options.contains("--only") ? "--http2" : "--http1.1"
        process = try ChildProcess(Repository.path("tools/lab/http2"), options)
        authority = try await process.line(startingWith: "authority ", within: .seconds(120))
        url = try await process.line(startingWith: "http2 is listening on ", within: .seconds(120))
    }

    /// The first bytes of each body.
    package static func body(_ size: Int) -> [UInt8] { (0..<size).map { UInt8($0 % 251) } }

    /// The bytes of a body of packets.
    package static func packets(_ size: Int) -> [UInt8] {
        (0..<size).map { $0 % 188 == 0 ? 0x47 : UInt8($0 % 188 - 1) }
    }

    /// The connections and requests so far, read through a connection of its own.
    package func statistics() async throws -> Statistics {
        try JSONDecoder().decode(Statistics.self, from: Data(try await control("/stats").utf8))
    }

    /// Sends the rest of all held bodies.
    package func release() async throws { _ = try await control("/release") }

    private func control(_ path: String) async throws -> String {
        let curl = try await ProcessRunner.run(
            "curl", ["-q", "-s", "-f", version, "--noproxy", "*", "--cacert", authority, url + path])
        guard curl.exit == .code(0) else { throw HTTPProbeError("GET \(path): curl ended with \(curl.exit)") }
        return curl.output
    }
}
