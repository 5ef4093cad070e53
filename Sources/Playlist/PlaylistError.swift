/// Why a text is not a playlist that Weir can use, or why a view of one cannot be written.
public struct PlaylistError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of fault; the raw values are stable and may be shown to programs.
    public enum Code: String, Sendable, CaseIterable {
        /// The body is something else: HTML, JSON, empty, or without `#EXTM3U` as its first line.
        case notAPlaylist
        /// One of `PlaylistLimits` is exceeded.
        case overLimit
        /// The body is not UTF-8 (RFC 8216 §4.1).
        case notUTF8
        /// NUL, or a carriage return that ends no line.
        case controlCharacter
        /// The text ends within the name of a tag: the rest of it has been lost.
        case truncated
        /// Tags of multivariant and of media playlists in one text (RFC 8216 §4.1).
        case mixedTags
        /// An attribute list that cannot be split into names and values (RFC 8216 §4.2).
        case malformedAttributes
        /// A required attribute is not there.
        case missingAttribute
        /// A value is not of its type, or out of its range.
        case badValue
        /// EXTINF or EXT-X-STREAM-INF that no URI line follows.
        case missingURI
        /// A URI line that no EXTINF or EXT-X-STREAM-INF announces.
        case unannouncedURI
        /// EXT-X-BYTERANGE without an offset where no sub-range of the same resource precedes (RFC 8216 §4.3.2.2).
        case missingOffset
        /// A tag that may stand once stands again with another meaning.
        case duplicateTag
        /// A variable that EXT-X-DEFINE cannot find a value for, or that no line before a reference defines (rfc8216bis
        /// §4.3).
        case missingVariable
        /// What X-ASSET-LIST leads to is not the JSON of rfc8216bis appendix D.3.
        case badAssetList
        /// A playlist with EXT-X-SKIP is asked for a view that needs the whole.
        case deltaUpdate
        /// A name for a rewritten URI holds a byte that would break out of its line or its quotes.
        case unsafeName
    }

    /// What kind of fault it is.
    public let code: Code
    /// The line at fault, counted from 1; nil where the text as a whole is at fault.
    public let line: Int?
    /// The fault in words, without a full stop, fit to follow "line 3: ".
    public let reason: String
    /// The start of the line at fault, at most 80 bytes of it, printable, without any query: fit for a log.
    public let excerpt: String

    /// Makes an error; `excerpt` must be clean already (`PlaylistText.excerpt` makes it so).
    init(_ code: Code, line: Int? = nil, _ reason: String, excerpt: String = "") {
        self.code = code
        self.line = line
        self.reason = reason
        self.excerpt = excerpt
    }

    /// One sentence: line, reason, excerpt.
    public var description: String {
        let place = line.map { "line \($0): " } ?? ""
        let quote = excerpt.isEmpty ? "" : " (\(excerpt))"
        return place + reason + quote
    }

    /// The first 80 bytes of a line as a log may show them.
    ///
    /// No control characters, and nothing that may be secret: no query, no user of a URL, no `data:` with its key.
    static func excerpt(of bytes: ArraySlice<UInt8>) -> String {
        let secret = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
        let marks: [String] = bytes.contains(UInt8(ascii: "@")) ? ["://", "data:"] : ["data:"]
        let end = marks.compactMap { Self.end(of: $0, in: bytes) }.min().map { min($0, secret) } ?? secret
        let shown = min(end, bytes.startIndex + min(80, bytes.count))
        var text = ""
        for scalar in String(decoding: bytes[..<shown], as: UTF8.self).unicodeScalars {
            let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || scalar.value == 0xFFFD
            let isSeparator = scalar.value == 0x2028 || scalar.value == 0x2029
            text.unicodeScalars.append(isControl || isSeparator ? "·" : scalar)
        }
        return shown < bytes.endIndex ? text + "…" : text
    }

    /// The same of a text that stands in a line.
    static func excerpt(of text: String) -> String { excerpt(of: Array(text.utf8)[...]) }

    /// The place after the first occurrence of a mark, whatever its case.
    private static func end(of mark: String, in bytes: ArraySlice<UInt8>) -> Int? {
        let wanted = Array(mark.utf8)
        let start = bytes.indices.first { start in
            bytes.endIndex - start >= wanted.count
                && zip(bytes[start...], wanted).allSatisfy { $0 == $1 || ($1 >= 0x61 && $0 | 0x20 == $1) }
        }
        return start.map { $0 + wanted.count }
    }
}
