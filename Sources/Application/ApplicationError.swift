/// An error that keeps the daemon from starting.
public struct ApplicationError: Error, CustomStringConvertible, Sendable {
    /// Cause of the error.
    public enum Code: String, Sendable {
        /// The state directory cannot be written, or another daemon holds it.
        case stateDirectory
        /// The store cannot be opened or written.
        case store
        /// A newer Weir has used the store.
        case newerStore
        /// The daemon cannot listen on an address.
        case address
        /// Any other cause.
        case other
    }

    /// Cause of the error.
    public let code: Code
    /// A sentence without a capital or a full stop.
    public let message: String
    /// Next step.
    public let next: String?
    /// The underlying error.
    public let underlying: (any Error)?

    init(_ code: Code, _ message: String, next: String? = nil, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.next = next
        self.underlying = underlying
    }

    /// Another program already uses the port.
    static func portTaken(_ address: ListenAddress, underlying: any Error) -> ApplicationError {
        let free = ListenAddress(host: address.host, port: 0)
        return ApplicationError(
            .address, "port \(address.port) of \(address.host) is taken",
            next:
                "end the program that has it (ss -ltnp 'sport = :\(address.port)' shows it), or take a free port with: "
                + "weir serve --listen \(free)",
            underlying: underlying)
    }

    /// The daemon cannot listen on a socket that a service manager passed on.
    static func handedOver(_ reason: String, underlying: any Error) -> ApplicationError {
        ApplicationError(
            .address, "a socket that was handed over: \(reason)",
            next: "have the service manager listen on 127.0.0.1:8216 or [::1]:8216", underlying: underlying)
    }

    /// The exit code as in sysexits(3): 73 for what cannot be created or written, 78 for a store of a newer Weir, 1 for
    /// other errors.
    public var exitCode: Int32 {
        switch code {
        case .stateDirectory, .store, .address: 73
        case .newerStore: 78
        case .other: 1
        }
    }

    /// The message.
    public var description: String { message }
}
