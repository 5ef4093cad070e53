import EventLoop
public import Fetching
import Playlist

extension Recording {
    /// A segment, or several missed ones, that was seen and is not in the recorded playlist yet.
    public struct Item {
        /// The segment or the missed segments.
        let entry: RecordingFront.Entry
        /// Start time, in seconds from the first segment that was seen.
        public let time: Double
        /// The playlist that brought it.
        let source: Rendition.Source
        /// True if it is the first item of its playlist.
        let isFirstOfWindow: Bool
        /// The resources that must be stored before it can be listed: the segment, its initialization section, and its
        /// keys. Empty for a missed segment, or one that the origin marks as a gap.
        public internal(set) var needed: [(folder: PieceFolder, resource: Resource)] = []
        /// The segment's file name; nil for a missed segment.
        var file: PieceName?
        /// The file name of its initialization section.
        var map: PieceName?
        /// The reason why it will not be stored.
        var loss: String?
    }
}

extension Recording.Item {
    /// The number of the segment in the recording; the first number of several missed ones.
    public var number: Int { entry.number }

    /// True if all needed resources are stored.
    @LoopActor public var isSettled: Bool { needed.allSatisfy { $0.folder.contains($0.resource.name.description) } }

    /// True if there is nothing to play.
    var isMissing: Bool {
        if loss != nil { return true }
        switch entry {
        case .missed: return true
        case .segment(let segment, _, _): return segment.isGap
        }
    }
}

extension RecordingFront.Entry {
    /// The number in the recording of the first segment.
    var number: Int {
        switch self {
        case .missed(let missed): missed.numbers.lowerBound
        case .segment(_, let number, _): number
        }
    }

    /// Duration, in seconds.
    var length: Double {
        switch self {
        case .missed(let missed): missed.duration * Double(missed.numbers.count)
        case .segment(let segment, _, _): segment.duration
        }
    }

    /// The number of segments.
    var count: Int { if case .missed(let missed) = self { missed.numbers.count } else { 1 } }

    /// True if the origin restarted its numbers with this segment.
    var isRestart: Bool { if case .segment(_, _, true) = self { true } else { false } }
}
