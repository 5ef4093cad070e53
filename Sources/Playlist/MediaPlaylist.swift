/// A media playlist (RFC 8216 §4.3.3): the media segments of one rendition.
///
/// A value whose parts are views of one shared, immutable store: copying it, its segments, keys and maps is cheap.
public struct MediaPlaylist: Sendable {
    /// EXT-X-PLAYLIST-TYPE.
    public enum PlaylistType: Sendable {
        case event
        case vod
    }

    /// What holds for the playlist as a whole.
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
        /// How many segments EXT-X-SKIP stands for.
        var skippedSegments = 0

        /// The media sequence number of the first segment that is listed.
        var firstSequenceNumber: Int { (mediaSequence ?? 0) + skippedSegments }
    }

    /// Everything that was read.
    ///
    /// Key sets hold indices into `keyRecords`; occurrences, one a line in order, do likewise.
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

        /// Takes over what the parser collected.
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

        /// The keys of a set; -1 is the empty set.
        func keys(inSet set: Int32) -> [Key] {
            set < 0 ? [] : keySets[Int(set)].map { Key(text: text, record: keyRecords[Int($0)]) }
        }

        /// The EXT-X-MAP of a place among all such lines; -1 is none.
        func map(_ place: Int) -> Map? {
            place < 0 ? nil : Map(storage: self, record: mapRecords[place])
        }
    }

    let storage: Storage

    /// The text that was read.
    public var text: PlaylistText { storage.text }

    /// EXT-X-VERSION, 1 where it is absent; may be higher than any that is known here.
    public var version: Int { storage.header.version }

    /// EXT-X-TARGETDURATION in seconds; nil where it is absent, which players tolerate.
    public var targetDuration: Int? { storage.header.targetDuration }

    /// EXT-X-MEDIA-SEQUENCE, 0 where it is absent.
    public var mediaSequence: Int { storage.header.mediaSequence ?? 0 }

    /// EXT-X-DISCONTINUITY-SEQUENCE, 0 where it is absent.
    public var discontinuitySequence: Int { storage.header.discontinuitySequence ?? 0 }

    /// EXT-X-PLAYLIST-TYPE; nil where it is absent or of no known type.
    public var playlistType: PlaylistType? { storage.header.playlistType }

    /// Whether EXT-X-ENDLIST is there: no segment will be added.
    public var hasEndList: Bool { storage.header.hasEndList }

    /// Whether segments may still be added: there is no EXT-X-ENDLIST, whatever the type says.
    public var isLive: Bool { !hasEndList }

    /// Whether EXT-X-I-FRAMES-ONLY is there: each segment is one I-frame.
    public var isIFramesOnly: Bool { storage.header.isIFramesOnly }

    /// Whether EXT-X-INDEPENDENT-SEGMENTS is there: each segment can be decoded without the one before.
    public var hasIndependentSegments: Bool { storage.header.hasIndependentSegments }

    /// EXT-X-START; nil without one.
    public var start: Start? { storage.header.start }

    /// EXT-X-DATERANGE lines in order.
    public var dateRanges: [DateRange] { storage.dateRanges }

    /// The sum of all durations, in seconds.
    public var duration: Double { storage.duration }

    /// The media segments.
    public var segments: Segments { Segments(storage: storage) }

    /// The distinct keys by URI and KEYFORMAT, in order of first appearance; each stands for all lines of its `index`.
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

    /// Reads a text that is known to be a media playlist.
    init(_ text: PlaylistText, _ limits: PlaylistLimits) throws(PlaylistError) {
        var parser = MediaPlaylistParser(text: text, limits: limits)
        try parser.run()
        storage = Storage(parser)
    }
}
