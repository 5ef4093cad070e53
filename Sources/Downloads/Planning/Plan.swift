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

        var isEmpty: Bool { phases.allSatisfy { $0.isEmpty } }

        init(
            _ selection: Int, preliminaries: ArraySlice<Hole>, segments: ArraySlice<Hole>, playhead: Double
        ) {
            self.selection = selection
            let split = segments.firstIndex(endingAfter: playhead)
            phases = [preliminaries, segments[split...], segments[..<split]]
        }

        func moved(to playhead: Double) -> Cursor {
            // In the order of time.
            let segments = phases[2] + phases[1]
            return Cursor(selection, preliminaries: phases[0], segments: segments, playhead: playhead)
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
        cursors = tracks.map { track in
            Cursor(
                track.selection, preliminaries: track.preliminaries[...], segments: track.segments[...],
                playhead: playhead)
        }
        count = tracks.reduce(0) { $0 + $1.preliminaries.count + $1.segments.count }
    }

    /// The cost is deferred to `next()`, because a player may move faster than pieces arrive.
    mutating func move(to playhead: Double) { moved = playhead }

    /// The selection of the next holes; nil if there are no more.
    var selection: Int? {
        var least: Int?
        for cursor in cursors where !cursor.isEmpty {
            least = min(least ?? cursor.selection, cursor.selection)
        }
        return least
    }

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
    /// - Parameters:
    ///   - scan: the rendition's segments; nil for one whose playlist is not known, or live.
    ///   - isTaken: called for each missing key; returns true if another rendition's track already has it.
    @LoopActor init(of rendition: Rendition, _ scan: HoleScan?, isTaken: (Resource) -> Bool) {
        self.init(segments: scan?.holes ?? [])
        repeated = scan?.repeated ?? 0
        var needed: Set<PieceName>?
        if let scan, !scan.isOfEverything {
            needed = rendition.names(of: scan.sections, scan.keys)
        }
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
}

extension ArraySlice<Plan.Hole> {
    /// The index of the first hole that ends after a time, in seconds. They are sorted: a million are not looked at one by one.
    fileprivate func firstIndex(endingAfter time: Double) -> Int {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = low + (high - low) / 2
            if self[middle].time.upperBound > time {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return low
    }
}
