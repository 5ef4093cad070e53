/// Bytes of a file that others take the place of; an empty range is a place between two bytes.
struct Edit: Hashable, Sendable {
    let range: Range<Int>
    let bytes: [UInt8]

    /// By how much the file grows.
    var growth: Int { bytes.count - range.count }
}

/// Where places of a file are once it has been edited.
struct PositionMap {
    /// From this place on, everything has moved so far, in order.
    private var moves: [(from: Int, by: Int)] = []

    /// A map of edits that lie in order and do not touch each other's bytes.
    init(_ edits: [Edit] = []) {
        var sum = 0
        for edit in edits where edit.growth != 0 {
            sum += edit.growth
            // What is put in front of a sample belongs to the sample: its place stays.
            moves.append((edit.range.isEmpty ? edit.range.upperBound + 1 : edit.range.upperBound, sum))
        }
    }

    /// The new place of one that is not within edited bytes.
    func callAsFunction(_ position: Int) -> Int {
        var (low, high) = (0, moves.count)
        while low < high {
            let middle = (low + high) / 2
            if moves[middle].from <= position { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? position : position + moves[low - 1].by
    }
}
