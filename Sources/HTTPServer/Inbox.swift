import Glibc

/// Memory that sockets are read into, one after another; one for the whole server. What a connection does not use up at
/// once it has to copy.
final class Inbox {
    /// Most bytes taken from a socket at a time.
    static let capacity = 64 * 1024

    /// What a socket gave.
    enum Reading {
        /// So many bytes, at the front of `bytes`.
        case bytes(Int)
        /// Nothing for now.
        case nothing
        /// The peer will send no more.
        case end
        /// The connection is broken.
        case failure
    }

    private let base: UnsafeMutableRawPointer

    init() {
        base = .allocate(byteCount: Self.capacity, alignment: 16)
    }

    deinit { base.deallocate() }

    /// Valid until the next reading.
    func bytes(_ count: Int) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

    func read(_ descriptor: Int32) -> Reading {
        let count = recv(descriptor, base, Self.capacity, 0)
        if count > 0 { return .bytes(count) }
        if count == 0 { return .end }
        return errno == EAGAIN || errno == EINTR ? .nothing : .failure
    }
}
