/// What follows a reply's head.
public enum ReplyBody: ~Copyable {
    /// Nothing: `Content-Length: 0`, or no length at all where the status forbids a body.
    case none
    /// Bytes in memory.
    case bytes([UInt8])
    /// `length` bytes of a file from `offset`; the file is taken over and closed. It must not shrink while it is sent:
    /// a client then gets less than it was promised, and the connection is closed.
    case file(OwnedDescriptor, offset: Int64, length: Int64)
    /// Parts in this order: memory, and ranges of one file, which is taken over and closed. As of `file`, it must not
    /// shrink.
    case parts(OwnedDescriptor, [ReplyPart])
    /// A file that is still being written, from `offset`; with `length`, so many bytes of it, else all to its end.
    case growing(any GrowingBody, offset: Int64, length: Int64?)
    /// What is made while it is sent, to its end.
    case feed(any ReplyFeed)
}

/// How a reply ended.
public struct ReplyEnd: Sendable, Hashable {
    /// What ended it.
    public enum Cause: Sendable, Hashable {
        /// Every byte was given to the system.
        case complete
        /// The client closed or reset the connection, before or during the reply.
        case clientLeft
        /// The client took nothing for as long as the configuration allows.
        case clientStalled
        /// The body failed, or the file was shorter than announced.
        case bodyFailed
        /// The server was stopped.
        case serverStopped
    }

    /// What ended it.
    public let cause: Cause
    /// The status that was sent; nil when the reply had not begun.
    public let status: Int?
    /// Bytes of the body that were given to the system, without chunk framing. Of a reply that was cut off, to within
    /// the size of its head.
    public let bodyBytes: Int64
}
