import Assets
import EventLoop
import Fetching
import HLS
import Retention
import Store

/// The segments of a rendition that are not stored, and the keys and initialization sections that the wanted ones need. Pure: a long
/// playlist is scanned on a worker.
struct HoleScan: Sendable {
    /// All that it is computed from.
    struct Input: Sendable {
        let segments: Segments
        /// The segments' files, by index.
        let files: [String]
        let sizes: PieceTable<Int64>
        let wanted: WantedTime
        /// The starts of the segments in seconds, and the end of the last one; nil if a scan has to sum them up.
        let times: [Double]?
        /// The segments that list one file or range; nil if none do, or if that is not known.
        let locations: SegmentLocations?
        /// The indices of segments of subtitles that the origin does not have.
        let givenUp: Set<Int>

        /// Nil before the playlist is known.
        @LoopActor init?(_ rendition: Rendition, _ wanted: WantedTime) {
            guard let source = rendition.source else { return nil }
            segments = source.playlist.segments
            if source.isDurable {
                files = rendition.segmentFiles
            } else {
                files = segments.map { rendition.file(of: $0) }
            }
            sizes = rendition.folder.sizes
            locations = rendition.locations
            givenUp = rendition.givenUpIndices
            times = rendition.segmentTimes
            self.wanted = wanted
        }

        /// The indices of the wanted segments and of some others. Those of a minute are found among a million without a look at each.
        fileprivate var candidates: [Range<Int>] {
            guard case .parts(let parts) = wanted, let times else { return [0..<segments.count] }
            var ranges: [Range<Int>] = []
            for part in parts.sorted(by: { $0.lowerBound < $1.lowerBound }) {
                let former = ranges.last?.upperBound ?? 0
                let first = max(Self.index(in: times) { $0 > part.lowerBound } - 1, former)
                let end = min(Self.index(in: times) { $0 >= part.upperBound }, segments.count)
                if first < end {
                    ranges.append(first..<end)
                }
            }
            return ranges
        }

        /// The index of the first time of which `isLater` is true; the count if there is none.
        private static func index(in times: [Double], where isLater: (Double) -> Bool) -> Int {
            var low = 0
            var high = times.count
            while low < high {
                let middle = (low + high) / 2
                if isLater(times[middle]) {
                    high = middle
                } else {
                    low = middle + 1
                }
            }
            return low
        }

        /// The size of the work, see `PureWork.small`.
        var size: Int { 64 * files.count }
    }

    /// Sorted by time.
    private(set) var holes: [Plan.Hole] = []
    /// The sections and keys of the wanted segments, each once.
    private(set) var sections: [Map] = []
    private(set) var keys: [Key] = []
    /// True if every segment is wanted, and so every section and key.
    private(set) var isOfEverything = true

    /// The number of missing segments that are no holes, because they list the file or range of one that is.
    private(set) var repeated = 0
    private var repeats: RepeatedSegments
    private var knownSections: Set<Int> = []
    private var knownKeys: Set<Int> = []
    private var files = FileNumbers()

    init(_ input: Input) {
        repeats = RepeatedSegments(input.locations) { input.sizes[input.files[$0]] != nil }
        var count = 0
        for range in input.candidates {
            var time = input.times?[range.lowerBound] ?? 0
            for index in range {
                let segment = input.segments[index]
                let start = time
                time += segment.duration.seconds
                if input.wanted.touches(start, time) {
                    count += 1
                    add(segment, start..<time, of: input)
                }
            }
        }
        isOfEverything = count == input.segments.count
    }

    private mutating func add(_ segment: Segment, _ time: Range<Double>, of input: Input) {
        if input.wanted != .all {
            addNeeds(of: segment)
        }
        guard !segment.isGap, !input.givenUp.contains(segment.index), input.files.indices.contains(segment.index),
            input.sizes[input.files[segment.index]] == nil
        else { return }
        guard repeats.pickMissing(segment.index) else {
            repeated += 1
            return
        }
        holes.append(Plan.Hole(.segment(segment.index), time: time, part: files.part(of: segment)))
    }

    private mutating func addNeeds(of segment: Segment) {
        if let section = segment.map, knownSections.insert(section.index).inserted {
            sections.append(section)
            add(section.keys)
        }
        add(segment.keys)
    }

    private mutating func add(_ keys: [Key]) {
        for key in keys where knownKeys.insert(key.index).inserted {
            self.keys.append(key)
        }
    }

    /// Numbers files in order of appearance; consecutive ranges of one file keep its number.
    private struct FileNumbers {
        private var uri = ""
        private var number = 0

        mutating func part(of segment: Segment) -> Plan.FilePart? {
            guard let range = segment.byteRange else { return nil }
            let uri = segment.uri
            if uri != self.uri {
                self.uri = uri
                number = number + 1
            }
            return Plan.FilePart(file: number, bytes: range.offset..<range.end)
        }
    }
}
