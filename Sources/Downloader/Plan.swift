/// What is to be fetched, next first.
///
/// Pure, and made anew from what is on disk: no counter is trusted. What nothing plays without (keys, initialization
/// sections) comes first. Then come the segments of all renditions by media time, from the playhead on, so that a third
/// of a download is a playable third; and then what lies before the playhead. Neighbouring byte ranges of one file come
/// together.
public struct Plan: Sendable {
    /// One resource that is not there.
    public struct Hole: Equatable, Sendable {
        /// What it is to its rendition: a place in a list of the rendition's.
        public enum Item: Equatable, Sendable {
            /// A key or an initialization section, by its place among `Rendition.preliminaries`.
            case preliminary(Int)
            /// A segment, by its place in the playlist.
            case segment(Int)
        }

        /// Which.
        public let item: Item
        /// When it plays, in seconds; empty for what must be there before anything plays.
        public let time: Range<Double>
        /// Where its bytes are, if they are a part of a file.
        public let part: FilePart?

        /// A hole.
        public init(_ item: Item, time: Range<Double>, part: FilePart? = nil) {
            self.item = item
            self.time = time
            self.part = part
        }
    }

    /// A part of a file.
    public struct FilePart: Equatable, Sendable {
        /// Which file, by any number that only it has within the rendition.
        public let file: Int
        /// Which bytes.
        public let bytes: Range<Int>

        /// A part.
        public init(file: Int, bytes: Range<Int>) {
            self.file = file
            self.bytes = bytes
        }
    }

    /// The holes of one rendition.
    public struct Track: Equatable, Sendable {
        /// What its segments need.
        public var preliminaries: [Hole]
        /// The segments, by time.
        public var segments: [Hole]

        /// A track.
        public init(preliminaries: [Hole] = [], segments: [Hole] = []) {
            self.preliminaries = preliminaries
            self.segments = segments
        }
    }

    /// What one request brings: a hole, or several whose bytes lie one behind the other in one file.
    public struct Batch: Equatable, Sendable {
        /// The rendition's place among those that were planned for.
        public let track: Int
        /// In the order of their bytes; never empty.
        public var holes: [Hole]
    }

    /// So much, and so many holes, come by one request at most: a player that wants one of them does not wait long, and
    /// the other renditions' turn comes soon.
    static let batchLimit = (bytes: 4 << 20, holes: 16, seconds: 30.0)

    /// What is left of a track.
    private struct Cursor {
        var preliminaries: ArraySlice<Hole>
        var ahead: ArraySlice<Hole>
        var behind: ArraySlice<Hole>

        init(_ preliminaries: ArraySlice<Hole>, _ segments: ArraySlice<Hole>, playhead: Double) {
            let split = segments.firstIndex { $0.time.upperBound > playhead } ?? segments.endIndex
            self.preliminaries = preliminaries
            (ahead, behind) = (segments[split...], segments[..<split])
        }

        /// Everything that is left, by time.
        var segments: ArraySlice<Hole> { behind.isEmpty ? ahead : behind + ahead }
    }

    private enum Phase: CaseIterable { case preliminaries, ahead, behind }

    private var cursors: [Cursor]
    /// Where to go on from, if that is not where the cursors are.
    private var moved: Double?
    /// How many holes are left.
    public private(set) var count: Int

    /// A plan for renditions, the most important first: of the same instant, the earlier ones' holes come first.
    ///
    /// - Parameter playhead: where somebody watches, in seconds; 0 where nobody does.
    public init(_ tracks: [Track], playhead: Double = 0) {
        cursors = tracks.map { Cursor($0.preliminaries[...], $0.segments[...], playhead: playhead) }
        count = tracks.reduce(0) { $0 + $1.preliminaries.count + $1.segments.count }
    }

    /// Goes on from another place. Costs nothing before something is taken out: a player may move faster than pieces
    /// come.
    public mutating func move(to playhead: Double) { moved = playhead }

    private mutating func settle() {
        guard let playhead = moved else { return }
        moved = nil
        for (place, cursor) in cursors.enumerated() {
            cursors[place] = Cursor(cursor.preliminaries, cursor.segments, playhead: playhead)
        }
    }

    /// Takes out what comes next; nil when nothing is left.
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
