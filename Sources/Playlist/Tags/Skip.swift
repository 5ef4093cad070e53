/// EXT-X-SKIP (rfc8216bis §4.4.5.2): what a delta update leaves out.
public struct Skip: Hashable, Sendable {
    /// SKIPPED-SEGMENTS: how many segments of the earlier text it stands for, from 0.
    public let segments: Int
    /// RECENTLY-REMOVED-DATERANGES: the IDs of date ranges that were taken out of the playlist of late.
    public let removedDateRanges: [String]
    /// The number of the line, from 1.
    public let line: Int

    /// Reads a line; `largest` bounds the count, so that sequence numbers cannot overflow.
    init(_ text: PlaylistText, _ line: Int, largest: Int, _ limits: PlaylistLimits) throws(PlaylistError) {
        let attributes = try text.attributes(line, limits)
        guard let count = try attributes.decimalInteger("SKIPPED-SEGMENTS") else {
            throw text.error(.missingAttribute, line, "EXT-X-SKIP without SKIPPED-SEGMENTS")
        }
        if count > largest { throw text.error(.badValue, line, "SKIPPED-SEGMENTS is too large") }
        segments = count
        let removed = attributes["RECENTLY-REMOVED-DATERANGES"] ?? ""
        removedDateRanges = removed.utf8.split(separator: 0x09).map { String(Substring($0)) }
        self.line = line + 1
    }
}
