internal import FoundationEssentials

/// The shapes of the control API, version 1: the JSON of requests and responses of `/api/v1/…`.
///
/// The shapes are the contract with scripts: a key keeps its name and its unit. New keys may be added, and a reader
/// ignores keys that it does not know. Times are seconds, sizes are bytes, bandwidths are bits per second and rates are
/// bytes per second. A key without a known value is left out.
public enum API {
    /// The path that all routes begin with.
    public static let root = "/api/v1"

    /// The JSON text of a shape: keys sorted, on one line, slashes as they are.
    ///
    /// - Throws: `APIError` with `.internal` for a number that JSON cannot say (infinite, not a number).
    public static func encode(_ value: some Encodable) throws(APIError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(value))
        } catch {
            throw APIError(.internal, "an answer cannot be written as JSON", underlying: error)
        }
    }

    /// Reads a shape from JSON text.
    ///
    /// - Throws: `APIError` with `.badRequest`, and the key at fault in the sentence.
    public static func decode<Shape: Decodable>(
        _ shape: Shape.Type = Shape.self, from text: [UInt8]
    ) throws(APIError) -> Shape {
        do {
            return try JSONDecoder().decode(shape, from: Data(text))
        } catch let error as DecodingError {
            throw APIError(.badRequest, error.sentence, underlying: error)
        } catch {
            throw APIError(.badRequest, "the text is not JSON", underlying: error)
        }
    }

    /// Seconds to the millisecond: finer digits are noise of binary fractions.
    public static func milliseconds(_ seconds: Double) -> Double { (seconds * 1000).rounded() / 1000 }

    /// A fraction to four digits, never up: what is not all stays less than 1.
    public static func rounded(_ fraction: Double) -> Double { (fraction * 10_000 + 1e-9).rounded(.down) / 10_000 }
}

extension DecodingError {
    /// The error with its key, for the author of the JSON.
    fileprivate var sentence: String {
        switch self {
        case .keyNotFound(let key, let context): "\(Self.path(context.codingPath + [key])) is missing"
        case .valueNotFound(_, let context): "\(Self.path(context.codingPath)) is null"
        case .typeMismatch(_, let context), .dataCorrupted(let context):
            context.codingPath.isEmpty
                ? "the text is not the JSON object that is wanted"
                : "\(Self.path(context.codingPath)): \(context.debugDescription)"
        @unknown default: "the JSON cannot be read"
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        keys.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
    }
}

extension API {
    /// An error as `application/problem+json` (RFC 9457); `code` and `next` are members of our own.
    public struct Problem: Codable, Equatable, Sendable {
        /// The kind as a URI reference: the place in the API's own document where it is explained. A
        /// reader does without it (RFC 9457 §3.1.1).
        public var type: String?
        /// Kind of the error, for programs.
        public var code: APIError.Code
        /// The HTTP status, as in the response.
        public var status: Int
        /// The kind in words; the same for every problem of one code.
        public var title: String
        /// This case: names the asset and the cause. A sentence without a full stop.
        public var detail: String
        /// Next step, as a sentence or a command line.
        public var next: String?

        /// The problem that an error is to a client.
        public init(_ error: APIError) {
            type = "\(API.root)/openapi.json#\(error.code.rawValue)"
            code = error.code
            status = error.code.status
            title = error.code.title
            detail = error.message
            next = error.next
        }
    }
}
