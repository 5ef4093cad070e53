/// The grammar of attribute lists, one attribute a call.
struct AttributeScanner {
    /// What is wrong with a list; ranges point into the bytes.
    enum Fault: Error {
        case noName(Range<Int>)
        case noValue(Range<Int>)
        case openQuote(Range<Int>)
        case afterQuote(Range<Int>)
        case twice(Range<Int>)
        case tooMany(Int)

        /// The fault in words, with the list as its excerpt.
        func asPlaylistError(_ bytes: [UInt8], _ list: Range<Int>, line: Int) -> PlaylistError {
            let excerpt = PlaylistError.excerpt(of: bytes[list])
            func name(_ range: Range<Int>) -> String { PlaylistError.excerpt(of: bytes[range]) }
            let reason =
                switch self {
                case .noName(let range): "an attribute name is expected at \"\(name(range))\""
                case .noValue(let range): "the attribute \(name(range)) has no value"
                case .openQuote(let range): "the quote of \(name(range)) is not closed"
                case .afterQuote(let range): "a comma is expected after the value of \(name(range))"
                case .twice(let range): "the attribute \(name(range)) stands twice"
                case .tooMany(let limit): "more than \(limit) attributes"
                }
            var code = PlaylistError.Code.malformedAttributes
            if case .tooMany = self { code = .overLimit }
            return PlaylistError(code, line: line, reason, excerpt: excerpt)
        }
    }

    /// The text.
    let bytes: [UInt8]
    /// The next byte to read.
    var position: Int
    /// The list's end.
    let end: Int

    /// The next attribute, or nil at the end.
    mutating func next() throws(Fault) -> AttributeList.Attribute? {
        while position < end, bytes[position].isBlank || bytes[position] == UInt8(ascii: ",") { position += 1 }
        guard position < end else { return nil }
        let name = try scanName()
        skipBlanks()
        guard position < end, bytes[position] == UInt8(ascii: "=") else { throw .noValue(name) }
        position += 1
        skipBlanks()
        guard position < end, bytes[position] == UInt8(ascii: "\"") else { return scanPlain(name) }
        return try scanQuoted(name)
    }

    private mutating func scanName() throws(Fault) -> Range<Int> {
        let start = position
        while position < end, isName(bytes[position]) { position += 1 }
        guard position > start else { throw .noName(start..<end) }
        return start..<position
    }

    private mutating func scanPlain(_ name: Range<Int>) -> AttributeList.Attribute {
        let start = position
        position = bytes.firstIndex(of: UInt8(ascii: ","), in: position..<end) ?? end
        return .init(name: name, value: bytes.trimmed(start..<position), isQuoted: false)
    }

    private mutating func scanQuoted(_ name: Range<Int>) throws(Fault) -> AttributeList.Attribute {
        let start = position
        guard let close = bytes.firstIndex(of: UInt8(ascii: "\""), in: start + 1..<end) else { throw .openQuote(name) }
        position = close + 1
        skipBlanks()
        guard position == end || bytes[position] == UInt8(ascii: ",") else { throw .afterQuote(name) }
        return .init(name: name, value: start..<close + 1, isQuoted: true)
    }

    private mutating func skipBlanks() {
        while position < end, bytes[position].isBlank { position += 1 }
    }

    /// RFC 8216 has capitals, digits and hyphens; vendors use small letters, underscores and points too.
    private func isName(_ byte: UInt8) -> Bool {
        byte.isDigit || (byte | 0x20) &- 0x61 < 26 || byte == 0x2D || byte == 0x5F || byte == 0x2E
    }
}
