/// An error that keeps the daemon from starting.
package struct ApplicationError: Error, CustomStringConvertible, Sendable {
    package enum Code: String, Sendable {
        /// The state directory cannot be written, or another daemon holds it.
        case stateDirectory
        case store
        case newerStore
        case address
        /// A command could not start the daemon.
        case noStart
        /// The daemon takes too long to end.
        case busy
        /// The daemon belongs to a service manager or another user.
        case refused
        case other
    }

    package let code: Code
    /// A sentence without a capital or a full stop.
    package let message: String
    package let next: String?
    package let underlying: (any Error)?
    /// Lines of a log that show the cause.
    package internal(set) var details: [String] = []

    init(_ code: Code, _ message: String, next: String? = nil, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.next = next
        self.underlying = underlying
    }

    static func portTaken(_ address: ListenAddress, underlying: any Error) -> ApplicationError {
        let free = ListenAddress(host: address.host, port: 0)
        return ApplicationError(
            .address, "another program uses port \(address.port) of \(address.host)",
            next:
                "end the program that uses it (ss -ltnp 'sport = :\(address.port)' shows it), or use a free port: "
                + "weir serve --listen \(free)",
            underlying: underlying)
    }

    /// The daemon cannot listen on a socket that a service manager passed on.
    static func inheritedSocket(_ reason: String, underlying: any Error) -> ApplicationError {
        ApplicationError(
            .address, "a socket of the service manager cannot be used: \(reason)",
            next: "let the service manager listen on 127.0.0.1:8216 or [::1]:8216", underlying: underlying)
    }

    package var exitCode: Int32 {
        switch code {
        case .stateDirectory, .store, .address: 73
        case .newerStore: 78
        case .noStart: 69
        case .busy: 75
        case .refused: 77
        case .other: 1
        }
    }

    package var description: String { message }
}
