public import EventLoop

/// The state of a growing body.
public enum GrowingBodyState: Sendable, Hashable {
    /// More bytes may follow.
    case open
    /// All bytes are written.
    case complete
    /// The body ended early.
    case failed
}

/// A reply body that is still being written to a file: one writer, many readers.
///
/// Each connection sends the written bytes at its own pace, directly from the file, and queues none of them in memory.
/// Any number of replies may share a body.
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
    ///
    /// `wake` may unsubscribe its reader, and may be called more often than needed.
    func subscribe(_ reader: AnyObject, wake: @escaping @LoopActor () -> Void)

    /// Ends the subscription of `reader`, compared by identity. `wake` is not called again.
    func unsubscribe(_ reader: AnyObject)
}
