internal import HTTPMessage

extension API {
    /// A header field for the origin of an asset, and for no other:
    /// `{"name":"Referer","value":"https://example.com/"}`.
    ///
    /// The value is a secret: nothing that the API gives has it, and no message names it.
    public struct Header: Codable, Equatable, Sendable, CustomStringConvertible {
        /// The field's name.
        public var name: String
        /// The field's value.
        public var value: String

        /// Reads `Name: value`; nil for what is no field line (RFC 9110 §5).
        public init?(_ line: String) {
            guard let field = FieldLine(Array(line.utf8)) else { return nil }
            name = field.name
            value = field.value
        }

        /// `Name: value`.
        public var line: String { "\(name): \(value)" }

        /// The name alone.
        public var description: String { name }
    }
}
