internal import Glibc

/// The sockets on which a service manager has listened for this process, as sd_listen_fds(3) has it.
///
/// They outlive the process, so whoever connects while it is started anew waits for it instead of being refused.
enum InheritedSockets {
    private static let first: Int32 = 3
    private static let limit: Int32 = 64

    /// Their descriptors, which no child of this process gets; empty where nothing was handed over, or to another
    /// process than this one.
    ///
    /// - Throws: `ApplicationError` where their number is none.
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
