// The room WeirAPI.
//
// Duty: the shapes of `/api/v1`, the one table of its endpoints, and their client.
// Entrance: `API` (shapes), `Endpoints` (table), `APIClient`.
// Does not enter: what an endpoint does: that is in `Control`.

internal import FoundationEssentials
package import Orders
internal import SafeText

/// The shapes of the control API, version 1: the JSON of requests and responses of `/api/v1/…`.
///
/// They are the contract with scripts; `conf/openapi.json` documents every key. Times are seconds, sizes bytes,
/// bandwidths bits per second, rates bytes per second. A key without a known value is left out.
package enum API {
    package static let root = "/api/v1"

    /// Encodes a shape as JSON on one line, with sorted keys, and safe for a terminal. Throws `.internal` for infinity and NaN.
    package static func encode(_ value: some Encodable) throws(APIError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Printable.json(Array(try encoder.encode(value)))
        } catch {
            throw APIError(.internal, "a response cannot be encoded as JSON", underlying: error)
        }
    }

    /// Decodes a shape from JSON. Throws `.badRequest`; the message names the key at fault.
    package static func decode<Shape: Decodable>(
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
    package static func milliseconds(_ seconds: Double) -> Double { (seconds * 1000).rounded() / 1000 }

    /// Rounds a fraction down to four digits, so that an incomplete download stays below 1.
    package static func rounded(_ fraction: Double) -> Double { (fraction * 10_000 + 1e-9).rounded(.down) / 10_000 }

    /// An error as `application/problem+json` (RFC 9457) with the extension members `code` and `next`.
    package struct Problem: Codable, Equatable, Sendable {
        /// The kind as a URI reference to the API's document; readers may ignore it (RFC 9457 §3.1.1).
        package var type: String?
        package var code: APIError.Code
        /// The HTTP status, as in the response.
        package var status: Int
        package var title: String
        /// The particular error: names the asset and the cause. A sentence without a full stop.
        package var detail: String
        package var next: String?
        package init(_ error: APIError) {
            type = "\(API.root)/openapi.json#\(error.code.rawValue)"
            code = error.code
            status = error.code.status
            title = error.code.title
            detail = error.message
            next = error.next
        }
    }

    /// The network mode: `GET /api/v1/mode` returns it, `PUT` changes it until the daemon ends.
    package struct Mode: Codable, Equatable, Sendable {
        package var mode: PlayMode
        package init(_ mode: PlayMode) { self.mode = mode }
    }

    /// The limit of all downloads together: `GET` and `PUT /api/v1/limit`.
    package struct Limit: Codable, Equatable, Sendable {
        /// Bytes per second; absent for no limit.
        package var bytesPerSecond: Int?
        package init(bytesPerSecond: Int?) { self.bytesPerSecond = bytesPerSecond }
    }

    /// The daemon's address on the network: `GET /api/v1/lan`.
    package struct LAN: Codable, Equatable, Sendable {
        /// The URL in front of a name or an origin URL. Includes the token for media; has no slash at its end.
        package var url: String
        package init(url: String) { self.url = url }

        /// The scheme, the address and the port.
        package var base: String { String(url.prefix(upTo: url.firstRange(of: "/t/")?.lowerBound ?? url.endIndex)) }
    }

    /// The link to the page for browsers: `GET /api/v1/page` returns it, `DELETE` replaces it.
    package struct PageLink: Codable, Equatable, Sendable {
        package var path: String
        package init(path: String) { self.path = path }
    }

    /// Totals of the store and its disk: `GET /api/v1/store`.
    package struct Store: Codable, Equatable, Sendable {
        package struct Disk: Codable, Equatable, Sendable {
            package var totalBytes: Int
            package var freeBytes: Int
            /// Bytes of the reserve, which stay free for other programs.
            package var reservedBytes: Int
            /// Bytes that may still be stored: `freeBytes` minus `reservedBytes`, at least 0.
            package var availableBytes: Int
            package init(totalBytes: Int, freeBytes: Int, reservedBytes: Int) {
                self.totalBytes = totalBytes
                self.freeBytes = freeBytes
                self.reservedBytes = reservedBytes
                availableBytes = max(0, freeBytes - reservedBytes)
            }
        }

        package var path: String
        /// The reason why the store is read-only, as a sentence; absent if it can be written.
        package var problem: String?
        package var assets = 0
        package var bytes = 0
        /// The part of `bytes` that was cached by playback, and its limit.
        package var playCache: PlayCache
        /// The disk; absent if it does not report its size.
        package var disk: Disk?
        /// Assets that may be purged on a full disk: `expired`, `default` or `important`, each with the ones before.
        package var purge: String
        /// Bytes of deleted files that are free only once the players that read them have read on, or end; absent otherwise.
        package var heldBytes: Int?
        package init(path: String, playCache: PlayCache, purge: String) {
            self.path = path
            self.playCache = playCache
            self.purge = purge
        }
    }
}

extension DecodingError {
    /// The error in words, with its key, for the author of the JSON.
    fileprivate var sentence: String {
        switch self {
        case .keyNotFound(let key, let context): "\(Self.path(context.codingPath + [key])) is missing"
        case .valueNotFound(_, let context): "\(Self.path(context.codingPath)) is null"
        case .typeMismatch(_, let context) where context.codingPath.isEmpty,
            .dataCorrupted(let context) where context.codingPath.isEmpty:
            "the text is not the expected JSON object"
        case .typeMismatch(_, let context), .dataCorrupted(let context):
            "\(Self.path(context.codingPath)): \(context.debugDescription)"
        @unknown default: "the JSON cannot be read"
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        let parts = keys.map { key in
            guard let index = key.intValue else { return key.stringValue }
            return "[\(index)]"
        }
        return parts.joined(separator: ".")
    }
}
