/// How a request for several pieces is shared out: to which of them a byte belongs, and which of them it still brings.
///
/// Pure. Pieces are counted from 0 in the order of their ranges, bytes from the beginning of the request's. The pieces
/// before `current` are over, `remaining` are to come, and those behind were let go of: the request ends before them.
struct MergedFetchOrder {
    /// So many of the next bytes, and where they belong.
    struct Part: Equatable {
        /// Whose they are.
        let piece: Int
        /// Where they begin in the piece.
        let offset: Int64
        /// How many they are.
        let count: Int
        /// Whether the piece ends with them.
        let isLast: Bool
    }

    /// Where each piece begins, and where the last one ends.
    private let bounds: [Int64]
    private var isWanted: [Bool]
    /// The first byte that has not come.
    private(set) var position: Int64 = 0
    /// The piece that comes now, or next.
    private(set) var current = 0
    /// The piece before which the request ends; never less than `current`.
    private var end: Int

    /// - Parameter lengths: of the pieces, in bytes; none is empty. All are wanted.
    init(lengths: [Int64]) {
        bounds = lengths.reduce(into: [0]) { $0.append(($0.last ?? 0) + $1) }
        isWanted = lengths.map { _ in true }
        end = lengths.count
    }

    /// The pieces that the request brings yet.
    var remaining: Range<Int> { current..<end }
    /// Whether it brings nothing more.
    var isOver: Bool { current == end }
    /// Whether bytes were asked for that are not taken, so that the request must be broken off.
    var isCut: Bool { end < isWanted.count }

    /// Whether bytes of a piece have come, and more are to come.
    func hasBegun(_ piece: Int) -> Bool { piece == current && !isOver && position > bounds[piece] }

    // MARK: Bytes

    /// Places the next bytes, at most `count` of them; nil when there are none, or they are nobody's.
    mutating func take(_ count: Int) -> Part? {
        guard !isOver, count > 0 else { return nil }
        let offset = position - bounds[current]
        let taken = min(Int64(count), bounds[current + 1] - position)
        position += taken
        return Part(piece: current, offset: offset, count: Int(taken), isLast: position == bounds[current + 1])
    }

    /// A piece has got its last bytes; before that it counts as the one that comes, whatever its readers do meanwhile.
    mutating func finish(_ piece: Int) {
        if piece == current, !isOver { current += 1 }
    }

    // MARK: Who comes and goes

    /// Somebody wants a piece.
    mutating func want(_ piece: Int) { isWanted[piece] = true }

    /// Nobody wants a piece any more. It comes all the same where one behind it is wanted: so do its bytes.
    mutating func unwant(_ piece: Int) { isWanted[piece] = false }

    /// Ends the request before a piece that remains, and that somebody fetches otherwise.
    ///
    /// - Returns: those behind it, which the request does not bring any more: the wanted ones, and the others.
    mutating func leave(_ piece: Int) -> (wanted: [Int], unwanted: [Int]) {
        let behind = (piece + 1)..<end
        end = piece
        return (behind.filter { isWanted[$0] }, behind.filter { !isWanted[$0] })
    }

    /// Ends the request behind the last piece that somebody wants.
    ///
    /// - Returns: those that it does not bring any more for that.
    mutating func trim() -> Range<Int> {
        let before = end
        while end > current, !isWanted[end - 1] { end -= 1 }
        return end..<before
    }

    /// Brings nothing more.
    ///
    /// - Returns: what remained.
    mutating func close() -> Range<Int> {
        defer { end = current }
        return remaining
    }
}
