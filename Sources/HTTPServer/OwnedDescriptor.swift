import Glibc

/// The one owner of a file descriptor: closes it when dropped.
public struct OwnedDescriptor: ~Copyable, Sendable {
    /// Borrowed; not to be closed by anyone else.
    public let rawValue: Int32

    /// Takes ownership of an open descriptor.
    public init(_ rawValue: Int32) {
        self.rawValue = rawValue
    }

    deinit { close(rawValue) }

    /// Gives the descriptor away, open.
    public consuming func release() -> Int32 {
        let rawValue = rawValue
        discard self
        return rawValue
    }
}
