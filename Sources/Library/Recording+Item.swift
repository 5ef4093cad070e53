import EventLoop
public import Fetching
import Playlist

extension Recording {
    /// What was seen and is not in the text yet.
    public struct Item {
        /// What it is.
        let entry: RecordingFront.Entry
        /// Where it begins, in seconds from the first segment that was seen.
        public let time: Double
        /// The text that brought it.
        let source: Rendition.Source
        /// Whether it is the first that its text brought.
        let isFirstOfWindow: Bool
        /// What must be there before it can be listed: the segment, its initialization section, and its keys. Empty for
        /// one that was missed, or that the origin itself calls a gap.
        public internal(set) var needed: [(folder: PieceFolder, resource: Resource)] = []
        /// What the segment is called; nil for one that was missed.
        var file: PieceName?
        /// What its initialization section is called.
        var map: PieceName?
        /// Why it will not come.
        var loss: String?
    }
}

extension Recording.Item {
    /// The recording's number for it; the first, where it is several that were missed.
    public var number: Int { entry.number }

    /// Whether nothing speaks against listing it now.
    @LoopActor public var isSettled: Bool { needed.allSatisfy { $0.folder.contains($0.resource.name.description) } }

    /// Whether there is nothing of it to be played.
    var isMissing: Bool {
        if loss != nil { return true }
        switch entry {
        case .missed: return true
        case .segment(let segment, _, _): return segment.isGap
        }
    }
}

extension RecordingFront.Entry {
    /// The recording's number of the first that it is.
    var number: Int {
        switch self {
        case .missed(let missed): missed.numbers.lowerBound
        case .segment(_, let number, _): number
        }
    }

    /// How long it is, in seconds.
    var length: Double {
        switch self {
        case .missed(let missed): missed.duration * Double(missed.numbers.count)
        case .segment(let segment, _, _): segment.duration
        }
    }

    /// How many segments it stands for.
    var count: Int { if case .missed(let missed) = self { missed.numbers.count } else { 1 } }

    /// Whether the origin began its numbers anew with it.
    var isRestart: Bool { if case .segment(_, _, true) = self { true } else { false } }
}
