/// A playlist's text split into lines. `write()` returns exactly the bytes that were read.
///
/// Lines are indices into one byte array, so a large playlist costs little more memory than its text.
public struct PlaylistText: Sendable {
    struct Line: Sendable {
        /// Kinds of line (RFC 8216 §4.1).
        enum Kind: Equatable, Sendable {
            case blank, comment, uri, tag(Tag)
        }

        let start: UInt32
        /// Number of bytes before the terminator, at most `PlaylistLimits.lineBytes`.
        let length: UInt16
        let kind: Kind
        var content: Range<Int> { Int(start)..<Int(start) + Int(length) }
    }

    /// The bytes that lines and spans point into, including the byte order mark, with variables replaced by their values.
    let bytes: [UInt8]
    /// The bytes as read, if replaced variables make them differ from `bytes`.
    private let source: [UInt8]?
    /// All lines in order. With their terminators they cover the text after the byte order mark.
    let lines: [Line]
    /// The limits that the text was read with, which also apply to its content.
    let limits: PlaylistLimits
    /// True if the text begins with U+FEFF. `write()` returns it; rendered views omit it.
    public let hasByteOrderMark: Bool

    /// Splits a text into lines.
    ///
    /// Lines end in LF or CRLF, the last perhaps not. The first must be `#EXTM3U`, and the text UTF-8 without NUL.
    public init(_ bytes: [UInt8], limits: PlaylistLimits = .standard) throws(PlaylistError) {
        (self.bytes, self.limits, source) = (bytes, limits, nil)
        hasByteOrderMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
        let start = hasByteOrderMark ? 3 : 0
        try Self.checkSignature(bytes, from: start, limits)
        try Self.checkEncoding(bytes)
        lines = try Self.split(bytes, from: start, limits)
        try checkEnd()
    }

    /// Creates the expanded form of `source`. It must have the same number of lines, of the same kinds.
    init(_ source: PlaylistText, bytes: [UInt8], lines: [Line]) {
        (self.bytes, self.lines, self.source) = (bytes, lines, source.bytes)
        (limits, hasByteOrderMark) = (source.limits, source.hasByteOrderMark)
    }

    /// Returns the text exactly as it was read.
    public func write() -> [UInt8] { source ?? bytes }
    /// The number of lines.
    public var lineCount: Int { lines.count }

    func extent(_ line: Int) -> Range<Int> {
        Int(lines[line].start)..<(line + 1 < lines.count ? Int(lines[line + 1].start) : bytes.count)
    }

    /// Returns the range after the tag's name and colon, without blanks at its ends; for other lines the whole line.
    func value(_ line: Int) -> Range<Int> {
        let content = bytes.trimmed(lines[line].content)
        guard case .tag(let tag) = lines[line].kind, tag != .unknown else { return content }
        let start = min(content.lowerBound + tag.length + 1, content.upperBound)
        return bytes.trimmed(start..<content.upperBound)
    }

    func string(_ line: Int) -> String { bytes.text(value(line)) }

    func attributes(_ line: Int) throws(PlaylistError) -> AttributeList {
        try AttributeList(bytes, value(line), line: line, limits)
    }

    func error(_ code: PlaylistError.Code, _ line: Int, _ reason: String) -> PlaylistError {
        let excerpt = PlaylistError.excerpt(of: bytes[bytes.trimmed(lines[line].content)])
        return PlaylistError(code, line: line + 1, reason, excerpt: excerpt)
    }
}

/// Checks the bytes and splits them into lines.
extension PlaylistText {
    /// Throws if the first line is not `#EXTM3U`, and names what the body seems to be. Runs before all other checks.
    static func checkSignature(_ bytes: [UInt8], from start: Int, _ limits: PlaylistLimits) throws(PlaylistError) {
        if bytes.count > limits.bytes {
            throw PlaylistError(.overLimit, "the playlist is larger than \(limits.bytes) bytes")
        }
        let end = start + Tag.m3u.length
        if bytes.count >= end, bytes.matches(start..<end, Tag.m3u.rawValue),
            bytes.count == end || bytes[end].isBlank || bytes[end] == 0x0A || bytes[end] == 0x0D
        {
            return
        }
        let line = bytes[start...].prefix { $0 != 0x0A && $0 != 0x0D }
        throw PlaylistError(
            .notAPlaylist, line: 1, "\(guess(bytes[start...])), not a playlist that starts with #EXTM3U",
            excerpt: PlaylistError.excerpt(of: line))
    }

    private static func guess(_ bytes: ArraySlice<UInt8>) -> String {
        if bytes.starts(with: [0x1F, 0x8B]) { return "gzip data" }
        switch bytes.first(where: { !$0.isBlank && $0 != 0x0A && $0 != 0x0D }) {
        case nil: return "an empty body"
        case UInt8(ascii: "<"): return "HTML or XML"
        case UInt8(ascii: "{"), UInt8(ascii: "["): return "JSON"
        default: return bytes.prefix(512).contains { $0 == 0 || $0 >= 0xF8 } ? "binary data" : "other text"
        }
    }

    static func checkEncoding(_ bytes: [UInt8]) throws(PlaylistError) {
        do {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            let offset = min(error.byteOffsets.lowerBound, bytes.count)
            let line = 1 + bytes[..<offset].count { $0 == 0x0A }
            let start = bytes[..<offset].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
            throw PlaylistError(
                .notUTF8, line: line, "byte \(offset) is not UTF-8",
                excerpt: PlaylistError.excerpt(of: bytes[start..<offset]))
        }
    }

    /// Splits at LF, with the CRs before it. A CR elsewhere is an error: some readers would see another line there.
    static func split(_ bytes: [UInt8], from first: Int, _ limits: PlaylistLimits) throws(PlaylistError) -> [Line] {
        var lines: [Line] = []
        lines.reserveCapacity(min(limits.lines, bytes.count / 24))
        var start = first
        while start < bytes.count {
            let (content, next) = try scan(bytes, start, line: lines.count + 1, limits)
            if lines.count == limits.lines {
                throw PlaylistError(.overLimit, line: lines.count + 1, "more than \(limits.lines) lines")
            }
            lines.append(Line(start: UInt32(start), length: UInt16(content.count), kind: kind(bytes, content)))
            start = next
        }
        return lines
    }

    private static func scan(
        _ bytes: [UInt8], _ start: Int, line: Int, _ limits: PlaylistLimits
    ) throws(PlaylistError) -> (content: Range<Int>, next: Int) {
        var (end, firstReturn) = (start, -1)
        while end < bytes.count, bytes[end] != 0x0A {
            if bytes[end] == 0 {
                throw fault(.controlCharacter, line, "the line contains a NUL byte", bytes[start..<end])
            }
            if bytes[end] == 0x0D, firstReturn < 0 { firstReturn = end }
            end += 1
        }
        let next = min(end + 1, bytes.count)
        while end > start, bytes[end - 1] == 0x0D { end -= 1 }
        if firstReturn >= 0, firstReturn < end {
            throw fault(.controlCharacter, line, "the line contains a carriage return", bytes[start..<end])
        }
        if end - start > min(limits.lineBytes, Int(UInt16.max)) {
            throw fault(.overLimit, line, "the line is longer than \(limits.lineBytes) bytes", bytes[start..<end])
        }
        return (start..<end, next)
    }

    /// Throws if the last line has no terminator and is the beginning of a tag's name. A text truncated there lacks
    /// segments, or the EXT-X-ENDLIST without which players keep waiting.
    func checkEnd() throws(PlaylistError) {
        let last = lines.count - 1
        guard last > 0, lines[last].kind == .tag(.unknown), lines[last].content.upperBound == bytes.count else {
            return
        }
        let name = bytes[lines[last].content]
        if Tag.allCases.contains(where: { $0.rawValue.utf8.starts(with: name) }) {
            throw error(.truncated, last, "the playlist ends within a tag")
        }
    }

    private static func fault(
        _ code: PlaylistError.Code, _ line: Int, _ reason: String, _ content: ArraySlice<UInt8>
    ) -> PlaylistError {
        PlaylistError(code, line: line, reason, excerpt: PlaylistError.excerpt(of: content))
    }

    private static func kind(_ bytes: [UInt8], _ content: Range<Int>) -> Line.Kind {
        let trimmed = bytes.trimmed(content)
        if trimmed.isEmpty { return .blank }
        if bytes[trimmed.lowerBound] != UInt8(ascii: "#") { return .uri }
        return Tag.find(in: bytes, trimmed).map { .tag($0) } ?? .comment
    }
}
