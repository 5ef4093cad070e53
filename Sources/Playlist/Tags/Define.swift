/// One EXT-X-DEFINE (rfc8216bis §4.4.2.3): a variable, and where its value comes from.
struct Define {
    /// Where the value comes from.
    enum Source {
        /// NAME with its VALUE.
        case value(String)
        /// IMPORT: the multivariant playlist that led here.
        case multivariant
        /// QUERYPARAM: the query of the playlist's own URL.
        case query
    }

    /// The variable's name: letters, digits, `-` and `_`.
    let name: String
    /// Where the value comes from.
    let source: Source

    /// Reads a line: exactly one of NAME, IMPORT and QUERYPARAM, and with NAME a VALUE, which may be empty.
    init(_ attributes: AttributeList) throws(PlaylistError) {
        let kinds = ["NAME", "IMPORT", "QUERYPARAM"].filter { attributes[$0] != nil }
        guard kinds.count == 1, let name = attributes[kinds[0]] else {
            let code = kinds.isEmpty ? PlaylistError.Code.missingAttribute : .badValue
            throw attributes.error(code, "EXT-X-DEFINE needs one of NAME, IMPORT and QUERYPARAM")
        }
        guard !name.isEmpty, name.utf8.allSatisfy(\.isVariableName) else {
            throw attributes.error(.badValue, "\(kinds[0]) is not the name of a variable")
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
    /// What a variable's name consists of (rfc8216bis §4.3).
    var isVariableName: Bool {
        isDigit || (self | 0x20) &- 0x61 < 26 || self == UInt8(ascii: "-") || self == UInt8(ascii: "_")
    }
}
