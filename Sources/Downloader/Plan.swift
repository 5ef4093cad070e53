/// The holes of a download, in the order in which they are fetched.
///
/// Pure. It is computed again from the stored pieces each time; no counter is trusted. Keys and initialization sections
/// come first, because nothing plays without them. Then come the segments of all renditions by media time, from the
/// playhead on, so that a third of a download is a playable third. Segments before the playhead come last. Adjacent
/// byte ranges of one file are fetched together.
public struct Plan: Sendable {
    /// One resource that is not stored.
    public struct Hole: Equatable, Sendable {
        /// Identifies the resource within its rendition, by index.
        public enum Item: Equatable, Sendable {
            /// A key or an initialization section: its index in `Rendition.preliminaries`.
            case preliminary(Int)
            /// A segment: its index in the playlist.
            case segment(Int)
        }

        /// The resource.
        public let item: Item
        /// Media time in seconds; empty for resources that are needed before anything plays.
        public let time: Range<Double>
        /// The byte range, if the resource is a part of a file.
        public let part: FilePart?

        /// Makes a hole.
        public init(_ item: Item, time: Range<Double>, part: FilePart? = nil) {
            self.item = item
            self.time = time
            self.part = part
        }
    }

    /// A byte range of a file.
    public struct FilePart: Equatable, Sendable {
        /// A number that identifies the file within the rendition.
        public let file: Int
        /// The byte range.
        public let bytes: Range<Int>

        /// Makes a file part.
        public init(file: Int, bytes: Range<Int>) {
            self.file = file
            self.bytes = bytes
        }
    }

    /// The holes of one rendition.
    public struct Track: Equatable, Sendable {
        /// Keys and initialization sections.
        public var preliminaries: [Hole]
        /// The segments, sorted by time.
        public var segments: [Hole]

        /// Makes a track.
        public init(preliminaries: [Hole] = [], segments: [Hole] = []) {
            self.preliminaries = preliminaries
            self.segments = segments
        }
    }

    /// The holes that one request fills: one, or several with adjacent byte ranges of one file.
    public struct Batch: Equatable, Sendable {
        /// Index of the rendition's track.
        public let track: Int
        /// Sorted by byte range; never empty.
        public var holes: [Hole]
    }

    /// Upper limits of one request, so that a player does not wait long for one of its pieces, and the other renditions
    /// get their turn soon.
    static let batchLimit = (bytes: 4 << 20, holes: 16, seconds: 30.0)

    /// The remaining holes of a track.
    private struct Cursor {
        var preliminaries: ArraySlice<Hole>
        var ahead: ArraySlice<Hole>
        var behind: ArraySlice<Hole>

        init(_ preliminaries: ArraySlice<Hole>, _ segments: ArraySlice<Hole>, playhead: Double) {
            let split = segments.firstIndex { $0.time.upperBound > playhead } ?? segments.endIndex
            self.preliminaries = preliminaries
            (ahead, behind) = (segments[split...], segments[..<split])
        }

        /// All remaining segments, sorted by time.
        var segments: ArraySlice<Hole> { behind.isEmpty ? ahead : behind + ahead }
    }

    private enum Phase: CaseIterable { case preliminaries, ahead, behind }

    private var cursors: [Cursor]
    /// The new playhead, if the cursors are not yet moved to it.
    private var moved: Double?
    /// Number of remaining holes.
    public private(set) var count: Int

    /// Makes a plan for renditions, the most important first: at equal media time, holes of earlier tracks come first.
    ///
    /// - Parameter playhead: a session's position in seconds; 0 if the asset is not played.
    public init(_ tracks: [Track], playhead: Double = 0) {
        cursors = tracks.map { Cursor($0.preliminaries[...], $0.segments[...], playhead: playhead) }
        count = tracks.reduce(0) { $0 + $1.preliminaries.count + $1.segments.count }
    }

    /// Moves to a new playhead. The cost is deferred to the next `next()`, because a player may move faster than pieces
    /// arrive.
    public mutating func move(to playhead: Double) { moved = playhead }

    private mutating func settle() {
        guard let playhead = moved else { return }
        moved = nil
        for (place, cursor) in cursors.enumerated() {
            cursors[place] = Cursor(cursor.preliminaries, cursor.segments, playhead: playhead)
        }
    }

    /// Removes and returns the next batch; nil if no hole is left.
    public mutating func next() -> Batch? {
        settle()
        for phase in Phase.allCases {
            let first = cursors.indices.compactMap { place in head(of: place, phase).map { (place, $0.time.lowerBound) }
            }
            .min { ($0.1, $0.0) < ($1.1, $1.0) }
            guard let (track, _) = first else { continue }
            return Batch(track: track, holes: take(from: track, phase))
        }
        return nil
    }

    private func head(of track: Int, _ phase: Phase) -> Hole? {
        switch phase {
        case .preliminaries: cursors[track].preliminaries.first
        case .ahead: cursors[track].ahead.first
        case .behind: cursors[track].behind.first
        }
    }

    private mutating func take(from track: Int, _ phase: Phase) -> [Hole] {
        let holes =
            switch phase {
            case .preliminaries: Self.take(from: &cursors[track].preliminaries)
            case .ahead: Self.take(from: &cursors[track].ahead)
            case .behind: Self.take(from: &cursors[track].behind)
            }
        count -= holes.count
        return holes
    }

    private static func take(from holes: inout ArraySlice<Hole>) -> [Hole] {
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
