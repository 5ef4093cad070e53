import Glibc

/// Why a loop, a timer or a watch could not be made.
public struct EventLoopError: Error, CustomStringConvertible, Sendable {
    /// What was asked of the system.
    public enum Code: String, Sendable {
        /// An epoll instance behind an `event_base`.
        case base
        /// An eventfd to wake the loop by.
        case descriptor
        /// The loop's thread.
        case thread
        /// An event in the base.
        case event
    }

    /// What failed.
    public let code: Code
    /// The system's reason, as in errno(3).
    public let errno: Int32

    init(_ code: Code, errno: Int32) {
        self.code = code
        self.errno = errno
    }

    /// A sentence for a log.
    public var description: String { "no \(code.rawValue) for the event loop: \(String(cString: strerror(errno)))" }
}
