/// Distributes the bytes of one request over several pieces, and tracks which pieces it still delivers.
/// Pure. Pieces are numbered from 0 in the order of their ranges; bytes count from the beginning of the request's
/// range. Pieces before `current` are finished, `remaining` are to come, and the request ends before those behind.
struct MergedFetchOrder {
    struct Part: Equatable {
        let piece: Int
        let offset: Int64
        let count: Int
        let isLast: Bool
    }

    /// The start of each piece, and the end of the last one.
    private let bounds: [Int64]
    private var isNeeded: [Bool]
    private(set) var position: Int64 = 0
    /// The piece that arrives now, or next.
    private(set) var current = 0
    /// The piece before which the request ends; at least `current`.
    private var end: Int

    /// - Parameter lengths: of the pieces, in bytes; none is 0. All pieces start as needed.
    init(lengths: [Int64]) {
        bounds = lengths.reduce(into: [0]) { $0.append(($0.last ?? 0) + $1) }
        isNeeded = lengths.map { _ in true }
        end = lengths.count
    }

    var remaining: Range<Int> { current..<end }
    var isOver: Bool { current == end }
    /// True if the request includes bytes that are not used, so that it must be cancelled.
    var isCut: Bool { end < isNeeded.count }

    /// True if some, but not all bytes of a piece have arrived.
    func hasBegun(_ piece: Int) -> Bool { piece == current && !isOver && position > bounds[piece] }

    /// Assigns the next bytes, at most `limit`, to a piece; nil if there are none, or no piece needs them.
    mutating func assign(_ limit: Int) -> Part? {
        guard !isOver, limit > 0 else { return nil }
        let offset = position - bounds[current]
        let count = min(Int64(limit), bounds[current + 1] - position)
        position += count
        return Part(piece: current, offset: offset, count: Int(count), isLast: position == bounds[current + 1])
    }

    /// Marks a piece as finished. Until then it remains the current one, even if its readers change.
    mutating func finish(_ piece: Int) {
        if piece == current, !isOver {
            current += 1
        }
    }

    mutating func markNeeded(_ piece: Int) { isNeeded[piece] = true }
    /// Marks a piece as not needed. It is transferred all the same if a later piece is needed.
    mutating func markUnneeded(_ piece: Int) { isNeeded[piece] = false }

    /// Ends the request before a remaining piece that is fetched by another request.
    /// - Returns: the pieces behind it, which the request no longer delivers: the needed ones, and the others.
    mutating func leave(_ piece: Int) -> (needed: [Int], unneeded: [Int]) {
        let behind = (piece + 1)..<end
        end = piece
        return (behind.filter { isNeeded[$0] }, behind.filter { !isNeeded[$0] })
    }

    /// Ends the request after the last piece that is needed. Returns the pieces that it no longer delivers.
    mutating func trim() -> Range<Int> {
        let before = end
        while end > current, !isNeeded[end - 1] {
            end -= 1
        }
        return end..<before
    }

    /// Ends the request. Returns the pieces that remained.
    mutating func close() -> Range<Int> {
        defer { end = current }
        return remaining
    }
}
