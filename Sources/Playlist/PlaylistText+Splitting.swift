/// The checks and the one pass that turn bytes into lines.
extension PlaylistText {
    /// Refuses what is plainly no playlist, and says what it is, before anything else is looked at.
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

    /// What a body without `#EXTM3U` seems to be.
    private static func guess(_ bytes: ArraySlice<UInt8>) -> String {
        if bytes.starts(with: [0x1F, 0x8B]) { return "gzip data" }
        switch bytes.first(where: { !$0.isBlank && $0 != 0x0A && $0 != 0x0D }) {
        case nil: return "an empty body"
        case UInt8(ascii: "<"): return "HTML or XML"
        case UInt8(ascii: "{"), UInt8(ascii: "["): return "JSON"
        default: return bytes.prefix(512).contains { $0 == 0 || $0 >= 0xF8 } ? "binary data" : "other text"
        }
    }

    /// Refuses what is not UTF-8 and names the line.
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

    /// Splits at LF; carriage returns before it belong to the terminator, anywhere else they are refused, because some
    /// readers would see another line there.
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
            if bytes[end] == 0 { throw fault(.controlCharacter, line, "a NUL byte", bytes[start..<end]) }
            if bytes[end] == 0x0D, firstReturn < 0 { firstReturn = end }
            end += 1
        }
        let next = min(end + 1, bytes.count)
        while end > start, bytes[end - 1] == 0x0D { end -= 1 }
        if firstReturn >= 0, firstReturn < end {
            throw fault(.controlCharacter, line, "a carriage return within the line", bytes[start..<end])
        }
        if end - start > min(limits.lineBytes, Int(UInt16.max)) {
            throw fault(.overLimit, line, "the line is longer than \(limits.lineBytes) bytes", bytes[start..<end])
        }
        return (start..<end, next)
    }

    /// Refuses a last line without an end that is the beginning of a tag's name: a text that was cut there lacks
    /// segments, or the EXT-X-ENDLIST without which players wait for more.
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
