public import Foundation

/// A running `tools/lab/object-store`: an S3 API with one bucket that checks every signature.
///
/// The program ends when the last reference is released, or with the test process.
public final class ObjectStore: Sendable {
    /// A request as the store received it.
    public struct Request: Codable, Sendable {
        /// The method, as in `PUT`.
        public let method: String
        /// The path with its query.
        public let path: String
        /// Status of the response; nil before the response, or if it was cut.
        public let status: Int?
        /// All header fields, names in lower case.
        public let fields: [String: String]
    }

    /// Changes the response to some requests.
    public struct Rule: Codable, Sendable {
        /// Method to match; nil for all.
        public var method: String?
        /// Glob that the path must match; nil for all.
        public var path: String?
        /// Number of matches to apply to.
        public var times = 1
        /// Status to answer with.
        public var status: Int?
        /// Bytes of the body after which the connection is cut.
        public var cut: Int?
        /// True to hold the response until `release()`.
        public var hold: Bool?

        /// Creates a rule without an effect.
        public init(_ method: String? = nil, _ path: String? = nil, times: Int = 1) {
            (self.method, self.path, self.times) = (method, path, times)
        }
    }

    /// Environment variables with valid keys for commands.
    public static let keys = [
        "AWS_ACCESS_KEY_ID": "access", "AWS_SECRET_ACCESS_KEY": "secret/key+1", "AWS_REGION": "eu-test-1",
    ]
    /// Name of the bucket.
    public static let bucket = "films"
    /// URL of the store.
    public let endpoint: String
    private let process: ChildProcess

    /// Starts an empty store.
    ///
    /// - Parameter token: session token that requests must have; nil for none.
    public init(token: String? = nil) async throws {
        process = try ChildProcess(
            Repository.path("tools/lab/object-store"),
            ["--bucket", Self.bucket] + (token.map { ["--token", $0] } ?? []))
        endpoint = try await process.line(startingWith: "object store is listening on ")
    }

    /// The public URL of an object.
    public func url(_ key: String) -> String { "\(endpoint)/\(Self.bucket)/\(key)" }

    /// All requests, in order.
    public func requests() async throws -> [Request] {
        try JSONDecoder().decode([Request].self, from: try await control("GET", "requests"))
    }

    /// Keys of all PUT requests, in order, including failed ones.
    public func puts() async throws -> [String] {
        try await requests().filter { $0.method == "PUT" }.map { String($0.path.dropFirst(Self.bucket.count + 2)) }
    }

    /// Empties the list of requests.
    public func clearRequests() async throws { try await control("DELETE", "requests") }

    /// Stored header fields of each object, by key.
    public func objects() async throws -> [String: [String: String]] {
        try JSONDecoder().decode([String: [String: String]].self, from: try await control("GET", "objects"))
    }

    /// Stores an object, as if another client did.
    public func add(_ key: String, _ bytes: Data) async throws { try await control("PUT", "objects/" + key, bytes) }

    /// Deletes an object, as if another client did.
    public func remove(_ key: String) async throws { try await control("DELETE", "objects/" + key) }

    /// Adds rules. The first matching rule that is not used up applies.
    public func add(_ rules: Rule...) async throws {
        try await control("POST", "rules", try JSONEncoder().encode(rules))
    }

    /// Releases all held responses, and stops holding.
    public func release() async throws { try await control("POST", "release") }

    @discardableResult
    private func control(_ method: String, _ path: String, _ body: Data? = nil) async throws -> Data {
        let answer = try await HTTPProbe.fetch("\(endpoint)/_store/\(path)", method: method, body: body)
        guard answer.status == 200 else { throw HTTPProbeError("\(method) \(path): \(answer.status)") }
        return answer.body
    }
}
