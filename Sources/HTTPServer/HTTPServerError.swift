import Glibc

/// Why the server does not listen where it was told to.
public struct HTTPServerError: Error, Sendable, CustomStringConvertible {
    /// What is wrong.
    public enum Code: String, Sendable, Hashable {
        /// Not a literal IPv4 or IPv6 address.
        case invalidAddress
        /// Another socket has the port.
        case addressInUse
        /// No interface has the address.
        case addressNotAvailable
        /// Ports below 1024 may be reserved.
        case notPermitted
        /// A descriptor that was handed over is no IP socket that listens.
        case notListening
        /// Anything else that the system objects to; see `errno`.
        case system
    }

    /// What is wrong.
    public let code: Code
    /// The address as it was given, or the descriptor in words.
    public let address: String
    /// The port as it was given.
    public let port: UInt16
    /// The system's reason as in errno(3); 0 where the system was not asked.
    public let errno: Int32

    init(invalidAddress address: String, port: UInt16) {
        (code, self.address, self.port, errno) = (.invalidAddress, address, port, 0)
    }

    init(notListening descriptor: Int32) {
        (code, address, port, errno) = (.notListening, "descriptor \(descriptor)", 0, 0)
    }

    /// Takes the reason from the calling thread's errno.
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
        case .addressInUse: "port \(port) at \(address) is taken by another program"
        case .addressNotAvailable: "no network interface here has the address \(address)"
        case .notPermitted: "this user may not listen on port \(port)"
        case .notListening: "\(address) is no IP socket that listens"
        case .system: "cannot listen on port \(port) at \(address): \(String(cString: strerror(errno)))"
        }
    }
}
