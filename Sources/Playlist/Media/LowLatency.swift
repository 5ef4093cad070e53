/// The low-latency tags of a media playlist: parts and delivery directives (rfc8216bis §4.4.3.7, §4.4.3.8, §4.4.4.9,
/// §4.4.5).
struct LowLatency: Sendable {
    /// EXT-X-PART, in order.
    private(set) var parts: [PartialSegment.Record] = []
    /// EXT-X-PRELOAD-HINT, in order.
    private(set) var preloadHints: [PreloadHint] = []
    /// EXT-X-RENDITION-REPORT, in order.
    private(set) var renditionReports: [RenditionReport] = []
    /// EXT-X-SERVER-CONTROL; the last one if repeated.
    private(set) var serverControl: ServerControl?
    /// PART-TARGET of EXT-X-PART-INF, in seconds.
    private(set) var partTarget: Double?
    /// EXT-X-SKIP; nil in a full playlist.
    private(set) var skip: Skip?

    /// True if any low-latency tag was read.
    private(set) var isUsed = false

    /// Position of a line: index of the next segment, and indices of the key set and of the initialization section in
    /// force.
    struct Position {
        let segment: Int32
        let keySet: Int32
        let map: Int32
    }

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
    /// EXT-X-PART lines in order: parts of the last segments, and of the incomplete one.
    public var parts: [PartialSegment] {
        storage.lowLatency.parts.indices.map { PartialSegment(storage: storage, index: $0) }
    }

    /// EXT-X-PRELOAD-HINT lines in order.
    public var preloadHints: [PreloadHint] { storage.lowLatency.preloadHints }

    /// EXT-X-RENDITION-REPORT lines in order.
    public var renditionReports: [RenditionReport] { storage.lowLatency.renditionReports }

    /// EXT-X-SERVER-CONTROL; nil if the origin supports no delivery directive.
    public var serverControl: ServerControl? { storage.lowLatency.serverControl }

    /// PART-TARGET in seconds; nil without EXT-X-PART-INF.
    public var partTarget: Double? { storage.lowLatency.partTarget }

    /// EXT-X-SKIP; nil in a full playlist.
    public var skip: Skip? { storage.lowLatency.skip }

    /// Number of segments that EXT-X-SKIP omits; nil in a full playlist.
    public var skippedSegments: Int? { skip?.segments }

    /// True if EXT-X-SKIP omits segments. Such a text is useful only together with an earlier one.
    public var isDeltaUpdate: Bool { skip != nil }

    /// True if the playlist has any low-latency tag (rfc8216bis appendix B).
    public var isLowLatency: Bool { storage.lowLatency.isUsed }
}
