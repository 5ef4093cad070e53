package import Foundation

/// A running `tools/lab/object-store`: an S3 API with one bucket that checks every signature.
///
/// The program ends when the last reference is released, or with the test process.
package final class ObjectStore: Sendable {
    /// A request as the store received it.
    package struct Request: Codable, Sendable {
        package let method: String
        package let path: String
        /// Status of the response; nil before the response, or if it was cut.
        package let status: Int?
        /// All header fields, names in lower case.
        package let fields: [String: String]
    }

    /// Changes the response to some requests.
    package struct Rule: Codable, Sendable {
        /// Method to match; nil for all.
        package var method: String?
        /// Glob that the path must match; nil for all.
        package var path: String?
        package var times = 1
        package var status: Int?
        /// Bytes of the body after which the connection is cut.
        package var cut: Int?
        /// True to hold the response until `release()`.
        package var hold: Bool?

        package init(_ method: String? = nil, _ path: String? = nil, times: Int = 1) {
            self.method = method
            self.path = path
            self.times = times
        }
    }

    /// Environment variables with valid keys for commands.
    package static let keys = [
        "AWS_ACCESS_KEY_ID": "access", "AWS_SECRET_ACCESS_KEY": "secret/key+1", "AWS_REGION": "eu-test-1",
    ]
    package static let bucket = "films"
    package let endpoint: String
    private let process: ChildProcess

    package init(token: String? = nil) async throws {
        process = try ChildProcess(
            Repository.path("tools/lab/object-store"),
            ["--bucket", Self.bucket] + (token.map { ["--token", $0] } ?? []))
        endpoint = try await process.line(startingWith: "object store is listening on ")
    }

    package func url(_ key: String) -> String { "\(endpoint)/\(Self.bucket)/\(key)" }

    package func requests() async throws -> [Request] {
        try JSONDecoder().decode([Request].self, from: try await control("GET", "requests"))
    }

    package func puts() async throws -> [String] {
        try await requests().filter { $0.method == "PUT" }.map { String($0.path.dropFirst(Self.bucket.count + 2)) }
    }

    package func clearRequests() async throws { try await control("DELETE", "requests") }

    /// Stored header fields of each object, by key.
    package func objects() async throws -> [String: [String: String]] {
        try JSONDecoder().decode([String: [String: String]].self, from: try await control("GET", "objects"))
    }

    /// Stores an object, as if another client did.
    package func add(_ key: String, _ bytes: Data) async throws { try await control("PUT", "objects/" + key, bytes) }

    /// Deletes an object, as if another client did.
    package func remove(_ key: String) async throws { try await control("DELETE", "objects/" + key) }

    /// Adds rules. The first matching rule that is not used up applies.
    package func add(_ rules: Rule...) async throws {
        try await control("POST", "rules", try JSONEncoder().encode(rules))
    }

    /// Releases all held responses, and stops holding.
    package func release() async throws { try await control("POST", "release") }

    @discardableResult
    private func control(_ method: String, _ path: String, _ body: Data? = nil) async throws -> Data {
        let answer = try await HTTPProbe.fetch("\(endpoint)/_store/\(path)", method: method, body: body)
        guard answer.status == 200 else { throw HTTPProbeError("\(method) \(path): \(answer.status)") }
        return answer.body
    }
}
