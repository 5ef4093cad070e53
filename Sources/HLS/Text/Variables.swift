/// Sources of variable values outside of the playlist's text (rfc8216bis §4.4.2.3).
public struct VariableSources: Sendable {
    /// Values for IMPORT: `MultivariantPlaylist.variables` of the parent playlist; nil without a parent.
    public var imports: [String: String]?
    /// Query for QUERYPARAM: of the playlist's URL after redirects, percent-encoded, without its `?`; nil without a query.
    public var query: String?
    /// False if the text was read without its URL, such as from a file, so that nothing is known about a query.
    public var hasURL = true
    /// No sources: variables that need one have no value.
    public static let none = VariableSources()

    /// Creates a set of sources.
    public init(imports: [String: String]? = nil, query: String? = nil) {
        self.imports = imports
        self.query = query
    }

    /// Returns the percent-decoded value of the first parameter with this name; nil if it is missing, empty or not
    /// UTF-8. A `+` is preserved, because base64 signatures contain it.
    func parameter(_ name: String) -> String? {
        guard let query else { return nil }
        for field in query.utf8.split(separator: UInt8(ascii: "&")) {
            let parts = field.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, Self.decoding(parts[0]) == name else { continue }
            guard let value = Self.decoding(parts[1]), !value.isEmpty else { return nil }
            return value
        }
        return nil
    }

    private static func decoding(_ text: Substring.UTF8View) -> String? {
        String(validating: Array(text).percentDecoded, as: UTF8.self)
    }
}

/// One EXT-X-DEFINE (rfc8216bis §4.4.2.3): a variable and the source of its value.
struct Define {
    enum Source {
        case value(String)
        /// IMPORT, from the multivariant playlist, and QUERYPARAM, from the query of the playlist's URL.
        case multivariant, query
    }

    /// Consists of letters, digits, `-` and `_`.
    let name: String
    let source: Source

    /// Parses a line. It must have exactly one of NAME, IMPORT and QUERYPARAM; NAME needs VALUE, which may be empty.
    init(_ attributes: AttributeList) throws(PlaylistError) {
        let kinds = ["NAME", "IMPORT", "QUERYPARAM"].filter { attributes[$0] != nil }
        guard kinds.count == 1, let name = attributes[kinds[0]] else {
            var code = PlaylistError.Code.badValue
            if kinds.isEmpty {
                code = .missingAttribute
            }
            throw attributes.error(code, "EXT-X-DEFINE needs one of NAME, IMPORT and QUERYPARAM")
        }
        guard !name.isEmpty, name.utf8.allSatisfy(\.isVariableName) else {
            throw attributes.error(.badValue, "\(kinds[0]) is not a valid variable name")
        }
        self.name = name
        switch kinds[0] {
        case "NAME":
            guard let value = attributes["VALUE"] else {
                throw attributes.error(.missingAttribute, "the attribute VALUE is missing")
            }
            source = .value(value)
        case "IMPORT": source = .multivariant
        default: source = .query
        }
    }
}

extension UInt8 {
    /// True for a character of a variable name (rfc8216bis §4.3).
    var isVariableName: Bool {
        isDigit || (self | 0x20) &- 0x61 < 26 || self == UInt8(ascii: "-") || self == UInt8(ascii: "_")
    }
}

/// The variables defined so far, and the replacement of references to them (rfc8216bis §4.3).
struct VariableTable {
    private(set) var values: [String: String] = [:]
    private let sources: VariableSources
    private let isMultivariant: Bool

    init(_ sources: VariableSources, isMultivariant: Bool) {
        self.sources = sources
        self.isMultivariant = isMultivariant
    }

    /// Adds a definition. Its value must be safe on a line and in quotes: the author of a link controls its query.
    mutating func define(_ define: Define, _ attributes: AttributeList) throws(PlaylistError) {
        guard values[define.name] == nil else {
            throw attributes.error(.duplicateTag, "the variable \(define.name) is defined twice")
        }
        let value = try value(of: define, attributes)
        guard value.unicodeScalars.allSatisfy(\.isSafeInPlaylist) else {
            throw attributes.error(
                .badValue, "the value of the variable \(define.name) has characters that are not allowed in a playlist")
        }
        values[define.name] = value
    }

    private func value(of define: Define, _ attributes: AttributeList) throws(PlaylistError) -> String {
        switch define.source {
        case .value(let value): return value
        case .multivariant:
            if isMultivariant {
                throw attributes.error(.badValue, "IMPORT is not allowed in a multivariant playlist")
            }
            if let value = sources.imports?[define.name] {
                return value
            }
            var cause = "the multivariant playlist does not define it"
            if sources.imports == nil {
                cause = "the playlist was read without a multivariant one"
            }
            throw attributes.error(.missingVariable, "the variable \(define.name) cannot be imported: \(cause)")
        case .query:
            if let value = sources.parameter(define.name) {
                return value
            }
            var cause = "the playlist was read without its URL, which may have the query parameter \(define.name)"
            if sources.hasURL {
                cause = "the playlist's URL has no query parameter \(define.name) with a value"
            }
            throw attributes.error(.missingVariable, cause)
        }
    }

    /// Appends a range of `bytes` with every `{$name}` replaced once; values are not searched again. Text that only
    /// resembles a reference is preserved, and so is a reference to an undefined variable: libavformat requests it as it is.
    /// Returns the names of undefined variables.
    func append(_ range: Range<Int>, of bytes: [UInt8], to output: inout [UInt8]) -> [String] {
        var undefined: [String] = []
        var position = range.lowerBound
        while position < range.upperBound {
            guard let reference = Self.reference(in: bytes, at: position, end: range.upperBound) else {
                output.append(bytes[position])
                position += 1
                continue
            }
            let name = bytes.text(reference)
            if let value = values[name] {
                output.append(contentsOf: value.utf8)
            } else {
                output.append(contentsOf: bytes[position...reference.upperBound])
                undefined.append(name)
            }
            position = reference.upperBound + 1
        }
        return undefined
    }

    static func mayRefer(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
        var position = range.lowerBound
        while let brace = bytes.firstIndex(of: UInt8(ascii: "{"), in: position..<range.upperBound) {
            if brace + 1 < range.upperBound, bytes[brace + 1] == UInt8(ascii: "$") {
                return true
            }
            position = brace + 1
        }
        return false
    }

    /// True if the range has a reference to a variable.
    static func refers(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
        mayRefer(bytes, range) && range.contains { reference(in: bytes, at: $0, end: range.upperBound) != nil }
    }

    /// Returns the range of the name in a reference that starts at `position`; nil without a reference.
    private static func reference(in bytes: [UInt8], at position: Int, end: Int) -> Range<Int>? {
        guard bytes[position] == UInt8(ascii: "{"), position + 3 < end, bytes[position + 1] == UInt8(ascii: "$") else {
            return nil
        }
        var close = position + 2
        while close < end, bytes[close].isVariableName {
            close += 1
        }
        guard close > position + 2, close < end, bytes[close] == UInt8(ascii: "}") else { return nil }
        return position + 2..<close
    }
}

extension Unicode.Scalar {
    /// True unless a reader may end a line or a string at it: quote, control character, U+2028 and U+2029.
    var isSafeInPlaylist: Bool {
        value >= 0x20 && self != "\"" && !(0x7F...0x9F).contains(value) && value != 0x2028 && value != 0x2029
    }
}
