/// The low-latency tags of a media playlist: parts and delivery directives (rfc8216bis §4.4.3.7, §4.4.3.8, §4.4.4.9, §4.4.5).
struct LowLatency: Sendable {
    private(set) var parts: [PartialSegment.Record] = []
    private(set) var preloadHints: [PreloadHint] = []
    private(set) var renditionReports: [RenditionReport] = []
    /// EXT-X-SERVER-CONTROL; the last one if repeated.
    private(set) var serverControl: ServerControl?
    private(set) var partTarget: MediaDuration?
    private(set) var skip: Skip?
    private(set) var isUsed = false
    /// The number of all that needs a name.
    var count: Int { parts.count + preloadHints.count + renditionReports.count }

    /// Position of a line: index of the next segment, and indices of the key set and of the initialization section in force.
    struct Position {
        let segment, keySet, map: Int32
    }

    mutating func read(
        _ tag: Tag, of text: PlaylistText, line: Int, at position: Position
    ) throws(PlaylistError) {
        isUsed = true
        switch tag {
        case .partInf: partTarget = try PartInf.target(text, line)
        case .serverControl: serverControl = try ServerControl(text, line)
        case .preloadHint: preloadHints.append(try PreloadHint(text, line, index: preloadHints.count))
        case .renditionReport: renditionReports.append(try RenditionReport(text, line, index: renditionReports.count))
        case .skip: skip = try Skip(text, line, largest: SequenceNumber.largestInPlaylist)
        case .part:
            parts.append(try PartialSegment.parse(text, line, previous: parts.last, at: position))
        default: break
        }
    }
}

extension MediaPlaylist {
    /// EXT-X-PART lines in order: parts of the last segments, and of the incomplete one.
    public var parts: [PartialSegment] {
        storage.lowLatency.parts.indices.map { PartialSegment(storage: storage, index: $0) }
    }

    /// The last one of `parts`.
    public var lastPart: PartialSegment? {
        let parts = storage.lowLatency.parts
        guard !parts.isEmpty else { return nil }
        return PartialSegment(storage: storage, index: parts.count - 1)
    }

    /// EXT-X-PRELOAD-HINT lines in order.
    public var preloadHints: [PreloadHint] { storage.lowLatency.preloadHints }
    /// EXT-X-RENDITION-REPORT lines in order.
    public var renditionReports: [RenditionReport] { storage.lowLatency.renditionReports }
    /// EXT-X-SERVER-CONTROL; nil if the origin supports no delivery directive.
    public var serverControl: ServerControl? { storage.lowLatency.serverControl }
    /// PART-TARGET in seconds; nil without EXT-X-PART-INF.
    public var partTarget: MediaDuration? { storage.lowLatency.partTarget }
    /// EXT-X-SKIP; nil in a full playlist.
    public var skip: Skip? { storage.lowLatency.skip }
    /// Number of segments that EXT-X-SKIP omits; nil in a full playlist.
    public var skippedSegments: Int? { skip?.segments }
    /// True if EXT-X-SKIP omits segments. Such a text is useful only together with an earlier one.
    public var isDeltaUpdate: Bool { skip != nil }
    /// True if the playlist has any low-latency tag (rfc8216bis appendix B).
    public var isLowLatency: Bool { storage.lowLatency.isUsed }
}

/// EXT-X-SERVER-CONTROL (rfc8216bis §4.4.3.8): the delivery directives (§6.2.5) that the origin supports.
public struct ServerControl: Hashable, Sendable {
    /// CAN-SKIP-UNTIL: seconds from the end beyond which segments may be skipped; nil if the origin lacks `_HLS_skip`.
    public let canSkipUntil: MediaDuration?
    /// CAN-SKIP-DATERANGES=YES: the origin also supports `_HLS_skip=v2`.
    public let canSkipDateRanges: Bool
    /// HOLD-BACK: the minimum distance from the end for players, in seconds.
    public let holdBack: MediaDuration?
    /// PART-HOLD-BACK: the minimum distance for players that play parts, in seconds.
    public let partHoldBack: MediaDuration?
    /// CAN-BLOCK-RELOAD=YES: the origin supports `_HLS_msn` and `_HLS_part`.
    public let canBlockReload: Bool
    /// Line number, from 1.
    public let line: Int

    init(_ text: PlaylistText, _ line: Int) throws(PlaylistError) {
        let attributes = text.attributes(line)
        canSkipUntil = try attributes.duration("CAN-SKIP-UNTIL")
        canSkipDateRanges = attributes.flag("CAN-SKIP-DATERANGES")
        holdBack = try attributes.duration("HOLD-BACK")
        partHoldBack = try attributes.duration("PART-HOLD-BACK")
        canBlockReload = attributes.flag("CAN-BLOCK-RELOAD")
        self.line = line + 1
    }
}

/// EXT-X-PART-INF (rfc8216bis §4.4.3.7).
enum PartInf {
    static func target(_ text: PlaylistText, _ line: Int) throws(PlaylistError) -> MediaDuration {
        guard let target = try text.attributes(line).duration("PART-TARGET"), target.seconds <= Inf.longest else {
            throw text.error(.missingAttribute, line: line, "EXT-X-PART-INF without PART-TARGET")
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
    init(_ text: PlaylistText, _ line: Int, largest: Int) throws(PlaylistError) {
        let attributes = text.attributes(line)
        guard let count = try attributes.decimalInteger("SKIPPED-SEGMENTS") else {
            throw text.error(.missingAttribute, line: line, "EXT-X-SKIP without SKIPPED-SEGMENTS")
        }
        if count > largest {
            throw text.error(.badValue, line: line, "SKIPPED-SEGMENTS is too large")
        }
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
        /// `other` stands for unknown types, which players ignore.
        case part, map, other
    }

    /// Index among the playlist's hints, from 0.
    public let index: Int
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

    init(_ text: PlaylistText, _ line: Int, index: Int) throws(PlaylistError) {
        let attributes = text.attributes(line)
        self.index = index
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
            throw text.error(.badValue, line: line, "the byte range is empty or too large")
        }
    }
}

/// One EXT-X-RENDITION-REPORT (rfc8216bis §4.4.5.4): the current end of another rendition of the presentation.
public struct RenditionReport: Sendable {
    /// Index among the playlist's reports, from 0.
    public let index: Int
    /// URI of the other media playlist as written, relative to this playlist.
    public let uri: String
    /// LAST-MSN: media sequence number of its last segment, complete or not; nil if absent.
    public let lastMediaSequenceNumber: SequenceNumber?
    /// LAST-PART: Part Index of its last part; nil if absent.
    public let lastPart: Int?
    /// Line number, from 1.
    public let line: Int

    init(_ text: PlaylistText, _ line: Int, index: Int) throws(PlaylistError) {
        let attributes = text.attributes(line)
        self.index = index
        uri = try attributes.required("URI")
        lastMediaSequenceNumber = try attributes.decimalInteger("LAST-MSN").map { SequenceNumber($0) }
        lastPart = try attributes.decimalInteger("LAST-PART")
        self.line = line + 1
    }
}
