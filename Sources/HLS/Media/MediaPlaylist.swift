/// A media playlist (RFC 8216 §4.3.3): the media segments of one rendition.
///
/// The playlist, its segments, keys and maps are views of one shared, immutable storage, so copies are cheap.
public struct MediaPlaylist: Equatable, Sendable {
    /// EXT-X-PLAYLIST-TYPE.
    public enum PlaylistType: Sendable { case event, vod }

    struct Header: Sendable {
        var version = 1
        var targetDuration: Int?
        var mediaSequence, discontinuitySequence: SequenceNumber?
        var playlistType: PlaylistType?
        var hasEndList = false
        var isIFramesOnly = false
        var hasIndependentSegments = false
        var start: Start?
        var skippedSegments = 0
        /// Media sequence number of the first listed segment.
        var firstSequenceNumber: SequenceNumber { (mediaSequence ?? 0) + skippedSegments }
    }

    /// The parsed content. Key sets, and `keyOccurrences` for each EXT-X-KEY line, hold indices into `keyRecords`.
    final class Storage: Sendable {
        let text: PlaylistText
        let header: Header
        let segments: [Segment.Record]
        let duration: MediaDuration
        let facts: MediaPlaylistParser.SegmentFacts
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
            facts = parser.facts
            keyRecords = parser.keys.records
            keyOccurrences = parser.keys.occurrences
            keySets = parser.keys.sets
            mapRecords = parser.maps
            lowLatency = parser.lowLatency
            dateRanges = parser.dateRanges
        }

        /// Gives the memory of a long playlist back on another thread: for a million segments the system needs 10 ms, wherever the
        /// last user happens to be.
        deinit {
            guard segments.count > Self.longCount else { return }
            let parts = (text, segments, facts)
            Task.detached(priority: .utility) { withExtendedLifetime(parts) {} }
        }

        private static let longCount = 50_000

        func keys(inSet set: Int32) -> [Key] {
            guard set >= 0 else { return [] }
            return keySets[Int(set)].map { Key(text: text, record: keyRecords[Int($0)]) }
        }

        /// Returns the EXT-X-MAP at an index among all such lines; nil for -1.
        func map(_ index: Int) -> Map? {
            guard index >= 0 else { return nil }
            return Map(storage: self, record: mapRecords[index])
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
    public var mediaSequence: SequenceNumber { storage.header.mediaSequence ?? 0 }
    /// EXT-X-DISCONTINUITY-SEQUENCE, 0 if absent.
    public var discontinuitySequence: SequenceNumber { storage.header.discontinuitySequence ?? 0 }
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
    /// Sum of the segments' durations.
    public var duration: MediaDuration { storage.duration }
    /// True if both have exactly the same text, with variables replaced. Fast for copies.
    public static func == (left: Self, right: Self) -> Bool {
        left.storage === right.storage || left.text.bytes == right.text.bytes
    }

    /// The number of segments with EXT-X-GAP.
    public var gapCount: Int { storage.facts.gaps }
    /// The number of EXT-X-DISCONTINUITY tags up to a segment, by its index.
    public func discontinuities(upTo index: Int) -> Int {
        let all = storage.facts.discontinuities
        var low = 0
        var high = all.count
        while low < high {
            let middle = (low + high) / 2
            if all[middle] <= index {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }

    /// The first segment with EXT-X-PROGRAM-DATE-TIME; nil if none has it.
    public var firstDatedSegment: Segment? { storage.facts.firstDated.map { segments[Int($0)] } }
    /// The media segments.
    public var segments: Segments { Segments(storage: storage) }

    /// The distinct keys by URI and KEYFORMAT, in order of first appearance. Each represents all lines with its `index`.
    public var keys: [Key] {
        storage.keyRecords.reduce(into: []) { found, record in
            if Int(record.index) == found.count {
                found.append(Key(text: text, record: record))
            }
        }
    }

    /// True if a segment, section or part needs a content decryption module: each of its keys in force does.
    public var needsDRM: Bool {
        storage.keySets.contains { indices in
            let keys = indices.map { Key(text: text, record: storage.keyRecords[Int($0)]) }
            return keys.contains(where: \.needsDRM) && !keys.contains(where: \.isFetchable)
        }
    }

    /// The `keys` of segments, sections and parts; others may stand in the text.
    public var usedKeys: [Key] {
        let used = Set(storage.keySets.joined().map { storage.keyRecords[Int($0)].index })
        return keys.filter { used.contains($0.record.index) }
    }

    /// True if a segment has an initialization section.
    public var hasMaps: Bool { !storage.mapRecords.isEmpty }

    /// The distinct initialization sections by URI and BYTERANGE, in order of first appearance.
    public var maps: [Map] {
        storage.mapRecords.reduce(into: []) { found, record in
            if Int(record.index) == found.count {
                found.append(Map(storage: storage, record: record))
            }
        }
    }

    init(_ text: PlaylistText) throws(PlaylistError) {
        var parser = MediaPlaylistParser(text: text)
        try parser.run()
        storage = Storage(parser)
    }
}
