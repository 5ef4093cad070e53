/// What a media playlist says of parts, and of how it may be asked for (rfc8216bis §4.4.3.7, §4.4.3.8, §4.4.4.9,
/// §4.4.5).
struct LowLatency: Sendable {
    /// EXT-X-PART, in order.
    private(set) var parts: [PartialSegment.Record] = []
    /// EXT-X-PRELOAD-HINT, in order.
    private(set) var preloadHints: [PreloadHint] = []
    /// EXT-X-RENDITION-REPORT, in order.
    private(set) var renditionReports: [RenditionReport] = []
    /// EXT-X-SERVER-CONTROL; the last, where there are several.
    private(set) var serverControl: ServerControl?
    /// PART-TARGET of EXT-X-PART-INF in seconds.
    private(set) var partTarget: Double?
    /// EXT-X-SKIP; nil in a whole playlist.
    private(set) var skip: Skip?

    /// Whether any tag was read.
    private(set) var isUsed = false

    /// Where a line stands: the place of the next segment, and the places of the keys and of the initialization section
    /// in force.
    struct Position {
        let segment: Int32
        let keySet: Int32
        let map: Int32
    }

    /// Reads a line.
    mutating func read(
        _ tag: Tag, _ text: PlaylistText, _ line: Int, at position: Position, _ limits: PlaylistLimits
    ) throws(PlaylistError) {
        isUsed = true
        switch tag {
        case .partInf: partTarget = try PartInf.target(text, line, limits)
        case .serverControl: serverControl = try ServerControl(text, line, limits)
        case .preloadHint: preloadHints.append(try PreloadHint(text, line, limits))
        case .renditionReport: renditionReports.append(try RenditionReport(text, line, limits))
        case .skip: skip = try Skip(text, line, largest: MediaPlaylistParser.largestSequence, limits)
        case .part:
            parts.append(try PartialSegment.parse(text, line, limits, previous: parts.last, at: position))
        default: break
        }
    }
}

extension MediaPlaylist {
    /// EXT-X-PART lines in order: those of the last segments, and of the one that is not whole yet.
    public var parts: [PartialSegment] {
        storage.lowLatency.parts.indices.map { PartialSegment(storage: storage, index: $0) }
    }

    /// EXT-X-PRELOAD-HINT lines in order.
    public var preloadHints: [PreloadHint] { storage.lowLatency.preloadHints }

    /// EXT-X-RENDITION-REPORT lines in order.
    public var renditionReports: [RenditionReport] { storage.lowLatency.renditionReports }

    /// EXT-X-SERVER-CONTROL; nil where the origin answers to no directive.
    public var serverControl: ServerControl? { storage.lowLatency.serverControl }

    /// PART-TARGET in seconds; nil without EXT-X-PART-INF.
    public var partTarget: Double? { storage.lowLatency.partTarget }

    /// EXT-X-SKIP; nil in a whole playlist.
    public var skip: Skip? { storage.lowLatency.skip }

    /// How many segments EXT-X-SKIP stands for; nil in a whole playlist.
    public var skippedSegments: Int? { skip?.segments }

    /// Whether EXT-X-SKIP stands for segments that are left out: such a text makes sense only with an earlier one.
    public var isDeltaUpdate: Bool { skip != nil }

    /// Whether any low-latency tag is there (rfc8216bis appendix B).
    public var isLowLatency: Bool { storage.lowLatency.isUsed }
}
