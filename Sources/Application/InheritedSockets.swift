internal import Glibc

/// The listening sockets that a service manager passed to this process, as in sd_listen_fds(3).
///
/// The sockets outlive the process, so a client that connects during a restart waits instead of being refused.
enum InheritedSockets {
    private static let first: Int32 = 3
    private static let limit: Int32 = 64

    /// The descriptors, marked close-on-exec. Empty if there are none, or if they are for another process.
    ///
    /// - Throws: `ApplicationError` if the number of descriptors is invalid.
    static func descriptors(_ environment: [String: String]) throws(ApplicationError) -> Range<Int32> {
        guard let count = environment["LISTEN_FDS"], environment["LISTEN_PID"] == "\(getpid())" else {
            return first..<first
        }
        guard let count = Int32(count), (0...limit).contains(count) else {
            throw ApplicationError(
                .address, "LISTEN_FDS is \"\(count)\", not a number of sockets up to \(limit)",
                next: "start weir from a socket unit of systemd, or without LISTEN_FDS: env -u LISTEN_FDS weir serve")
        }
        let descriptors = first..<(first + count)
        for descriptor in descriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        return descriptors
    }
}
