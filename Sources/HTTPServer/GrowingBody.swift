public import EventLoop

/// The state of a growing body.
public enum GrowingBodyState: Sendable, Hashable {
    case open, complete, failed
}

/// A reply body that is still being written to a file: one writer, many readers.
///
/// Each connection sends the written bytes at its own pace, directly from the file. Any number of replies may share a body.
@LoopActor public protocol GrowingBody: AnyObject {
    /// A descriptor to read from. Connections request it again for each range and use it for that range only, so it may
    /// change as long as the bytes stay the same at the same offsets.
    var descriptor: Int32 { get }
    /// The number of readable bytes from the file's start. Never shrinks.
    var written: Int64 { get }
    /// The bytes after `written`, not yet in the file; valid during a `wake` call. An up-to-date reader can send from
    /// them; bytes that it does not send follow with the file.
    var fresh: UnsafeRawBufferPointer? { get }
    /// Final once it is not `open`.
    var state: GrowingBodyState { get }
    /// Calls `wake` after each change of `written` or `state` and for `fresh` bytes, until `reader` unsubscribes.
    /// `wake` may unsubscribe its reader, and may be called more often than needed.
    func subscribe(_ reader: AnyObject, wake: @escaping @LoopActor () -> Void)
    /// Ends the subscription of `reader`, compared by identity. `wake` is not called again.
    func unsubscribe(_ reader: AnyObject)
}

/// The position of one reply in a growing body. Pure: state in, action out.
struct GrowingProgress: Equatable {
    enum Action: Equatable {
        case send(Range<Int64>)
        case wait, end, fail
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
        guard let end else { return start..<count }
        let stop = Int(max(Int64(start), min(end - written, Int64(count))))
        return start..<stop
    }

    mutating func advance(by count: Int) { position += Int64(count) }
    /// True if everything announced was sent; false without an announced length.
    var isAtEnd: Bool {
        guard let end else { return false }
        return position >= end
    }

    /// Returns the next step for the body's current `written` and `state`.
    mutating func next(written: Int64, state: GrowingBodyState) -> Action {
        if let end, position >= end {
            return .end
        }
        let available = min(written, end ?? .max)
        if position < available {
            let range = position..<min(available, position + Self.step)
            position = range.upperBound
            return .send(range)
        }
        switch state {
        case .open: return .wait
        case .complete where end == nil && position == written: return .end
        case .complete, .failed: return .fail
        }
    }
}
