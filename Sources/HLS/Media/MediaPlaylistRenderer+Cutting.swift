/// State that omitted segments pass on to the next kept segment.
struct SegmentCut {
    /// Number of omitted segments so far: the offset by which the media sequence numbers of later segments have moved.
    var count = 0
    var isAtNeighbour = false
    /// Number of EXT-X-DISCONTINUITY lines omitted since the last kept segment. As many must precede the next one, or
    /// its Discontinuity Sequence Number would differ from the other renditions.
    var discontinuities = 0
    /// Start of the next segment, by the last EXT-X-PROGRAM-DATE-TIME and the durations since; nil before the first date.
    var clock: (date: DateTime, seconds: Double)?
}

/// Omission of segments. Finished views and growing recordings omit segments that EXT-X-GAP marks as missing, because
/// libavformat, VLC and others request them anyway, and some stop there; `keepsGaps` is for players that do not. All views omit
/// the segments of a `MediaPlaylistCut`.
extension MediaPlaylistRenderer {
    var isCut: Bool {
        guard canCut, nextSegment < storage.segments.count else { return false }
        return omitsGaps && storage.segments[nextSegment].isGap || selection?.omits(nextSegment) ?? false
    }

    var omitsGaps: Bool { !view.fillsGaps && (view.omitsGaps || view.isFinished && !view.keepsGaps) }
    private var canCut: Bool { omitsGaps || selection != nil }

    mutating func writeSegmentTag(_ tag: Tag, _ line: Int) throws(PlaylistError) {
        guard isCut else {
            if tag == .inf {
                try writeInf(line)
            }
            if tag == .gap, view.fillsGaps {
                writer.drop(line: line)
            }
            return
        }
        if tag == .discontinuity {
            cut.discontinuities += 1
        }
        writer.drop(line: line)
    }

    /// Inserts the discontinuities and the date that omitted segments require before an EXTINF.
    private mutating func writeInf(_ line: Int) throws(PlaylistError) {
        if view.isCorrected, version.number < 3, isFractional(line) {
            version.need(3)
        }
        guard canCut, nextSegment < storage.segments.count else { return }
        let segment = Segment(storage: storage, index: nextSegment)
        if let text = segment.programDateTime, let date = DateTime(text) {
            cut.clock = (date, 0)
        }
        if cut.isAtNeighbour || selection?.numbers?.marked.contains(nextSegment) ?? false {
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
        cut.clock?.seconds += segment.duration.seconds
    }

    /// Returns the number of EXT-X-DISCONTINUITY lines to insert before a segment, in addition to its own.
    private func discontinuities(before segment: Segment) -> Int {
        guard let selection else { return discontinuitiesAtGap(before: segment) }
        if let numbers = selection.numbers {
            return discontinuities(isDue: numbers.marked.contains(segment.index))
        }
        // No kept segment precedes; the other renditions begin here too.
        guard segment.index > cut.count else { return 0 }
        return discontinuities(isDue: selection.isMarked && !segment.isDiscontinuity)
    }

    /// The number of the omitted lines, at least one if a line is due.
    private func discontinuities(isDue: Bool) -> Int {
        guard isDue else { return cut.discontinuities }
        return max(cut.discontinuities, 1)
    }

    /// Transport streams need the tag where time jumps; fragmented MP4 has decode times, and VLC stops at the tag.
    private func discontinuitiesAtGap(before segment: Segment) -> Int {
        let isDue = segment.index > cut.count && segment.map == nil && !segment.isDiscontinuity
        return discontinuities(isDue: isDue)
    }

    private func isFractional(_ line: Int) -> Bool {
        let inf = Inf(storage.text.bytes, storage.text.value(line))
        return storage.text.bytes.firstIndex(of: UInt8(ascii: "."), in: inf.duration) != nil
    }

    mutating func omitSegment(_ line: Int) {
        let segment = Segment(storage: storage, index: nextSegment)
        if let text = segment.programDateTime, let date = DateTime(text) {
            cut.clock = (date, 0)
        }
        cut.clock?.seconds += segment.duration.seconds
        cut.count += 1
        cut.isAtNeighbour = true
        writer.drop(line: line)
    }

    /// Repeats the keys of a segment with its original media sequence number as IV. After a cut the number in the view
    /// differs from the one that the segment was encrypted with (RFC 8216 §5.2).
    mutating func restoreVectors(_ line: Int, _ naming: Naming) throws(PlaylistError) {
        guard cut.count > 0 || selection?.numbers?.omitted ?? 0 > 0 else { return }
        let segment = Segment(storage: storage, index: nextSegment)
        for key in segment.keys where key.hasImplicitVector {
            var attributes = AttributeEdits()
            if let name = naming(.key(key)) {
                attributes.set("URI", .quoted(try view.checked(name)))
            }
            attributes.set("IV", .enumerated(Key.vector(forSequenceNumber: segment.mediaSequenceNumber)))
            version.need(2)
            writer.insert([try Key.line(key, attributes)], beforeLine: line)
        }
    }
}
