/// The byte ranges of a segment's samples in the file.
struct SampleLayout: Sendable {
    /// The contiguous samples of one run.
    struct Run: Sendable {
        /// Index of the fragment in the segment.
        let fragment: Int
        /// Index of the track fragment in the fragment.
        let track: Int
        /// Index of the run in the track fragment.
        let run: Int
        /// File offset that the run's data offset is relative to.
        let base: Int
        let range: Range<Int>
    }

    /// Non-empty runs, in box order.
    let runs: [Run]
    /// The base offset of each track fragment, by fragment index and track fragment index.
    let bases: [[Int]]

    /// Locates the samples. Each must be within an `mdat` of the segment.
    init(of segment: MediaSegment, tracks: InitializationSection) throws(SegmentFormatError) {
        var runs: [Run] = []
        var bases: [[Int]] = []
        for (index, fragment) in segment.fragments.enumerated() {
            var walk = FragmentLayout(segment: segment, fragment: fragment, index: index)
            for index in fragment.tracks.indices {
                try walk.add(index, tracks)
            }
            runs += walk.runs
            bases.append(walk.bases)
        }
        try Self.checkApart(runs, in: segment)
        self.runs = runs
        self.bases = bases
    }

    /// Throws if two runs share a byte: an insertion in front of one sample would then be inside the other.
    private static func checkApart(_ runs: [Run], in segment: MediaSegment) throws(SegmentFormatError) {
        var end = 0
        for run in runs.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) where !run.range.isEmpty {
            guard run.range.lowerBound >= end else {
                let box = segment.fragments[run.fragment].tracks[run.track].runs[run.run].box
                throw box.error(.badValue, "its data are another run's too")
            }
            end = run.range.upperBound
        }
    }
}

private struct FragmentLayout {
    let segment: MediaSegment
    let fragment: MovieFragment
    let fragmentIndex: Int
    private(set) var runs: [SampleLayout.Run] = []
    private(set) var bases: [Int] = []
    /// End of the previous track fragment's data: the default base of the next one.
    private var end: Int

    init(segment: MediaSegment, fragment: MovieFragment, index fragmentIndex: Int) {
        self.segment = segment
        self.fragment = fragment
        self.fragmentIndex = fragmentIndex
        end = fragment.box.range.lowerBound
    }

    mutating func add(_ index: Int, _ tracks: InitializationSection) throws(SegmentFormatError) {
        let track = fragment.tracks[index]
        guard let known = tracks.track(track.header.trackID) else {
            throw track.header.box.error(.badValue, "the initialization section has no track \(track.header.trackID)")
        }

        let size = track.header.defaults(after: known.defaults).size
        let isByFragment = track.header.flags & TrackFragmentHeader.baseIsMovieFragment != 0
        let usual = isByFragment ? fragment.box.range.lowerBound : end
        let base = track.header.baseDataOffset ?? usual
        bases.append(base)
        end = base

        for (runIndex, run) in track.runs.enumerated() where run.count > 0 {
            var start = end
            if let offset = run.dataOffset {
                start = base + Int(offset)
            }
            let size = run.sum(.size, standing: size)
            guard start >= 0, segment.mediaData(holding: start..<(start + size)) != nil else {
                throw run.box.error(.badValue, "no mdat holds its \(size) bytes from byte \(start)")
            }
            end = start + size
            runs.append(.init(fragment: fragmentIndex, track: index, run: runIndex, base: base, range: start..<end))
        }
    }
}
