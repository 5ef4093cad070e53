/// A playlist's text, split into lines and otherwise untouched: what was read is what `write()` gives back.
///
/// Lines are indices into one array of bytes, so that a large playlist costs little more than its text.
public struct PlaylistText: Sendable {
    /// One line, in eight bytes: where it stands and what it is.
    struct Line: Sendable {
        /// What a line is by RFC 8216 §4.1.
        enum Kind: Equatable, Sendable {
            case blank
            case comment
            case uri
            case tag(Tag)
        }

        /// The first byte.
        let start: UInt32
        /// The bytes up to the terminator, at most `PlaylistLimits.lineBytes`.
        let length: UInt16
        /// What the line is.
        let kind: Kind

        /// The line without its terminator, blanks at its ends included.
        var content: Range<Int> { Int(start)..<Int(start) + Int(length) }
    }

    /// The text that lines and spans point into, the byte order mark included: as it came, but for variables, which are
    /// replaced by their values.
    let bytes: [UInt8]
    /// The text as it came, where variables have made `bytes` another one.
    private let source: [UInt8]?
    /// All lines in order; together with their terminators they cover the text after the byte order mark.
    let lines: [Line]
    /// Whether the text began with U+FEFF, which `write()` gives back and no rendered view has.
    public let hasByteOrderMark: Bool

    /// Splits a text.
    ///
    /// Lines end in LF or CRLF; the last may lack its end. The first line must be `#EXTM3U`, the text UTF-8 without
    /// NUL.
    public init(_ bytes: [UInt8], limits: PlaylistLimits = .standard) throws(PlaylistError) {
        self.bytes = bytes
        source = nil
        hasByteOrderMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
        let start = hasByteOrderMark ? 3 : 0
        try Self.checkSignature(bytes, from: start, limits)
        try Self.checkEncoding(bytes)
        lines = try Self.split(bytes, from: start, limits)
        try checkEnd()
    }

    /// A text whose variables have been replaced: as many lines, of the same kinds.
    init(_ source: PlaylistText, bytes: [UInt8], lines: [Line]) {
        self.bytes = bytes
        self.lines = lines
        self.source = source.bytes
        hasByteOrderMark = source.hasByteOrderMark
    }

    /// The text exactly as it was read.
    public func write() -> [UInt8] { source ?? bytes }

    /// The number of lines.
    public var lineCount: Int { lines.count }

    /// The line's bytes together with its terminator.
    func extent(_ line: Int) -> Range<Int> {
        Int(lines[line].start)..<(line + 1 < lines.count ? Int(lines[line + 1].start) : bytes.count)
    }

    /// What stands after the tag's name and colon, without blanks at the ends; for any other line all of it.
    func value(_ line: Int) -> Range<Int> {
        let content = bytes.trimmed(lines[line].content)
        guard case .tag(let tag) = lines[line].kind, tag != .unknown else { return content }
        let start = min(content.lowerBound + tag.length + 1, content.upperBound)
        return bytes.trimmed(start..<content.upperBound)
    }

    /// The text of `value(_:)`.
    func string(_ line: Int) -> String { bytes.text(value(line)) }

    /// The attributes of a line (RFC 8216 §4.2).
    func attributes(_ line: Int, _ limits: PlaylistLimits = .standard) throws(PlaylistError) -> AttributeList {
        try AttributeList(bytes, value(line), line: line, limits)
    }

    /// An error at a line (an index, from 0).
    func error(_ code: PlaylistError.Code, _ line: Int, _ reason: String) -> PlaylistError {
        let excerpt = PlaylistError.excerpt(of: bytes[bytes.trimmed(lines[line].content)])
        return PlaylistError(code, line: line + 1, reason, excerpt: excerpt)
    }
}
