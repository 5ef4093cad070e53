/// How far one reply has got with a growing body. Pure: it is told what is there, and says what to do.
struct GrowingProgress: Equatable {
    /// What to do next.
    enum Action: Equatable {
        /// Send these bytes of the file; they count as sent.
        case send(Range<Int64>)
        /// Nothing to send until the body grows or ends.
        case wait
        /// All has been sent.
        case end
        /// The body ended before what was promised.
        case fail
    }

    /// Longest range for one `send`: so that another connection gets its turn.
    static let step: Int64 = 1 << 20

    /// Offset in the file of the next byte to send.
    private(set) var position: Int64
    /// Where the promise ends; nil for wherever the body ends.
    let end: Int64?

    init(offset: Int64, length: Int64?) {
        position = offset
        end = length.map { offset + $0 }
    }

    /// The part of `count` fresh bytes behind `written` that comes next; empty when others come first, or none.
    func nextFresh(written: Int64, count: Int) -> Range<Int> {
        guard position >= written else { return 0..<0 }
        let start = Int(min(position - written, Int64(count)))
        let stop = end.map { Int(max(Int64(start), min($0 - written, Int64(count)))) } ?? count
        return start..<stop
    }

    /// So many bytes were sent from memory.
    mutating func advance(by count: Int) { position += Int64(count) }

    /// Whether everything that was promised has been sent; false without a promise.
    var isAtEnd: Bool { end.map { position >= $0 } ?? false }

    /// `written` and `state` as the body has them now.
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
