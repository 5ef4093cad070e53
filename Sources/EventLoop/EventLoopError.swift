import Glibc

/// A failure to create a loop, a timer or a watch.
public struct EventLoopError: Error, CustomStringConvertible, Sendable {
    /// The system resource that could not be created.
    public enum Code: String, Sendable {
        /// An epoll instance behind an `event_base`.
        case base
        /// The eventfd that wakes the loop.
        case descriptor
        /// The loop's thread.
        case thread
        /// An event in the base.
        case event
    }

    /// The resource that could not be created.
    public let code: Code
    /// The system's error number (errno(3)).
    public let errno: Int32

    init(_ code: Code, errno: Int32) {
        self.code = code
        self.errno = errno
    }

    /// A sentence for a log.
    public var description: String {
        "cannot create the event loop's \(code.rawValue): \(String(cString: strerror(errno)))"
    }
}
