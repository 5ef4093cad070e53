import SafeText

/// Describes why a text cannot be used as a playlist, what was mended in one, or why a view of one cannot be written.
public struct PlaylistError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Kinds of error. Raw values are stable and may be shown to programs.
    public enum Code: String, Sendable, CaseIterable {
        /// The body is not a playlist: HTML, JSON, empty, or without `#EXTM3U` as its first line.
        case notAPlaylist
        case overLimit
        /// The body is not UTF-8 (RFC 8216 §4.1).
        case notUTF8
        /// NUL, or a carriage return without a line feed.
        case controlCharacter
        /// An empty line between EXT-X-STREAM-INF and its URI, where VLC fails.
        case interruptedSegment
        /// EXT-X-PLAYLIST-TYPE is VOD, and EXT-X-ENDLIST is missing.
        case missingEnd
        /// The text ends within the name of a tag: the rest of it is lost.
        case truncated
        /// Tags of multivariant and of media playlists in one text (RFC 8216 §4.1).
        case mixedTags
        /// An attribute list that cannot be split into names and values (RFC 8216 §4.2).
        case malformedAttributes
        case missingAttribute, badValue
        /// EXTINF or EXT-X-STREAM-INF without a URI line after it.
        case missingURI
        /// A URI line without EXTINF or EXT-X-STREAM-INF before it.
        case unannouncedURI
        /// EXT-X-BYTERANGE without an offset where no sub-range of the same resource precedes (RFC 8216 §4.3.2.2).
        case missingOffset
        /// A tag that may occur once occurs again with another value.
        case duplicateTag
        /// EXT-X-DEFINE finds no value for a variable, or a reference precedes its definition (rfc8216bis §4.3).
        case missingVariable
        /// The response to X-ASSET-LIST is not the JSON of rfc8216bis appendix D.3.
        case badAssetList
        /// A new URI contains a character that would end its line or its quotes.
        case unsafeName
    }

    /// Kind of error.
    public let code: Code
    /// Line number, from 1; nil if the error concerns the whole text.
    public let line: Int?
    /// Description without a full stop, fit to follow "line 3: ".
    public let reason: String
    /// The beginning of the line, at most 80 bytes without a query or other secrets: safe for a log.
    public let excerpt: String

    /// Creates an error. `excerpt` must come from `excerpt(of:)`, which removes secrets.
    init(_ code: Code, line: Int? = nil, _ reason: String, excerpt: String = "") {
        self.code = code
        self.line = line
        self.reason = reason
        self.excerpt = excerpt
    }

    /// One sentence: line, reason and excerpt.
    public var description: String {
        var text = reason
        if let line {
            text = "line \(line): " + text
        }
        if !excerpt.isEmpty {
            text += " (\(excerpt))"
        }
        return text
    }

    /// Returns the first 80 bytes of a line in a form that a log may show. Escapes control characters, and removes
    /// possible secrets: the query, the user part of a URL, and the key in a `data:` URI.
    static func excerpt(of bytes: ArraySlice<UInt8>) -> String {
        let secret = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
        var marks = ["data:"]
        if bytes.contains(UInt8(ascii: "@")) {
            marks.append("://")
        }
        let ends = marks.compactMap { Self.end(of: $0, in: bytes) }
        let end = min(ends.min() ?? secret, secret)
        let shown = min(end, bytes.startIndex + min(80, bytes.count))
        let text = Printable.line(String(decoding: bytes[..<shown], as: UTF8.self))
        guard shown < bytes.endIndex else { return text }
        return text + "…"
    }

    static func excerpt(of text: String) -> String { excerpt(of: Array(text.utf8)[...]) }

    /// Returns the index after the first occurrence of a mark; letters match in either case.
    private static func end(of mark: String, in bytes: ArraySlice<UInt8>) -> Int? {
        let wanted = Array(mark.utf8)
        let start = bytes.indices.first { start in
            bytes.endIndex - start >= wanted.count
                && zip(bytes[start...], wanted).allSatisfy { $0 == $1 || ($1 >= 0x61 && $0 | 0x20 == $1) }
        }
        return start.map { $0 + wanted.count }
    }
}
