internal import Glibc

/// The service manager that started this process. It is notified as in sd_notify(3), with one datagram per message.
struct ServiceManager {
    /// A path, or a name that begins with `@` for an abstract socket (unix(7)); nil without a service manager.
    private let address: String?

    init(_ environment: [String: String]) { address = environment.value(ofVariable: "NOTIFY_SOCKET") }

    /// Reports that the daemon answers connections; `status` is for users.
    func ready(status: String) throws(ApplicationError) { try send("READY=1\nSTATUS=\(status)") }

    func stopping(status: String) throws(ApplicationError) { try send("STOPPING=1\nSTATUS=\(status)") }

    private func send(_ message: String) throws(ApplicationError) {
        guard let address else { return }
        guard var name = Self.socketName(address) else {
            throw failure(address, "it is neither a path nor an abstract name with @, of at most 107 bytes")
        }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw failure(address, String(cString: strerror(errno))) }
        defer { close(descriptor) }
        let bytes = Array(message.utf8)
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.length)
        let sent = withUnsafePointer(to: &name.value) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
        guard sent == bytes.count else { throw failure(address, String(cString: strerror(errno))) }
    }

    private func failure(_ address: String, _ reason: String) -> ApplicationError {
        ApplicationError(
            .other, "the service manager at NOTIFY_SOCKET=\(address) cannot be notified: \(reason)",
            next: "start weir from a unit with Type=notify, or without this variable")
    }

    /// The socket address and its significant length: an abstract name has no NUL at its end.
    private static func socketName(_ address: String) -> (value: sockaddr_un, length: Int)? {
        var bytes = Array(address.utf8)
        var value = sockaddr_un()
        guard bytes.count > 1, bytes.count < MemoryLayout.size(ofValue: value.sun_path) else { return nil }
        switch bytes[0] {
        case UInt8(ascii: "@"): bytes[0] = 0
        case UInt8(ascii: "/"): bytes.append(0)
        default: return nil
        }
        value.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &value.sun_path) { $0.copyBytes(from: bytes) }
        return (value, bytes.count)
    }
}

/// The listening sockets that a service manager passed to this process, as in sd_listen_fds(3). They outlive the
/// process, so a client that connects during a restart waits instead of being refused.
enum InheritedSockets {
    private static let first: Int32 = 3
    private static let limit: Int32 = 64

    /// The descriptors, marked close-on-exec; empty if there are none, or if they are for another process.
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
        for descriptor in descriptors {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }
        return descriptors
    }
}
