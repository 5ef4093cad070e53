import Glibc

/// A failure to listen on an address.
public struct HTTPServerError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure.
    public enum Code: String, Sendable, Hashable {
        /// Not a literal IPv4 or IPv6 address.
        case invalidAddress
        case addressInUse, addressNotAvailable
        /// Ports below 1024 may be reserved.
        case notPermitted
        /// The inherited descriptor is not a listening IP socket.
        case notListening
        /// Any other system error; see `errno`.
        case system
    }

    /// The kind of failure.
    public let code: Code
    /// The given address or path, or a description of the descriptor.
    public let address: String
    /// The given port.
    public let port: UInt16
    /// The system's error number (errno(3)); 0 without a system call.
    public let errno: Int32

    init(invalidAddress address: String, port: UInt16) {
        code = .invalidAddress
        self.address = address
        self.port = port
        errno = 0
    }

    init(notListening descriptor: Int32) {
        code = .notListening
        address = "descriptor \(descriptor)"
        port = 0
        errno = 0
    }

    init(path: String, errno: Int32) {
        code = .system
        address = path
        port = 0
        self.errno = errno
    }

    /// Maps the system's error number to a code.
    init(address: String, port: UInt16, errno number: Int32) {
        self.address = address
        self.port = port
        errno = number
        code =
            switch number {
            case EADDRINUSE: .addressInUse
            case EADDRNOTAVAIL: .addressNotAvailable
            case EACCES, EPERM: .notPermitted
            default: .system
            }
    }

    /// A sentence for a log or a person.
    public var description: String {
        switch code {
        case .invalidAddress: "\(address) is not a literal IP address"
        case .addressInUse: "port \(port) at \(address) is in use by another program"
        case .addressNotAvailable: "no network interface of this machine has the address \(address)"
        case .notPermitted: "this user may not listen on port \(port)"
        case .notListening: "\(address) is not a listening IP socket"
        case .system where port == 0: "cannot listen at \(address): \(String(cString: strerror(errno)))"
        case .system: "cannot listen on port \(port) at \(address): \(String(cString: strerror(errno)))"
        }
    }
}
