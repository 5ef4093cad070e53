// The room HLS.
//
// Duty: m3u8 text to lines to model, and back without a loss; playlists as players need them; mending; channel lists.
// Entrance: `PlaylistText` (lines), then `MultivariantPlaylist` and `MediaPlaylist` (model); the renderers write them
//     again with other URIs.
// Does not enter: fetching, files, sessions and clocks. A playlist is never rebuilt from a model: unknown lines stay as
//     they are.

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
        let length: UInt32
        let kind: Kind
        var content: Range<Int> { Int(start)..<Int(start) + Int(length) }
    }

    /// The bytes that lines and spans point into, including the byte order mark, mended, and with variables replaced.
    let bytes: [UInt8]
    /// The bytes as read, if mends or replaced variables make them differ from `bytes`.
    private let source: [UInt8]?
    /// All lines in order. With their terminators they cover the text after the byte order mark.
    let lines: [Line]
    /// The limits that the text was read with, which also apply to its content.
    let limits: PlaylistLimits
    /// True if the text begins with U+FEFF. `write()` returns it; rendered views omit it.
    public let hasByteOrderMark: Bool
    /// The defects that were mended, in the order in which they were found; at most `maximumMends`.
    public let mends: [PlaylistError]
    /// Bounds the memory for defects.
    static let maximumMends = 1_000

    /// Splits a text into lines.
    ///
    /// Lines end in LF or CRLF, the last perhaps not. The first must begin with `#EXTM3U`. Other line ends, and bytes that are
    /// not UTF-8, are replaced.
    public init(_ bytes: [UInt8], limits: PlaylistLimits = .standard) throws(PlaylistError) {
        self.limits = limits
        hasByteOrderMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
        let start = hasByteOrderMark ? 3 : 0
        try Self.checkSignature(bytes, from: start, limits)
        let repair = TextRepair(bytes, from: start)
        self.bytes = repair.bytes ?? bytes
        if repair.bytes == nil {
            source = nil
        } else {
            source = bytes
        }
        mends = repair.mends
        lines = try Self.split(self.bytes, from: start, limits)
    }

    /// Creates the mended or expanded form of `text`. It must have the same lines; omitted lines are empty, without a
    /// terminator.
    init(_ text: PlaylistText, bytes: [UInt8], lines: [Line], mends: [PlaylistError]) {
        self.bytes = bytes
        self.lines = lines
        if let earlier = text.source {
            source = earlier
        } else if bytes == text.bytes {
            source = nil
        } else {
            source = text.bytes
        }
        limits = text.limits
        hasByteOrderMark = text.hasByteOrderMark
        self.mends = Array((text.mends + mends).prefix(Self.maximumMends))
    }

    /// True if mends or replaced variables make `bytes` differ from the text that was read.
    var isChanged: Bool { source != nil }

    /// Returns the text exactly as it was read.
    public func write() -> [UInt8] { source ?? bytes }
    /// The number of lines.
    public var lineCount: Int { lines.count }

    func extent(_ line: Int) -> Range<Int> {
        let next = line + 1
        let end = next < lines.count ? Int(lines[next].start) : bytes.count
        return Int(lines[line].start)..<end
    }

    /// Returns the range after the tag's name and colon, without blanks at its ends; for other lines the whole line.
    func value(_ line: Int) -> Range<Int> {
        let content = bytes.trimmed(lines[line].content)
        guard case .tag(let tag) = lines[line].kind, tag != .unknown else { return content }
        let start = min(content.lowerBound + tag.length + 1, content.upperBound)
        return bytes.trimmed(start..<content.upperBound)
    }

    func string(_ line: Int) -> String { bytes.text(value(line)) }

    func attributes(_ line: Int) -> AttributeList {
        AttributeList(bytes, in: value(line), line: line, limits: limits)
    }

    func error(_ code: PlaylistError.Code, line: Int, _ reason: String) -> PlaylistError {
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
        if bytes.count >= end, bytes.matches(start..<end, Tag.m3u.rawValue) {
            return
        }
        let line = bytes[start...].prefix { $0 != 0x0A && $0 != 0x0D }
        throw PlaylistError(
            .notAPlaylist, line: 1, "\(guess(bytes[start...])), not a playlist that starts with #EXTM3U",
            excerpt: PlaylistError.excerpt(of: line))
    }

    /// True if the first bytes of a body may be those of a playlist, as far as they have come.
    public static func mayBegin(_ bytes: [UInt8]) -> Bool {
        let signature = Array(Tag.m3u.rawValue.utf8)
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        return [signature, mark + signature].contains { beginning in
            zip(beginning, bytes).allSatisfy { $0 == $1 }
        }
    }

    private static func guess(_ bytes: ArraySlice<UInt8>) -> String {
        if bytes.starts(with: [0x1F, 0x8B]) {
            return "gzip data"
        }
        switch bytes.first(where: { !$0.isBlank && $0 != 0x0A && $0 != 0x0D }) {
        case nil: return "an empty body"
        case UInt8(ascii: "<"): return "HTML or XML"
        case UInt8(ascii: "{"), UInt8(ascii: "["): return "JSON"
        default:
            let isBinary = bytes.prefix(512).contains { $0 == 0 || $0 >= 0xF8 }
            return isBinary ? "binary data" : "other text"
        }
    }

    /// Splits at LF, with the CRs before it.
    static func split(_ bytes: [UInt8], from first: Int, _ limits: PlaylistLimits) throws(PlaylistError) -> [Line] {
        var lines: [Line] = []
        lines.reserveCapacity(min(limits.lines, bytes.count / 24))
        var start = first
        while start < bytes.count {
            let (content, next) = try scan(bytes, from: start, line: lines.count + 1, limits: limits)
            if lines.count == limits.lines {
                throw PlaylistError(.overLimit, line: lines.count + 1, "more than \(limits.lines) lines")
            }
            let kind = kind(bytes, content, isFirst: lines.isEmpty)
            lines.append(Line(start: UInt32(start), length: UInt32(content.count), kind: kind))
            start = next
        }
        return lines
    }

    private static func scan(
        _ bytes: [UInt8], from start: Int, line: Int, limits: PlaylistLimits
    ) throws(PlaylistError) -> (content: Range<Int>, next: Int) {
        var end = bytes.firstIndex(of: 0x0A, in: start..<bytes.count) ?? bytes.count
        let next = min(end + 1, bytes.count)
        while end > start, bytes[end - 1] == 0x0D {
            end -= 1
        }
        if end - start > limits.lineBytes {
            throw fault(
                .overLimit, line: line, reason: "the line is longer than \(limits.lineBytes) bytes",
                content: bytes[start..<end])
        }
        return (start..<end, next)
    }

    /// True if the last line has no terminator and is the beginning of a tag's name. A text truncated there lacks
    /// segments, or the EXT-X-ENDLIST without which players keep waiting.
    var endsInTag: Bool {
        let last = lines.count - 1
        guard last > 0, lines[last].kind == .tag(.unknown), lines[last].content.upperBound == bytes.count else {
            return false
        }
        let name = bytes[bytes.trimmed(lines[last].content)]
        return Tag.allCases.contains { $0.rawValue.utf8.starts(with: name) }
    }

    private static func fault(
        _ code: PlaylistError.Code, line: Int, reason: String, content: ArraySlice<UInt8>
    ) -> PlaylistError {
        PlaylistError(code, line: line, reason, excerpt: PlaylistError.excerpt(of: content))
    }

    private static func kind(_ bytes: [UInt8], _ content: Range<Int>, isFirst: Bool) -> Line.Kind {
        if isFirst {
            return .tag(.m3u)
        }
        let trimmed = bytes.trimmed(content)
        if trimmed.isEmpty {
            return .blank
        }
        if bytes[trimmed.lowerBound] != UInt8(ascii: "#") {
            return .uri
        }
        guard let tag = Tag.find(in: bytes, trimmed) else { return .comment }
        return .tag(tag)
    }
}
