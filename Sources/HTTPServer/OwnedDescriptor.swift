import Glibc

/// Owns a file descriptor and closes it when dropped.
public struct OwnedDescriptor: ~Copyable, Sendable {
    /// The descriptor, borrowed: do not close it.
    public let rawValue: Int32

    /// Takes ownership of an open descriptor.
    public init(_ rawValue: Int32) {
        self.rawValue = rawValue
    }

    deinit { close(rawValue) }

    /// Releases ownership and returns the open descriptor.
    public consuming func release() -> Int32 {
        let rawValue = rawValue
        discard self
        return rawValue
    }
}
