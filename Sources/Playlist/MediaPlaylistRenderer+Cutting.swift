/// What segments that were left out leave to the next one that stays.
struct SegmentCut {
    /// How many have been left out so far: by so much the numbers of those that stay have moved.
    var count = 0
    /// Whether the last segment was left out.
    var isAtNeighbour = false
    /// How many EXT-X-DISCONTINUITY lines were left out with them since the last segment that stayed: so many must come
    /// before the next one, or it would have another Discontinuity Sequence Number than in the other renditions.
    var discontinuities = 0
    /// When the next segment starts, by the last EXT-X-PROGRAM-DATE-TIME and the durations since; nil before the first.
    var clock: (date: DateTime, seconds: Double)?
}

/// Segments that EXT-X-GAP marks as absent are left out of a view that has ended, or grows from what is stored:
/// libavformat, VLC and others ask for them all the same, and some of them stop there. So is what a `MediaPlaylistCut`
/// names.
extension MediaPlaylistRenderer {
    /// Whether the segment whose lines are being written is left out.
    var isCut: Bool {
        guard canCut, nextSegment < storage.segments.count else { return false }
        return view.leavesOutGaps && storage.segments[nextSegment].isGap || selection?.leavesOut(nextSegment) ?? false
    }

    /// Whether anything is left out at all, wherever.
    private var canCut: Bool { view.leavesOutGaps || selection != nil }

    /// Writes a tag that is about one segment alone, or leaves it out with the segment.
    mutating func writeSegmentTag(_ tag: Tag, _ line: Int) throws(PlaylistError) {
        guard isCut else {
            if tag == .inf { try writeInf(line) }
            return
        }
        if tag == .discontinuity { cut.discontinuities += 1 }
        writer.drop(line: line)
    }

    /// What a cut before the segment has left to it goes before its EXTINF.
    private mutating func writeInf(_ line: Int) throws(PlaylistError) {
        if view.isMended, version.number < 3, isFractional(line) { version.need(3) }
        guard canCut, nextSegment < storage.segments.count else { return }
        let segment = Segment(storage: storage, index: nextSegment)
        if let text = segment.programDateTime, let date = DateTime(text) { cut.clock = (date, 0) }
        if cut.isAtNeighbour {
            var lines = [String](repeating: Tag.discontinuity.rawValue, count: discontinuities(before: segment))
            if segment.programDateTime == nil, let clock = cut.clock,
                let date = clock.date.adding(seconds: clock.seconds)
            {
                lines.append("\(Tag.programDateTime.rawValue):\(date)")
            }
            writer.insert(lines, beforeLine: line)
            cut.discontinuities = 0
        }
        cut.isAtNeighbour = false
        cut.clock?.seconds += segment.duration
    }

    /// How many EXT-X-DISCONTINUITY lines a cut leaves to the next segment, beside those that this has itself.
    private func discontinuities(before segment: Segment) -> Int {
        guard let selection else { return cut.discontinuities }
        // Nothing went before that it could be discontinuous with; the other renditions begin there, too.
        guard segment.index > cut.count else { return 0 }
        let isDue = selection.isMarked && !segment.isDiscontinuity
        return max(cut.discontinuities, isDue ? 1 : 0)
    }

    private func isFractional(_ line: Int) -> Bool {
        let inf = Inf(storage.text.bytes, storage.text.value(line))
        return storage.text.bytes.firstIndex(of: UInt8(ascii: "."), in: inf.duration) != nil
    }

    /// Leaves out the URI line of a segment.
    mutating func takeCut(_ line: Int) {
        let segment = Segment(storage: storage, index: nextSegment)
        if let text = segment.programDateTime, let date = DateTime(text) { cut.clock = (date, 0) }
        cut.clock?.seconds += segment.duration
        cut.count += 1
        cut.isAtNeighbour = true
        writer.drop(line: line)
    }

    /// After a cut, the media sequence number no longer is what the segment was encrypted with where no IV is given
    /// (RFC 8216 §5.2): the key is named again, with that number as its IV.
    mutating func restoreVectors(
        _ line: Int, _ naming: (MediaPlaylist.Reference) -> String?
    ) throws(PlaylistError) {
        guard cut.count > 0 else { return }
        let segment = Segment(storage: storage, index: nextSegment)
        for key in segment.keys where key.hasImplicitVector {
            var attributes = AttributeEdits()
            if let name = naming(.key(key)) { attributes.set("URI", .quoted(try view.checked(name))) }
            attributes.set("IV", .enumerated(Key.vector(forSequenceNumber: segment.mediaSequenceNumber)))
            version.need(2)
            writer.insert([try Key.line(key, attributes)], beforeLine: line)
        }
    }
}
