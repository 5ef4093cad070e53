/// What EXT-X-DEFINE may draw on besides the playlist's own text (rfc8216bis §4.4.2.3).
public struct VariableSources: Sendable {
    /// For IMPORT: `MultivariantPlaylist.variables` of the playlist that led here; nil where none did.
    public var imports: [String: String]?
    /// For QUERYPARAM: the query of the URL that the playlist came from, after redirects, still percent-encoded and
    /// without its `?`; nil without one.
    public var query: String?

    /// Nothing: a playlist that asks for either is refused.
    public static let none = VariableSources()

    /// Any combination.
    public init(imports: [String: String]? = nil, query: String? = nil) {
        self.imports = imports
        self.query = query
    }

    /// The value of the first parameter of that name, with its percent-encodings decoded once; nil where there is none,
    /// where it is empty, and where it is not UTF-8. A `+` stays one: base64 in signatures has it.
    func parameter(_ name: String) -> String? {
        guard let query else { return nil }
        for field in query.utf8.split(separator: UInt8(ascii: "&")) {
            let parts = field.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, Self.decoding(parts[0]) == name else { continue }
            return Self.decoding(parts[1]).flatMap { $0.isEmpty ? nil : $0 }
        }
        return nil
    }

    private static func decoding(_ text: Substring.UTF8View) -> String? {
        let bytes = Array(text)
        var decoded: [UInt8] = []
        var position = 0
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: "%"), position + 2 < bytes.count,
                let high = bytes[position + 1].hexadecimalValue, let low = bytes[position + 2].hexadecimalValue
            {
                decoded.append(high << 4 | low)
                position += 3
            } else {
                decoded.append(bytes[position])
                position += 1
            }
        }
        return String(validating: decoded, as: UTF8.self)
    }
}
