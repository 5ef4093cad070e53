internal import Glibc

/// The service manager that has started this process, told as sd_notify(3) has it: one datagram for each message.
struct ServiceManager {
    /// A path, or a name that begins with `@` for an abstract socket (unix(7)); nil where nobody wants to be told.
    private let address: String?

    /// The manager that an environment names.
    init(_ environment: [String: String]) {
        address = environment["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Says that connections are answered from now on.
    ///
    /// - Parameter status: a line for people.
    func ready(status: String) throws(ApplicationError) { try send("READY=1\nSTATUS=\(status)") }

    /// Says that the end has begun.
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

    /// The address, and the bytes of its path that count: an abstract name is as long as it is, with no NUL behind it.
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
