/// Finds the segments of a rendition at which a decoder may need other parameters: a new initialization section, another container, or
/// a discontinuity in media without sections. Pure.
struct MediaChanges: Sendable {
    /// A segment, as far as it matters here.
    struct Segment: Sendable {
        /// The index of its initialization section; nil without one.
        var section: Int?
        /// The ending of its file's name.
        var ending: String
        var isDiscontinuity = false
        /// True if the export does not have it.
        var isGap = false
        /// In seconds.
        var duration: Double

        /// For a message.
        var container: String {
            switch ending {
            case "ts": "MPEG-TS"
            case "mp4": "fragmented MP4"
            default: "\(ending) files"
            }
        }
    }

    /// The runs of segments between two changes, by index; one if nothing changes, and none without segments.
    let runs: [Range<Int>]
    /// The start of each segment in seconds, and the end of the last.
    let times: [Double]

    init(_ segments: [Segment]) {
        var times = [0.0]
        var starts: [Int] = []
        var last: Segment?
        var isBroken = false
        for (index, segment) in segments.enumerated() {
            times.append(times[index] + segment.duration)
            isBroken = isBroken || segment.isDiscontinuity
            guard !segment.isGap else { continue }
            if let last, Self.mayChange(from: last, to: segment, isBroken: isBroken) {
                starts.append(index)
            }
            last = segment
            isBroken = false
        }
        self.times = times
        let bounds = [0] + starts + [segments.count]
        runs = zip(bounds, bounds.dropFirst()).map { $0..<$1 }.filter { !$0.isEmpty && last != nil }
    }

    /// Fragments tell by their section whether the decoder changes, and other media may change at any discontinuity.
    private static func mayChange(from last: Segment, to next: Segment, isBroken: Bool) -> Bool {
        last.section != next.section || last.ending != next.ending || isBroken && next.section == nil
    }

    // MARK: Parts of a film

    /// Changes of two renditions that are not farther apart than this are one, in seconds.
    private static let tolerance = 1.0

    /// Cuts renditions that play together wherever one of them changes.
    ///
    /// - Returns: the parts; each has a range of segments for each rendition, in their order, which may be empty.
    static func parts(of renditions: [MediaChanges]) -> [[Range<Int>]] {
        var cuts: [Double] = []
        let starts = renditions.flatMap(\.changeTimes)
        for start in starts.sorted() {
            if let last = cuts.last, start - last <= tolerance {
                continue
            }
            cuts.append(start)
        }

        let bounds = renditions.map { rendition in
            [0] + cuts.map(rendition.bound(at:)) + [rendition.times.count - 1]
        }
        var parts: [[Range<Int>]] = []
        for part in 0...cuts.count {
            parts.append(bounds.map { $0[part]..<max($0[part], $0[part + 1]) })
        }
        return parts
    }

    /// The times of the changes, in seconds.
    private var changeTimes: [Double] { runs.dropFirst().map { times[$0.lowerBound] } }

    /// The segment that begins a part: its own change near that time, or else the segment that begins nearest to it.
    private func bound(at time: Double) -> Int {
        let own = runs.dropFirst().map(\.lowerBound).first { start in
            times[start] >= time && times[start] - time <= Self.tolerance
        }
        if let own {
            return own
        }
        return times.indices.min { abs(times[$0] - time) < abs(times[$1] - time) } ?? 0
    }
}
