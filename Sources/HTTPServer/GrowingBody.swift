public import EventLoop

/// Where a growing body is in its life.
public enum GrowingBodyState: Sendable, Hashable {
    /// More may come.
    case open
    /// All is there.
    case complete
    /// No more will come, and it is not all there.
    case failed
}

/// A reply's body that is still being written to a file: one writer, many readers.
///
/// Each connection sends what is there at its own pace, straight from the file; nothing is queued for it in memory. A
/// body may be shared by any number of replies.
@LoopActor public protocol GrowingBody: AnyObject {
    /// A descriptor to read from. May differ from call to call, as long as the bytes are the same at the same offsets:
    /// it is asked for anew for each range, and not used beyond that.
    var descriptor: Int32 { get }
    /// How many bytes from the file's start can be read. Never shrinks.
    var written: Int64 { get }
    /// The bytes behind `written`, valid for the time of the call: there while readers are woken for what is not in the
    /// file yet. Who is up to date can send from them; what is not sent comes again with the file.
    var fresh: UnsafeRawBufferPointer? { get }
    /// Once not `open`, never changes again.
    var state: GrowingBodyState { get }

    /// From now on calls `wake` after each change of `written` or `state`, and when there is something `fresh`, until
    /// `reader` unsubscribes.
    ///
    /// `wake` may unsubscribe its reader, and may be called more often than needed.
    func subscribe(_ reader: AnyObject, wake: @escaping @LoopActor () -> Void)

    /// Ends `reader`'s subscription; `wake` is not called again. The reader is identified by identity.
    func unsubscribe(_ reader: AnyObject)
}
