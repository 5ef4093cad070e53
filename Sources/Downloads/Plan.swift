import Assets
import EventLoop
import Fetching
import HLS
import Retention

/// The holes of a download, in the order in which they are fetched. Pure.
///
/// It is computed again from the stored pieces each time. The selections come one after the other. Within one, keys and
/// initialization sections come first, because nothing plays without them. Then come the segments of all renditions by
/// media time, from the playhead on, so that a third of a download is a playable third. Segments before the playhead come
/// last.
struct Plan: Sendable {
    /// One resource that is not stored.
    struct Hole: Equatable, Sendable {
        /// Identifies the resource within its rendition, by index.
        enum Item: Hashable, Sendable {
            /// A key or an initialization section: its index in `Rendition.preliminaries`.
            case preliminary(Int)
            /// A segment: its index in the playlist.
            case segment(Int)
        }

        let item: Item
        /// Media time in seconds; empty for resources that are needed before anything plays.
        let time: Range<Double>
        let part: FilePart?

        init(_ item: Item, time: Range<Double>, part: FilePart? = nil) {
            self.item = item
            self.time = time
            self.part = part
        }
    }

    struct FilePart: Equatable, Sendable {
        /// A number that identifies the file within the rendition.
        let file: Int
        let bytes: Range<Int>
    }

    /// The holes of one rendition of a selection.
    struct Track: Equatable, Sendable {
        /// Place of the selection in the order of the download.
        var selection = 0
        var preliminaries: [Hole] = []
        /// Sorted by time.
        var segments: [Hole] = []
        /// The number of holes that are left out for now: they are of the same bytes as one of `segments`, once that is stored.
        var repeated = 0
    }

    /// The holes that one request fills: one, or several with adjacent byte ranges of one file.
    struct Batch: Equatable, Sendable {
        let track: Int
        let selection: Int
        /// Sorted by byte range; never empty.
        var holes: [Hole]
    }

    /// Limits of one request, so that a player and the other renditions get their turn soon.
    static let batchLimit = (bytes: 4 << 20, holes: 16, seconds: 30.0)

    /// The remaining holes of a track, by phase: preliminaries, segments from the playhead on, segments before it.
    private struct Cursor {
        let selection: Int
        var phases: [ArraySlice<Hole>]

        var isEmpty: Bool { phases.allSatisfy(\.isEmpty) }

        init(
            _ selection: Int, _ preliminaries: ArraySlice<Hole>, _ segments: ArraySlice<Hole>, playhead: Double
        ) {
            self.selection = selection
            let split = segments.firstIndex { $0.time.upperBound > playhead } ?? segments.endIndex
            phases = [preliminaries, segments[split...], segments[..<split]]
        }

        func moved(to playhead: Double) -> Cursor {
            Cursor(
                selection, phases[0], phases[2].isEmpty ? phases[1] : phases[2] + phases[1], playhead: playhead)
        }
    }

    private var cursors: [Cursor]
    /// The new playhead, if the cursors are not yet moved to it.
    private var moved: Double?
    private(set) var count: Int

    /// At equal media time, holes of earlier tracks come first.
    ///
    /// - Parameter playhead: a session's position in seconds; 0 if the asset is not played.
    init(_ tracks: [Track], playhead: Double = 0) {
        cursors = tracks.map { Cursor($0.selection, $0.preliminaries[...], $0.segments[...], playhead: playhead) }
        count = tracks.reduce(0) { $0 + $1.preliminaries.count + $1.segments.count }
    }

    /// The cost is deferred to `next()`, because a player may move faster than pieces arrive.
    mutating func move(to playhead: Double) { moved = playhead }

    /// The selection of the next holes; nil if there are no more.
    var selection: Int? { cursors.lazy.filter { !$0.isEmpty }.map(\.selection).min() }

    mutating func next() -> Batch? {
        if let moved {
            cursors = cursors.map { $0.moved(to: moved) }
        }
        moved = nil
        guard let selection else { return nil }
        let selected = cursors.indices.filter { cursors[$0].selection == selection }
        for phase in 0..<3 {
            let first = selected.compactMap { index in
                cursors[index].phases[phase].first.map { (index, $0.time.lowerBound) }
            }.min { ($0.1, $0.0) < ($1.1, $1.0) }
            guard let (track, _) = first else { continue }
            let holes = Self.removeBatch(from: &cursors[track].phases[phase])
            let batch = Batch(track: track, selection: selection, holes: holes)
            count -= batch.holes.count
            return batch
        }
        return nil
    }

    private static func removeBatch(from holes: inout ArraySlice<Hole>) -> [Hole] {
        guard let first = holes.popFirst() else { return [] }
        var batch = [first]
        guard let start = first.part else { return batch }
        while let next = holes.first, let part = next.part, let last = batch.last?.part, batch.count < batchLimit.holes,
            part.file == last.file, part.bytes.lowerBound == last.bytes.upperBound,
            part.bytes.upperBound - start.bytes.lowerBound <= batchLimit.bytes,
            next.time.upperBound - first.time.lowerBound <= batchLimit.seconds
        {
            batch.append(next)
            holes.removeFirst()
        }
        return batch
    }
}

extension Plan.Track {
    /// - Parameter isTaken: called for each missing key; returns true if another rendition's track already has it.
    @LoopActor init(of rendition: Rendition, _ wanted: WantedTime, isTaken: (Resource) -> Bool) {
        var repeats = PlannedRepeats(of: rendition)
        self.init(segments: Self.segments(of: rendition, wanted, &repeats))
        repeated = repeats.count
        let needed = wanted == .all ? nil : rendition.preliminaries { wanted.touches($0, $1) }
        preliminaries = rendition.preliminaries.enumerated().compactMap { index, preliminary in
            let (folder, resource) = preliminary
            guard needed?.contains(resource.name) ?? true, !folder.contains(resource.name.description) else {
                return nil
            }
            // An expired key can only be fetched again by a renewal.
            if case .key(let number) = resource.name.role, !rendition.keys.isUsable(number) {
                return nil
            }
            // A key that several renditions share is one hole.
            if folder !== rendition.folder, isTaken(resource) {
                return nil
            }
            return Plan.Hole(.preliminary(index), time: 0..<0)
        }
    }

    @LoopActor private static func segments(
        of rendition: Rendition, _ wanted: WantedTime, _ repeats: inout PlannedRepeats
    ) -> [Plan.Hole] {
        var holes: [Plan.Hole] = []
        var files = FileNumbers()
        rendition.forEachSegment { segment, start, end in
            guard wanted.touches(start, end), !segment.isGap, !rendition.isWithoutCues(segment) else { return }
            guard !rendition.folder.contains(rendition.file(of: segment)) else { return }
            guard repeats.admits(segment.index) else { return }
            holes.append(Plan.Hole(.segment(segment.index), time: start..<end, part: files.part(of: segment)))
        }
        return holes
    }

    /// Admits one of several missing segments that list the same file or range. Once it is stored, the others are copies of it.
    private struct PlannedRepeats {
        private let locations: SegmentLocations?
        /// The groups of which one is stored, or planned, by the index of their first segment.
        private var stored: Set<Int> = []
        private var planned: Set<Int> = []
        /// The number of segments that are not admitted.
        private(set) var count = 0

        @LoopActor init(of rendition: Rendition) {
            guard let locations = rendition.locations, locations.hasRepeats else {
                self.locations = nil
                return
            }
            self.locations = locations
            let files = rendition.segmentFiles
            for group in locations.repeats where group.contains(where: { rendition.folder.contains(files[$0]) }) {
                stored.insert(group[0])
            }
        }

        mutating func admits(_ index: Int) -> Bool {
            guard let first = locations?.first(of: index), !stored.contains(first) else { return true }
            guard planned.insert(first).inserted else {
                count += 1
                return false
            }
            return true
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

extension Rendition {
    /// Passes each segment with its start and end, in seconds.
    func forEachSegment(_ body: (Segment, _ start: Double, _ end: Double) -> Void) {
        guard let segments = source?.playlist.segments else { return }
        var time = 0.0
        for segment in segments {
            let end = time + segment.duration.seconds
            body(segment, time, end)
            time = end
        }
    }
}
