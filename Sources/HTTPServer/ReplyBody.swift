/// The body of a reply.
public enum ReplyBody: ~Copyable {
    /// No body: `Content-Length: 0`, or no length where the status forbids a body.
    case none
    /// Bytes in memory.
    case bytes([UInt8])
    /// `length` bytes of a file from `offset`. The reply owns and closes the file. The file must not shrink meanwhile:
    /// the connection would then be closed before the announced length.
    case file(OwnedDescriptor, offset: Int64, length: Int64)
    /// Parts in this order: memory, and ranges of one file. The reply owns and closes the file, which must not shrink.
    case parts(OwnedDescriptor, [ReplyPart])
    /// A growing file from `offset`: `length` bytes, or up to its end if nil.
    case growing(any GrowingBody, offset: Int64, length: Int64?)
    /// A stream produced while it is sent.
    case feed(any ReplyFeed)
}

/// The end of a reply.
public struct ReplyEnd: Sendable, Hashable {
    /// The reason for the end.
    public enum Cause: Sendable, Hashable {
        /// The system accepted every byte.
        case complete
        /// The client closed or reset the connection, before or during the reply.
        case clientLeft
        /// The client read nothing during `writeTimeout`.
        case clientStalled
        /// The body failed, or the file was shorter than announced.
        case bodyFailed
        /// The server was stopped.
        case serverStopped
    }

    /// The reason for the end.
    public let cause: Cause
    /// The status sent; nil if the reply had not begun.
    public let status: Int?
    /// Body bytes accepted by the system, without chunk framing. Accurate to within the size of the head for a reply
    /// that was cut off.
    public let bodyBytes: Int64
}
