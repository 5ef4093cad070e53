/// Parses the lines of a media playlist in one pass. Keeps the tags for the next URI line, and those in force until replaced.
struct MediaPlaylistParser {
    /// Tags that apply only to the next URI line. Lines are indices; -1 if absent.
    private struct Pending {
        var infLine: Int32 = -1
        var duration = MediaDuration.zero
        var rangeLine: Int32 = -1
        var dateLine: Int32 = -1
        var isDiscontinuity = false
        var isGap = false
    }

    let text: PlaylistText
    var header = MediaPlaylist.Header()
    var segments: [Segment.Record] = []
    var duration = MediaDuration.zero
    var facts = SegmentFacts()
    var keys = KeyScope()
    var maps: [Map.Record] = []
    var lowLatency = LowLatency()
    var dateRanges: [DateRange] = []
    /// EXT-X-BITRATE in force, in kilobits per second; 0 without one.
    private var bitRate: Int32 = 0
    private var mapIndices: [MapIdentity: Int32] = [:]
    private var pending = Pending()

    /// Facts about all segments together, so that nothing needs to walk through a million of them.
    struct SegmentFacts: Sendable {
        var gaps = 0
        /// Indices of the segments with EXT-X-DISCONTINUITY.
        var discontinuities: [Int32] = []
        /// Index of the first segment with EXT-X-PROGRAM-DATE-TIME.
        var firstDated: Int32?

        mutating func add(_ segment: Segment.Record, at index: Int) {
            if segment.isGap {
                gaps += 1
            }
            if segment.isDiscontinuity {
                discontinuities.append(Int32(index))
            }
            if segment.dateLine >= 0, firstDated == nil {
                firstDated = Int32(index)
            }
        }
    }

    private struct MapIdentity: Hashable {
        let uri: String
        let byteRange: SubRange?
    }

    init(text: PlaylistText) { self.text = text }

    mutating func run() throws(PlaylistError) {
        segments.reserveCapacity(min(text.limits.segments, text.lines.count / 2))
        for line in text.lines.indices {
            switch text.lines[line].kind {
            case .blank, .comment: break
            case .uri: try addSegment(line)
            case .tag(let tag): try read(tag, line)
            }
        }
        if pending.infLine >= 0 {
            throw text.error(.missingURI, line: Int(pending.infLine), "no URI follows the EXTINF")
        }
        if !header.hasEndList {
            try checkLiveLimits()
        }
    }

    private func checkLiveLimits() throws(PlaylistError) {
        if mapIndices.count + lowLatency.count > text.limits.liveResources {
            throw PlaylistError(
                .overLimit,
                "a live playlist with more than \(text.limits.liveResources) sections, parts, hints and reports")
        }
        if keys.count > text.limits.liveKeys {
            throw PlaylistError(.overLimit, "a live playlist with more than \(text.limits.liveKeys) keys")
        }
    }

    private mutating func read(_ tag: Tag, _ line: Int) throws(PlaylistError) {
        switch tag {
        case .inf: try readInf(line)
        case .byteRange: try readByteRange(line)
        case .key: try keys.read(text, line)
        case .map: try readMap(line)
        case .programDateTime: pending.dateLine = Int32(line)
        case .discontinuity: pending.isDiscontinuity = true
        case .gap: pending.isGap = true
        case .bitrate: bitRate = statedBitRate(line)
        case .dateRange: dateRanges.append(try DateRange(text, line, index: dateRanges.count))
        default: try readHeader(tag, line)
        }
    }

    private mutating func readHeader(_ tag: Tag, _ line: Int) throws(PlaylistError) {
        switch tag {
        case .version: header.version = try integer(line)
        case .targetDuration: header.targetDuration = try targetDuration(line)
        case .mediaSequence: header.mediaSequence = try sequence(line, header.mediaSequence)
        case .discontinuitySequence: header.discontinuitySequence = try sequence(line, header.discontinuitySequence)
        case .playlistType: header.playlistType = playlistType(line)
        case .endList: header.hasEndList = true
        case .iFramesOnly: header.isIFramesOnly = true
        case .independentSegments: header.hasIndependentSegments = true
        case .start: header.start = try Start(text, line) ?? header.start
        default:
            if tag.isLowLatency {
                try readLowLatency(tag, line)
            }
        }
    }

    private func statedBitRate(_ line: Int) -> Int32 {
        guard let rate = text.bytes.decimalInteger(text.value(line)) else { return 0 }
        return Int32(exactly: rate) ?? 0
    }
    private mutating func readLowLatency(_ tag: Tag, _ line: Int) throws(PlaylistError) {
        var keySet: Int32 = -1
        if tag == .part {
            keySet = keys.current()
        }
        let position = LowLatency.Position(
            segment: Int32(segments.count), keySet: keySet, map: Int32(maps.count) - 1)
        try lowLatency.read(tag, of: text, line: line, at: position)
        header.skippedSegments = lowLatency.skip?.segments ?? 0
    }

    private mutating func readInf(_ line: Int) throws(PlaylistError) {
        if pending.infLine >= 0 {
            throw text.error(.missingURI, line: Int(pending.infLine), "no URI follows the EXTINF")
        }
        pending.duration = try Inf.duration(text, line)
        pending.infLine = Int32(line)
    }

    private mutating func readByteRange(_ line: Int) throws(PlaylistError) {
        if pending.rangeLine >= 0 {
            throw text.error(.duplicateTag, line: line, "the segment has a second byte range")
        }
        pending.rangeLine = Int32(line)
    }

    private mutating func readMap(_ line: Int) throws(PlaylistError) {
        var map = try Map.parse(text, line)
        let identity = MapIdentity(uri: text.bytes.text(map.uri.range), byteRange: map.byteRange)
        map.index = mapIndices[identity] ?? Int32(mapIndices.count)
        mapIndices[identity] = map.index
        map.keySet = keys.current()
        maps.append(map)
    }

    private mutating func addSegment(_ line: Int) throws(PlaylistError) {
        guard pending.infLine >= 0 else {
            throw text.error(.unannouncedURI, line: line, "a URI without an EXTINF before it")
        }
        if segments.count == text.limits.segments {
            throw text.error(.overLimit, line: line, "more than \(text.limits.segments) segments")
        }
        segments.append(
            Segment.Record(
                infLine: pending.infLine, uriLine: Int32(line), rangeLine: pending.rangeLine,
                dateLine: pending.dateLine, keySet: keys.current(), map: Int32(maps.count) - 1,
                bitRate: bitRate, isDiscontinuity: pending.isDiscontinuity, isGap: pending.isGap,
                duration: pending.duration,
                byteRange: try byteRange(line)))
        facts.add(segments[segments.count - 1], at: segments.count - 1)
        duration += pending.duration
        pending = Pending()
    }

    private func byteRange(_ line: Int) throws(PlaylistError) -> SubRange? {
        guard pending.rangeLine >= 0 else { return nil }
        return try ByteRangeTag.resolve(
            text, Int(pending.rangeLine), value: text.value(Int(pending.rangeLine)), previous: segments.last?.byteRange)
    }
}

/// Values of the tags that apply to the whole playlist (RFC 8216 §4.3.3).
extension MediaPlaylistParser {
    private func integer(_ line: Int) throws(PlaylistError) -> Int {
        guard let value = text.bytes.decimalInteger(text.value(line)) else {
            throw text.error(.badValue, line: line, "the value is not a decimal integer")
        }
        return value
    }

    /// Parses a sequence number. A repeated tag must have the same value.
    private func sequence(_ line: Int, _ known: SequenceNumber?) throws(PlaylistError) -> SequenceNumber {
        guard let value = SequenceNumber(inPlaylist: try integer(line)) else {
            throw text.error(.badValue, line: line, "the sequence number is too large")
        }
        if let known, known != value {
            throw text.error(.duplicateTag, line: line, "the sequence number is repeated with another value")
        }
        return value
    }

    /// Parses seconds. A fraction, which some packagers write, is rounded up.
    private func targetDuration(_ line: Int) throws(PlaylistError) -> Int {
        guard let value = text.bytes.decimalFloat(text.value(line)), value <= Inf.longest else {
            throw text.error(.badValue, line: line, "the target duration is not a decimal integer")
        }
        return MediaDuration(seconds: value).roundedUp
    }

    private func playlistType(_ line: Int) -> MediaPlaylist.PlaylistType? {
        let value = text.value(line)
        if text.bytes.matches(value, "VOD") {
            return .vod
        }
        guard text.bytes.matches(value, "EVENT") else { return nil }
        return .event
    }
}
