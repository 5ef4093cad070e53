public import Foundation

/// A running `tools/lab/object-store`: S3's API with one bucket, which checks every signature.
///
/// It ends with the last reference, or with the test process.
public final class ObjectStore: Sendable {
    /// A request as the store saw it.
    public struct Request: Codable, Sendable {
        /// As in `PUT`.
        public let method: String
        /// The path with its query.
        public let path: String
        /// The status of the reply; nil while there is none, or where it broke off.
        public let status: Int?
        /// All header fields, names in lower case.
        public let fields: [String: String]
    }

    /// How some requests are answered.
    public struct Rule: Codable, Sendable {
        /// Those with this method; nil for all.
        public var method: String?
        /// Those whose path this glob matches; nil for all.
        public var path: String?
        /// How many.
        public var times = 1
        /// With this status.
        public var status: Int?
        /// After so many bytes of the body the connection breaks.
        public var cut: Int?
        /// Not before `release()`.
        public var hold: Bool?

        /// A rule that changes nothing yet.
        public init(_ method: String? = nil, _ path: String? = nil, times: Int = 1) {
            (self.method, self.path, self.times) = (method, path, times)
        }
    }

    /// The environment by which commands find keys that are right.
    public static let keys = [
        "AWS_ACCESS_KEY_ID": "access", "AWS_SECRET_ACCESS_KEY": "secret/key+1", "AWS_REGION": "eu-test-1",
    ]
    /// The bucket.
    public static let bucket = "films"
    /// Where it listens.
    public let endpoint: String
    private let process: ChildProcess

    /// Starts one with nothing in it.
    ///
    /// - Parameter token: the session token that requests must have.
    public init(token: String? = nil) async throws {
        process = try ChildProcess(
            Repository.path("tools/lab/object-store"),
            ["--bucket", Self.bucket] + (token.map { ["--token", $0] } ?? []))
        endpoint = try await process.line(startingWith: "object store is listening on ")
    }

    /// The public URL of an object.
    public func url(_ key: String) -> String { "\(endpoint)/\(Self.bucket)/\(key)" }

    /// What was asked, in order.
    public func requests() async throws -> [Request] {
        try JSONDecoder().decode([Request].self, from: try await control("GET", "requests"))
    }

    /// The names that were put, in the order of the requests, whatever came of them.
    public func puts() async throws -> [String] {
        try await requests().filter { $0.method == "PUT" }.map { String($0.path.dropFirst(Self.bucket.count + 2)) }
    }

    /// Empties the list of requests.
    public func clearRequests() async throws { try await control("DELETE", "requests") }

    /// What is there: the fields that are kept, by name.
    public func objects() async throws -> [String: [String: String]] {
        try JSONDecoder().decode([String: [String: String]].self, from: try await control("GET", "objects"))
    }

    /// Puts an object there, as somebody else.
    public func add(_ key: String, _ bytes: Data) async throws { try await control("PUT", "objects/" + key, bytes) }

    /// Takes one away, as somebody else.
    public func remove(_ key: String) async throws { try await control("DELETE", "objects/" + key) }

    /// Adds rules; the first that fits a request and is not used up applies.
    public func add(_ rules: Rule...) async throws {
        try await control("POST", "rules", try JSONEncoder().encode(rules))
    }

    /// Lets what is held go on, and all that would be.
    public func release() async throws { try await control("POST", "release") }

    @discardableResult
    private func control(_ method: String, _ path: String, _ body: Data? = nil) async throws -> Data {
        let answer = try await HTTPProbe.fetch("\(endpoint)/_store/\(path)", method: method, body: body)
        guard answer.status == 200 else { throw HTTPProbeError("\(method) \(path): \(answer.status)") }
        return answer.body
    }
}
