/// The variables that have been defined so far, and the replacement of references to them (rfc8216bis §4.3).
struct VariableTable {
    /// The values by name.
    private(set) var values: [String: String] = [:]
    private let sources: VariableSources
    private let isMultivariant: Bool

    /// No variables yet.
    init(_ sources: VariableSources, isMultivariant: Bool) {
        self.sources = sources
        self.isMultivariant = isMultivariant
    }

    /// Takes a definition. A value must be fit to stand on a line and in quotes, wherever it comes from: a query is
    /// written by whoever made the link.
    mutating func define(_ define: Define, _ attributes: AttributeList) throws(PlaylistError) {
        guard values[define.name] == nil else {
            throw attributes.error(.duplicateTag, "the variable \(define.name) is defined twice")
        }
        let value = try value(of: define, attributes)
        guard value.unicodeScalars.allSatisfy(\.isSafeInPlaylist) else {
            throw attributes.error(.badValue, "the value of the variable \(define.name) cannot stand in a playlist")
        }
        values[define.name] = value
    }

    private func value(of define: Define, _ attributes: AttributeList) throws(PlaylistError) -> String {
        switch define.source {
        case .value(let value): return value
        case .multivariant:
            if isMultivariant {
                throw attributes.error(.badValue, "IMPORT in a multivariant playlist, which has nothing to import from")
            }
            if let value = sources.imports?[define.name] { return value }
            let cause = sources.imports == nil ? "no multivariant playlist led here" : "the multivariant one has none"
            throw attributes.error(.missingVariable, "the variable \(define.name) cannot be imported: \(cause)")
        case .query:
            if let value = sources.parameter(define.name) { return value }
            throw attributes.error(
                .missingVariable, "the playlist's URL has no query parameter \(define.name) with a value")
        }
    }

    /// Appends a range of `bytes` with every `{$name}` replaced, once: values are not searched again. What only
    /// resembles a reference stays. The fault is the name of a variable that is not defined.
    func append(_ range: Range<Int>, of bytes: [UInt8], to output: inout [UInt8]) throws(Undefined) {
        var position = range.lowerBound
        while position < range.upperBound {
            guard let reference = Self.reference(bytes, position, range.upperBound) else {
                output.append(bytes[position])
                position += 1
                continue
            }
            guard let value = values[bytes.text(reference)] else { throw Undefined(name: bytes.text(reference)) }
            output.append(contentsOf: value.utf8)
            position = reference.upperBound + 1
        }
    }

    /// A reference to a variable that no line before defines.
    struct Undefined: Error {
        let name: String
    }

    /// Whether anything in the range looks like the start of a reference.
    static func mayRefer(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
        var position = range.lowerBound
        while let brace = bytes.firstIndex(of: UInt8(ascii: "{"), in: position..<range.upperBound) {
            if brace + 1 < range.upperBound, bytes[brace + 1] == UInt8(ascii: "$") { return true }
            position = brace + 1
        }
        return false
    }

    /// The name in a reference that starts at `position`.
    private static func reference(_ bytes: [UInt8], _ position: Int, _ end: Int) -> Range<Int>? {
        guard bytes[position] == UInt8(ascii: "{"), position + 3 < end, bytes[position + 1] == UInt8(ascii: "$") else {
            return nil
        }
        var close = position + 2
        while close < end, bytes[close].isVariableName { close += 1 }
        guard close > position + 2, close < end, bytes[close] == UInt8(ascii: "}") else { return nil }
        return position + 2..<close
    }
}

extension Unicode.Scalar {
    /// Whether no reader takes it for the end of a line or of a quoted-string: no quote, no control character, and
    /// neither U+2028 nor U+2029.
    var isSafeInPlaylist: Bool {
        value >= 0x20 && self != "\"" && !(0x7F...0x9F).contains(value) && value != 0x2028 && value != 0x2029
    }
}
