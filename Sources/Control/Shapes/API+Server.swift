import CDocument
internal import FoundationEssentials
import WeirAPI

extension API {
    /// Decodes a request's body, and refuses unknown keys, because their sender expects an effect. Throws
    /// `.badRequest`; the message names the key at fault.
    static func body<Shape: Codable>(_ shape: Shape.Type = Shape.self, from text: [UInt8]) throws(APIError) -> Shape {
        let value = try decode(shape, from: text)
        // A shape writes every key that it has read. A key that is not written again is unknown to it.
        let known = try decode(Keys.self, from: try encode(value))
        do {
            _ = try JSONDecoder().decode(KeyCheck.self, from: Data(text), configuration: known)
        } catch let error as APIError {
            throw error
        } catch {
            throw APIError(.badRequest, "the text is not the expected JSON object", underlying: error)
        }
        return value
    }
}

private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// The keys of a JSON text, without its values.
private indirect enum Keys: Decodable {
    case object([String: Keys])
    case array([Keys])
    case value
    case null

    init(from decoder: any Decoder) throws {
        if let object = try? decoder.container(keyedBy: AnyKey.self) {
            let pairs = try object.allKeys.map { ($0.stringValue, try object.decode(Keys.self, forKey: $0)) }
            self = .object(Dictionary(pairs) { $1 })
        } else if var items = try? decoder.unkeyedContainer() {
            var array: [Keys] = []
            while !items.isAtEnd {
                if try items.decodeNil() {
                    array.append(.null)
                } else {
                    array.append(try items.decode(Keys.self))
                }
            }
            self = .array(array)
        } else {
            let isNull = try decoder.singleValueContainer().decodeNil()
            self = isNull ? .null : .value
        }
    }
}

/// Reads a JSON text no deeper than the known keys go. Throws for an unknown key.
private struct KeyCheck: DecodableWithConfiguration {
    init(from decoder: any Decoder, configuration known: Keys) throws {
        switch known {
        case .object(let keys):
            let object = try decoder.container(keyedBy: AnyKey.self)
            for key in object.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
                let isNull = try object.decodeNil(forKey: key)
                // An unknown key is refused even with a null value; only a shape that writes null itself may have it.
                if isNull, case .null? = keys[key.stringValue] {
                    continue
                }
                guard !isNull, let inner = keys[key.stringValue] else { throw Self.refusal(key, isNull, in: object) }
                _ = try object.decode(KeyCheck.self, forKey: key, configuration: inner)
            }
        case .array(let known):
            var items = try decoder.unkeyedContainer()
            for inner in known where !items.isAtEnd {
                if try !items.decodeNil() {
                    _ = try items.decode(KeyCheck.self, configuration: inner)
                }
            }
        case .value, .null: break
        }
    }

    private static func refusal(_ key: AnyKey, _ isNull: Bool, in object: KeyedDecodingContainer<AnyKey>) -> APIError {
        let path = (object.codingPath + [key]).map { key in
            guard let index = key.intValue else { return key.stringValue }
            return "[\(index)]"
        }
        let name = path.joined(separator: ".")
        guard !isNull else { return APIError(.badRequest, "\(name) is null", next: "leave it out") }
        return APIError(.badRequest, "there is no field \(name)", next: "correct it, or leave it out")
    }
}

extension API {
    /// The OpenAPI 3.1 document of this API: `conf/openapi.json`, served at `GET /api/v1/openapi.json`.
    static let document: [UInt8] = {
        var count = 0
        let start = weir_openapi(&count)
        return Array(UnsafeBufferPointer(start: start, count: count))
    }()
}
