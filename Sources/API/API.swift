internal import FoundationEssentials

/// The shapes of the control API, version 1: the JSON of requests and responses of `/api/v1/…`.
///
/// The shapes are the contract with scripts: a key keeps its name and its unit. New keys may be added, and a reader
/// ignores keys that it does not know. Times are seconds, sizes are bytes, bandwidths are bits per second and rates are
/// bytes per second. A key without a known value is left out.
public enum API {
    /// The path that all routes begin with.
    public static let root = "/api/v1"

    /// Encodes a shape as JSON: keys sorted, on one line, slashes not escaped.
    ///
    /// - Throws: `APIError` with `.internal` for a number that JSON cannot express (infinity, NaN).
    public static func encode(_ value: some Encodable) throws(APIError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(value))
        } catch {
            throw APIError(.internal, "an answer cannot be written as JSON", underlying: error)
        }
    }

    /// Decodes a shape from JSON.
    ///
    /// - Throws: `APIError` with `.badRequest`; the message names the key at fault.
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

    /// Rounds seconds to milliseconds. Finer digits are noise of binary fractions.
    public static func milliseconds(_ seconds: Double) -> Double { (seconds * 1000).rounded() / 1000 }

    /// Rounds a fraction down to four digits, so that an incomplete download stays below 1.
    public static func rounded(_ fraction: Double) -> Double { (fraction * 10_000 + 1e-9).rounded(.down) / 10_000 }
}

extension DecodingError {
    /// The error in words, with its key, for the author of the JSON.
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
    /// An error as `application/problem+json` (RFC 9457) with the extension members `code` and `next`.
    public struct Problem: Codable, Equatable, Sendable {
        /// The kind as a URI reference to its explanation in the API's document. Readers may ignore it (RFC 9457
        /// §3.1.1).
        public var type: String?
        /// Kind of the error, for programs.
        public var code: APIError.Code
        /// The HTTP status, as in the response.
        public var status: Int
        /// The kind in words; fixed for each code.
        public var title: String
        /// The particular error: names the asset and the cause. A sentence without a full stop.
        public var detail: String
        /// Next step, as a sentence or a command line.
        public var next: String?

        /// Converts an error.
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
