/// The position of one reply in a growing body. Pure: state in, action out.
struct GrowingProgress: Equatable {
    /// The next step.
    enum Action: Equatable {
        /// Send this range of the file; it counts as sent.
        case send(Range<Int64>)
        /// Wait until the body grows or ends.
        case wait
        /// Everything was sent.
        case end
        /// The body ended before the announced length.
        case fail
    }

    /// Longest range for one `send`, so that other connections get their turn.
    static let step: Int64 = 1 << 20

    /// File offset of the next byte to send.
    private(set) var position: Int64
    /// End of the announced range; nil if the reply ends with the body.
    let end: Int64?

    init(offset: Int64, length: Int64?) {
        position = offset
        end = length.map { offset + $0 }
    }

    /// The part of `count` fresh bytes after `written` to send next; empty if earlier bytes come first or none remain.
    func nextFresh(written: Int64, count: Int) -> Range<Int> {
        guard position >= written else { return 0..<0 }
        let start = Int(min(position - written, Int64(count)))
        let stop = end.map { Int(max(Int64(start), min($0 - written, Int64(count)))) } ?? count
        return start..<stop
    }

    /// Records bytes sent from memory.
    mutating func advance(by count: Int) { position += Int64(count) }

    /// True if everything announced was sent; false without an announced length.
    var isAtEnd: Bool { end.map { position >= $0 } ?? false }

    /// Returns the next step for the body's current `written` and `state`.
    mutating func next(written: Int64, state: GrowingBodyState) -> Action {
        if let end, position >= end { return .end }
        let available = min(written, end ?? .max)
        if position < available {
            let range = position..<min(available, position + Self.step)
            position = range.upperBound
            return .send(range)
        }
        switch state {
        case .open: return .wait
        case .failed: return .fail
        case .complete: return end == nil && position == written ? .end : .fail
        }
    }
}
