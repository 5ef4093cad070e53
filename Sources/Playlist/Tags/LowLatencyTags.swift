/// EXT-X-SERVER-CONTROL (rfc8216bis §4.4.3.8): the delivery directives (§6.2.5) that the origin supports.
public struct ServerControl: Hashable, Sendable {
    /// CAN-SKIP-UNTIL: the distance from the end, in seconds, beyond which segments may be skipped; nil if the origin
    /// does not support `_HLS_skip`.
    public let canSkipUntil: Double?
    /// CAN-SKIP-DATERANGES=YES: the origin also supports `_HLS_skip=v2`.
    public let canSkipDateRanges: Bool
    /// HOLD-BACK: the minimum distance from the end for players, in seconds.
    public let holdBack: Double?
    /// PART-HOLD-BACK: the minimum distance for players that play parts, in seconds.
    public let partHoldBack: Double?
    /// CAN-BLOCK-RELOAD=YES: the origin supports `_HLS_msn` and `_HLS_part`.
    public let canBlockReload: Bool
    /// Line number, from 1.
    public let line: Int

    init(_ text: PlaylistText, _ line: Int, _ limits: PlaylistLimits) throws(PlaylistError) {
        let attributes = try text.attributes(line, limits)
        canSkipUntil = try attributes.decimalFloat("CAN-SKIP-UNTIL")
        canSkipDateRanges = attributes.flag("CAN-SKIP-DATERANGES")
        holdBack = try attributes.decimalFloat("HOLD-BACK")
        partHoldBack = try attributes.decimalFloat("PART-HOLD-BACK")
        canBlockReload = attributes.flag("CAN-BLOCK-RELOAD")
        self.line = line + 1
    }
}

/// EXT-X-PART-INF (rfc8216bis §4.4.3.7).
enum PartInf {
    /// Returns PART-TARGET: the maximum duration of a part, in seconds.
    static func target(_ text: PlaylistText, _ line: Int, _ limits: PlaylistLimits) throws(PlaylistError) -> Double {
        guard let target = try text.attributes(line, limits).decimalFloat("PART-TARGET"), target <= Inf.longest else {
            throw text.error(.missingAttribute, line, "EXT-X-PART-INF without PART-TARGET")
        }
        return target
    }
}

/// EXT-X-SKIP (rfc8216bis §4.4.5.2): the segments that a delta update omits.
public struct Skip: Hashable, Sendable {
    /// SKIPPED-SEGMENTS: number of omitted segments of the earlier text, from 0.
    public let segments: Int
    /// RECENTLY-REMOVED-DATERANGES: IDs of date ranges that were recently removed from the playlist.
    public let removedDateRanges: [String]
    /// Line number, from 1.
    public let line: Int

    /// Parses a line. `largest` limits the count, so that sequence numbers cannot overflow.
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

/// One EXT-X-PRELOAD-HINT (rfc8216bis §4.4.5.3): a resource that a player will need next and may request now.
public struct PreloadHint: Sendable {
    /// TYPE.
    public enum Kind: Sendable {
        /// PART: the next partial segment.
        case part
        /// MAP: the next initialization section.
        case map
        /// An unknown type, which players ignore.
        case other
    }

    /// TYPE.
    public let kind: Kind
    /// URI as written.
    public let uri: String
    /// BYTERANGE-START, the offset of the first byte; 0 if absent.
    public let start: Int
    /// BYTERANGE-LENGTH in bytes; nil if the hint extends to the resource's end, which may not be known yet.
    public let length: Int?
    /// Line number, from 1.
    public let line: Int

    /// True if the hint names only a part of the resource, so that the request needs a range.
    public var isRange: Bool { start > 0 || length != nil }

    init(_ text: PlaylistText, _ line: Int, _ limits: PlaylistLimits) throws(PlaylistError) {
        let attributes = try text.attributes(line, limits)
        switch try attributes.required("TYPE") {
        case "PART": kind = .part
        case "MAP": kind = .map
        default: kind = .other
        }
        uri = try attributes.required("URI")
        start = try attributes.decimalInteger("BYTERANGE-START") ?? 0
        length = try attributes.decimalInteger("BYTERANGE-LENGTH")
        self.line = line + 1
        if let length, SubRange(offset: start, length: length) == nil {
            throw text.error(.badValue, line, "the byte range is empty or too large")
        }
    }
}

/// One EXT-X-RENDITION-REPORT (rfc8216bis §4.4.5.4): the current end of another rendition of the presentation.
public struct RenditionReport: Sendable {
    /// URI of the other media playlist as written, relative to this playlist.
    public let uri: String
    /// LAST-MSN: media sequence number of its last segment, complete or not; nil if absent.
    public let lastMediaSequenceNumber: Int?
    /// LAST-PART: Part Index of its last part; nil if absent.
    public let lastPart: Int?
    /// Line number, from 1.
    public let line: Int

    init(_ text: PlaylistText, _ line: Int, _ limits: PlaylistLimits) throws(PlaylistError) {
        let attributes = try text.attributes(line, limits)
        uri = try attributes.required("URI")
        lastMediaSequenceNumber = try attributes.decimalInteger("LAST-MSN")
        lastPart = try attributes.decimalInteger("LAST-PART")
        self.line = line + 1
    }
}
