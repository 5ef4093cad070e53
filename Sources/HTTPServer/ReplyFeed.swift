public import EventLoop

/// A reply's body that is made while it is sent, and may never end: a stream of events.
///
/// It is asked for more when the client has taken what came before, so what waits for a slow client waits in the feed,
/// which bounds it: one that has failed is cut off, whatever is still on its way. One feed is for one reply.
@LoopActor public protocol ReplyFeed: AnyObject, Sendable {
    /// Whether it is to be cut off at once, so that the client notices.
    var hasFailed: Bool { get }

    /// The reply has begun: from now on `wake` is to be called when `next` or `hasFailed` has another answer.
    func open(wake: @escaping @LoopActor () -> Void)

    /// What comes next.
    func next() -> ReplyFeedStep

    /// The reply is over, in whatever way; comes once, after `open`, and `wake` is not to be called again.
    func close()
}

/// What a feed has for its client.
public enum ReplyFeedStep: Sendable {
    /// These bytes; never none.
    case bytes([UInt8])
    /// Nothing yet.
    case wait
    /// Nothing any more: everything was said.
    case end
}
