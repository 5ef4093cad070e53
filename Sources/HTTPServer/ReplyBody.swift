public import EventLoop
import Glibc

/// The body of a reply.
public enum ReplyBody: ~Copyable {
    /// No body: `Content-Length: 0`, or no length where the status forbids a body.
    case none
    case bytes([UInt8])
    /// `length` bytes of a file from `offset`. The reply owns and closes the file. The file must not shrink meanwhile:
    /// the connection would then be closed before the announced length.
    case file(OwnedDescriptor, offset: Int64, length: Int64)
    /// Parts in this order: memory, and ranges of one file. The reply owns and closes the file, which must not shrink.
    case parts(OwnedDescriptor, [ReplyPart])
    /// A growing file from `offset`: `length` bytes, or up to its end if nil.
    case growing(any GrowingBody, offset: Int64, length: Int64?)
    /// A range of a body that is made while it is sent.
    case rendered(any RenderedBody, Range<Int>)
    case feed(any ReplyFeed)
}

/// A body of known length whose bytes are made whenever the client has room for more: a client that does not read costs
/// little memory, whatever the length.
@LoopActor public protocol RenderedBody: AnyObject, Sendable {
    /// Its length in bytes.
    nonisolated var count: Int { get }
    /// Makes the bytes of a range within the body.
    func bytes(in range: Range<Int>) -> [UInt8]
}

/// The end of a reply.
public struct ReplyEnd: Sendable, Hashable {
    /// The reason for the end.
    public enum Cause: Sendable, Hashable {
        /// The system accepted every byte.
        case complete
        /// The client closed or reset the connection, before or during the reply.
        case clientLeft
        /// The client read nothing during `writeTimeout`, and was not one that may be paused.
        case clientStalled
        case bodyFailed, serverStopped
    }

    /// The reason for the end.
    public let cause: Cause
    /// The status sent; nil if the reply had not begun.
    public let status: Int?
    /// Body bytes accepted by the system, without chunk framing; of a cut-off reply, to within the head's size.
    public let bodyBytes: Int64
}

/// A part of a body composed of memory and one file.
public enum ReplyPart: Sendable, Hashable {
    case bytes([UInt8])
    case file(Range<Int64>)

    /// Its length in bytes.
    public var count: Int64 {
        switch self {
        case .bytes(let bytes): Int64(bytes.count)
        case .file(let range): Int64(range.count)
        }
    }

    /// A subrange; `range` is relative to the part's first byte and must be within it.
    fileprivate func part(_ range: Range<Int64>) -> ReplyPart {
        switch self {
        case .bytes(let bytes):
            guard range.count != bytes.count else { return self }
            return .bytes(Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
        case .file(let whole):
            return .file((whole.lowerBound + range.lowerBound)..<(whole.lowerBound + range.upperBound))
        }
    }
}

extension [ReplyPart] {
    var length: Int64 { reduce(0) { $0 + $1.count } }

    func parts(in range: Range<Int64>) -> [ReplyPart] {
        var start: Int64 = 0
        return compactMap { part -> ReplyPart? in
            defer { start += part.count }
            let common = range.clamped(to: start..<(start + part.count))
            guard !common.isEmpty else { return nil }
            return part.part((common.lowerBound - start)..<(common.upperBound - start))
        }
    }
}

/// A cursor over a body in parts. Owns the file, which is closed with the last use.
final class PartsCursor {
    private let file: OwnedDescriptor
    private let parts: [ReplyPart]
    /// The index of the next part, and the bytes of it already returned.
    private var index: Int = 0
    private var sent: Int64 = 0
    /// Most bytes of memory sent at a time.
    private static let step: Int64 = 64 * 1024

    init(_ file: consuming OwnedDescriptor, _ parts: [ReplyPart]) {
        self.file = file
        self.parts = parts
    }

    var descriptor: Int32 { file.rawValue }
    var isAtEnd: Bool { index == parts.count }

    func next() -> ReplyPart? {
        guard index < parts.count else { return nil }
        let part = parts[index]
        var end = part.count
        if case .bytes = part {
            end = min(end, sent + Self.step)
        }
        defer {
            if end < part.count {
                sent = end
            } else {
                index += 1
                sent = 0
            }
        }
        return part.part(sent..<end)
    }
}

/// A reply body that is produced while it is sent and may never end, such as an event stream.
///
/// The connection requests more when the client has read the bytes before, so the feed itself holds the backlog of a
/// slow client and bounds it: a feed that has failed is cut off, whatever is still queued. A feed serves one reply.
@LoopActor public protocol ReplyFeed: AnyObject, Sendable {
    /// True if the reply must be cut off at once, so that the client notices.
    var hasFailed: Bool { get }
    /// Starts the feed. From now on the feed calls `wake` when `next` or `hasFailed` changes.
    func open(wake: @escaping @LoopActor () -> Void)
    func next() -> ReplyFeedStep
    /// Ends the feed. Called once, after `open`; the feed must not call `wake` again.
    func close()
}

/// The next step of a feed.
public enum ReplyFeedStep: Sendable {
    /// Send these bytes; never empty.
    case bytes([UInt8])
    case wait, end
}

/// Owns a file descriptor and closes it when dropped.
public struct OwnedDescriptor: ~Copyable, Sendable {
    /// The descriptor, borrowed: do not close it.
    public let rawValue: Int32
    /// Takes ownership of an open descriptor.
    public init(_ rawValue: Int32) { self.rawValue = rawValue }
    deinit { close(rawValue) }

    /// Releases ownership and returns the open descriptor.
    public consuming func release() -> Int32 {
        let rawValue = rawValue
        discard self
        return rawValue
    }
}
