/// A media playlist (RFC 8216 §4.3.3): the media segments of one rendition.
///
/// The playlist, its segments, keys and maps are views of one shared, immutable storage, so copies are cheap.
public struct MediaPlaylist: Sendable {
    /// EXT-X-PLAYLIST-TYPE.
    public enum PlaylistType: Sendable {
        case event
        case vod
    }

    /// Tags that apply to the whole playlist.
    struct Header: Sendable {
        var version = 1
        var targetDuration: Int?
        var mediaSequence: Int?
        var discontinuitySequence: Int?
        var playlistType: PlaylistType?
        var hasEndList = false
        var isIFramesOnly = false
        var hasIndependentSegments = false
        var start: Start?
        /// Number of segments that EXT-X-SKIP omits.
        var skippedSegments = 0

        /// Media sequence number of the first listed segment.
        var firstSequenceNumber: Int { (mediaSequence ?? 0) + skippedSegments }
    }

    /// The parsed content.
    ///
    /// Key sets hold indices into `keyRecords`. `keyOccurrences` holds one such index per EXT-X-KEY line, in order.
    final class Storage: Sendable {
        let text: PlaylistText
        let header: Header
        let segments: [Segment.Record]
        let duration: Double
        let keyRecords: [Key.Record]
        let keyOccurrences: [Int32]
        let keySets: [[Int32]]
        let mapRecords: [Map.Record]
        let lowLatency: LowLatency
        let dateRanges: [DateRange]

        init(_ parser: MediaPlaylistParser) {
            text = parser.text
            header = parser.header
            segments = parser.segments
            duration = parser.duration
            keyRecords = parser.keys.records
            keyOccurrences = parser.keys.occurrences
            keySets = parser.keys.sets
            mapRecords = parser.maps
            lowLatency = parser.lowLatency
            dateRanges = parser.dateRanges
        }

        /// Returns the keys of a set; none for -1.
        func keys(inSet set: Int32) -> [Key] {
            set < 0 ? [] : keySets[Int(set)].map { Key(text: text, record: keyRecords[Int($0)]) }
        }

        /// Returns the EXT-X-MAP at an index among all such lines; nil for -1.
        func map(_ index: Int) -> Map? {
            index < 0 ? nil : Map(storage: self, record: mapRecords[index])
        }
    }

    let storage: Storage

    /// The parsed text.
    public var text: PlaylistText { storage.text }

    /// EXT-X-VERSION, 1 if absent. May be higher than any known version.
    public var version: Int { storage.header.version }

    /// EXT-X-TARGETDURATION in seconds; nil if absent, which players accept.
    public var targetDuration: Int? { storage.header.targetDuration }

    /// EXT-X-MEDIA-SEQUENCE, 0 if absent.
    public var mediaSequence: Int { storage.header.mediaSequence ?? 0 }

    /// EXT-X-DISCONTINUITY-SEQUENCE, 0 if absent.
    public var discontinuitySequence: Int { storage.header.discontinuitySequence ?? 0 }

    /// EXT-X-PLAYLIST-TYPE; nil if absent or unknown.
    public var playlistType: PlaylistType? { storage.header.playlistType }

    /// True if EXT-X-ENDLIST is present: no segment will be added.
    public var hasEndList: Bool { storage.header.hasEndList }

    /// True without EXT-X-ENDLIST, regardless of the playlist type: segments may still be added.
    public var isLive: Bool { !hasEndList }

    /// True if EXT-X-I-FRAMES-ONLY is present: each segment is one I-frame.
    public var isIFramesOnly: Bool { storage.header.isIFramesOnly }

    /// True if EXT-X-INDEPENDENT-SEGMENTS is present: each segment can be decoded without the previous one.
    public var hasIndependentSegments: Bool { storage.header.hasIndependentSegments }

    /// EXT-X-START; nil if absent.
    public var start: Start? { storage.header.start }

    /// EXT-X-DATERANGE lines in order.
    public var dateRanges: [DateRange] { storage.dateRanges }

    /// Sum of the segments' durations, in seconds.
    public var duration: Double { storage.duration }

    /// The media segments.
    public var segments: Segments { Segments(storage: storage) }

    /// The distinct keys by URI and KEYFORMAT, in order of first appearance. Each represents all lines with its
    /// `index`.
    public var keys: [Key] {
        var found: [Key] = []
        for record in storage.keyRecords where Int(record.index) == found.count {
            found.append(Key(text: text, record: record))
        }
        return found
    }

    /// The distinct initialization sections by URI and BYTERANGE, in order of first appearance.
    public var maps: [Map] {
        var found: [Map] = []
        for record in storage.mapRecords where Int(record.index) == found.count {
            found.append(Map(storage: storage, record: record))
        }
        return found
    }

    /// Parses a text that `Playlist` has recognized as a media playlist.
    init(_ text: PlaylistText, _ limits: PlaylistLimits) throws(PlaylistError) {
        var parser = MediaPlaylistParser(text: text, limits: limits)
        try parser.run()
        storage = Storage(parser)
    }
}
