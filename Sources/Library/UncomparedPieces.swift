import Fetching
import HTTPMessage

/// The pieces of an asset that were stored since its content was last compared with the origin's, oldest first. Pure. If the
/// content has changed meanwhile, the later ones of them are of the new content.
struct UncomparedPieces {
    struct Piece: Hashable {
        let folder: String
        let file: String
    }

    private(set) var pieces: [Piece] = []
    private var known: Set<Piece> = []
    /// The origin's time when it sent the first of the pieces.
    private var began: HTTPDate?
    /// The number of pieces that came before the origin's times gave reason to compare, until that has been done.
    private var hint: Int?
    /// True if the origin's modification times are no sign of other content: it makes each file anew.
    private var ignoresTimes = false
    /// True once the pieces of an earlier process are among these.
    private(set) var isRestored = false
    /// True while some of these are of an earlier process, and in the order of their times on the disk.
    private(set) var hasRestored = false
    /// The earliest pieces may be a common title.
    private static let title = 3

    /// Records a piece. Returns true if the origin changed its file after it had sent an earlier piece.
    mutating func record(_ piece: Piece, _ times: Fetch.OriginTimes?) -> Bool {
        guard known.insert(piece).inserted else { return false }
        pieces.append(piece)
        guard let times else { return false }
        guard let began else {
            began = times.sent
            return false
        }
        guard !ignoresTimes, hint == nil, let modified = times.modified, modified > began else { return false }
        hint = pieces.count - 1
        return true
    }

    /// Adds the last pieces of an earlier process: it may have ended before it noticed a change.
    mutating func restore(_ earlier: [Piece]) {
        let new = earlier.filter { known.insert($0).inserted }
        pieces.insert(contentsOf: new, at: 0)
        hint = hint.map { $0 + new.count }
        (isRestored, hasRestored) = (true, !new.isEmpty)
    }

    /// Records that the content was the same when so many of the pieces had been stored.
    /// - Parameter time: the origin's time.
    mutating func recordSame(first count: Int, at time: HTTPDate?) {
        pieces.removeFirst(min(count, pieces.count))
        known = Set(pieces)
        began = time ?? began
        (ignoresTimes, hint, hasRestored) = (ignoresTimes || hint != nil, nil, false)
    }

    func contains(_ file: String, of folder: String) -> Bool { known.contains(Piece(folder: folder, file: file)) }

    /// Records that the comparison was tried: once is enough.
    mutating func settle() { hint = nil }

    /// True if the origin's times gave reason to compare, and that has not been done.
    var isHinted: Bool { hint != nil }

    /// A segment of a folder that was stored early, and so is of the earlier content; nil if there is none.
    func early(in folder: String) -> PieceName? {
        let older = pieces.prefix(hint ?? pieces.count).filter { $0.folder == folder }
        let names = older.compactMap { PieceName($0.file) }.filter(\.isSegment)
        guard !names.isEmpty else { return nil }
        // Without a hint nobody knows how many are of the earlier content.
        return names[hint == nil ? min(Self.title, (names.count - 1) / 4) : (names.count - 1) / 2]
    }
}

extension PieceName {
    /// True for the name of a media segment.
    var isSegment: Bool { if case .segment = role { true } else { false } }
}
