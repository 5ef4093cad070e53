/// Where the samples of a segment lie in the file.
struct SampleLayout: Sendable {
    /// The samples of one run, which follow each other.
    struct Run: Sendable {
        /// The places of the fragment, of the track in it, and of the run in that.
        let (fragment, track, run): (Int, Int, Int)
        /// Where its data offset counts from.
        let base: Int
        /// The bytes of its samples.
        let range: Range<Int>
    }

    /// All runs with samples, in the order of their boxes.
    let runs: [Run]
    /// The base of each track fragment's offsets, by the places of the fragment and of the track in it.
    let bases: [[Int]]

    /// Finds the samples, each of which must lie in an `mdat` of the segment.
    init(of segment: MediaSegment, tracks: InitializationSection) throws(SegmentFormatError) {
        var (runs, bases): ([Run], [[Int]]) = ([], [])
        for (place, fragment) in segment.fragments.enumerated() {
            var walk = FragmentLayout(segment: segment, fragment: fragment, place: place)
            for index in fragment.tracks.indices { try walk.take(index, tracks) }
            runs += walk.runs
            bases.append(walk.bases)
        }
        try Self.checkApart(runs, in: segment)
        (self.runs, self.bases) = (runs, bases)
    }

    /// No byte may belong to two samples: what is put in front of one would be in the midst of the other.
    private static func checkApart(_ runs: [Run], in segment: MediaSegment) throws(SegmentFormatError) {
        var end = 0
        for run in runs.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) where !run.range.isEmpty {
            guard run.range.lowerBound >= end else {
                let box = segment.fragments[run.fragment].tracks[run.track].runs[run.run].box
                throw SegmentFormatError(.badValue, "trun", at: box.range.lowerBound, "its data are another run's too")
            }
            end = run.range.upperBound
        }
    }
}

/// The layout of one movie fragment.
private struct FragmentLayout {
    let segment: MediaSegment
    let fragment: MovieFragment
    let place: Int
    private(set) var runs: [SampleLayout.Run] = []
    private(set) var bases: [Int] = []
    /// Where the data of the track fragment before end: what the next one's count from, unless anything is said.
    private var end: Int

    init(segment: MediaSegment, fragment: MovieFragment, place: Int) {
        (self.segment, self.fragment, self.place) = (segment, fragment, place)
        end = fragment.box.range.lowerBound
    }

    mutating func take(_ index: Int, _ tracks: InitializationSection) throws(SegmentFormatError) {
        let track = fragment.tracks[index]
        guard let known = tracks.track(track.header.trackID) else {
            throw SegmentFormatError(
                .badValue, "tfhd", at: track.header.box.range.lowerBound,
                "the initialization section has no track \(track.header.trackID)")
        }
        let size = track.header.defaults(after: known.defaults).size
        let isByFragment = track.header.flags & TrackFragmentHeader.baseIsMovieFragment != 0
        let base = track.header.baseDataOffset ?? (isByFragment ? fragment.box.range.lowerBound : end)
        bases.append(base)
        end = base
        for (place, run) in track.runs.enumerated() where run.count > 0 {
            let start = run.dataOffset.map { base + Int($0) } ?? end
            let size = run.sum(.size, standing: size)
            guard start >= 0, segment.mediaData(holding: start..<(start + size)) != nil else {
                throw SegmentFormatError(
                    .badValue, "trun", at: run.box.range.lowerBound,
                    "no mdat holds its \(size) bytes from byte \(start)")
            }
            end = start + size
            runs.append(.init(fragment: self.place, track: index, run: place, base: base, range: start..<end))
        }
    }
}
