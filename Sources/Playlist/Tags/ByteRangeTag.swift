/// EXT-X-BYTERANGE (RFC 8216 §4.3.2.2).
enum ByteRangeTag {
    /// The sub-range of a segment or a part, written in the range `value` of a line, with its offset resolved: without
    /// one it begins where that of the segment or part before it ended, which must be of the same resource.
    static func resolve(
        _ text: PlaylistText, _ line: Int, value: Range<Int>, previous: (uri: Range<Int>, byteRange: SubRange)?,
        uri: Range<Int>
    ) throws(PlaylistError) -> SubRange {
        guard let parts = SubRange.parts(text.bytes, value) else {
            throw text.error(.badValue, line, "the byte range is not length@offset")
        }
        var offset = parts.offset
        if offset == nil, let previous, text.bytes.areEqual(previous.uri, uri) { offset = previous.byteRange.end }
        guard let offset else {
            throw text.error(.missingOffset, line, "no offset, and the segment before is not of the same resource")
        }
        guard let range = SubRange(offset: offset, length: parts.length) else {
            throw text.error(.badValue, line, "the byte range is empty or too large")
        }
        return range
    }

    /// Whether a line leaves its offset to the segment before it.
    static func isImplicit(_ text: PlaylistText, _ line: Int) -> Bool {
        text.bytes.firstIndex(of: UInt8(ascii: "@"), in: text.value(line)) == nil
    }
}
