public import EventLoop

/// A reply body that is produced while it is sent and may never end, such as an event stream.
///
/// The connection requests more when the client has read the bytes before, so the feed itself holds the backlog of a
/// slow client and bounds it: a feed that has failed is cut off, whatever is still queued. A feed serves one reply.
@LoopActor public protocol ReplyFeed: AnyObject, Sendable {
    /// True if the reply must be cut off at once, so that the client notices.
    var hasFailed: Bool { get }

    /// Starts the feed. From now on the feed calls `wake` when `next` or `hasFailed` changes.
    func open(wake: @escaping @LoopActor () -> Void)

    /// Returns the next step.
    func next() -> ReplyFeedStep

    /// Ends the feed. Called once, after `open`; the feed must not call `wake` again.
    func close()
}

/// The next step of a feed.
public enum ReplyFeedStep: Sendable {
    /// Send these bytes; never empty.
    case bytes([UInt8])
    /// No bytes yet.
    case wait
    /// The feed has ended.
    case end
}
