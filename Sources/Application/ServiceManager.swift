internal import Glibc

/// The service manager that started this process. It is notified as in sd_notify(3), with one datagram per message.
struct ServiceManager {
    /// A path, or a name that begins with `@` for an abstract socket (unix(7)); nil without a service manager.
    private let address: String?

    /// Reads the manager's address from the environment.
    init(_ environment: [String: String]) {
        address = environment["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Reports that the daemon answers connections.
    ///
    /// - Parameter status: a line for users.
    func ready(status: String) throws(ApplicationError) { try send("READY=1\nSTATUS=\(status)") }

    /// Reports that the daemon is stopping.
    func stopping(status: String) throws(ApplicationError) { try send("STOPPING=1\nSTATUS=\(status)") }

    private func send(_ message: String) throws(ApplicationError) {
        guard let address else { return }
        guard var name = Self.socketName(address) else {
            throw failure(address, "is neither a path nor @ and a name, of 107 bytes at most")
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
            .other, "the service manager at NOTIFY_SOCKET=\(address) cannot be told: \(reason)",
            next: "start weir from a unit with Type=notify, or without that variable")
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
