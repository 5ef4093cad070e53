public import Origin
public import Store

/// The reason why a resource could not be fetched or kept.
public struct FetchError: Error, CustomStringConvertible, Sendable {
    /// The kind of error.
    public enum Code: String, CaseIterable, Sendable {
        /// The origin answered 404, or no source of the resource is known.
        case missing
        /// The resource is not stored, and the origin may not be asked.
        case notStored
        /// The origin answered with an error, with bytes that are not media, or broke HTTP.
        case badOrigin
        /// The origin asks for credentials, or refuses them: 401, 403, 410.
        case originRefused
        /// The origin cannot be reached, or does not answer.
        case originAbsent
        /// The host refuses connections, or has no address, while other hosts answer.
        case hostDead
        case refusedURL
        /// The store failed: `underlying` is a `StoreError`.
        case store
        case cancelled
    }

    /// The kind of error.
    public let code: Code
    /// A sentence for the user, without secrets of a URL.
    public let message: String
    /// The error of the room below, if there was one.
    public let underlying: (any Error)?

    /// An error of this room.
    public init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    /// An error of the store, as it affects `subject`.
    public init(_ error: StoreError, about subject: String) {
        self.init(.store, "\(subject): \(error)", underlying: error)
    }

    /// An error of the origin. Here alone its codes become codes of this room.
    public init(_ error: OriginError) {
        let code: Code =
            switch error.code {
            case .offline: .notStored
            case .unreachable, .connectionLost, .stalled, .timedOut: .originAbsent
            case .hostDead: .hostDead
            case .refusedAddress, .forbiddenRedirect, .noHandler: .refusedURL
            case .unauthorized, .forbidden, .gone, .proxyRefused: .originRefused
            case .notFound: .missing
            case .cancelled: .cancelled
            case .untrustedCertificate, .handshakeRefused, .cutShort, .serverFailure, .unexpectedStatus, .rangeIgnored,
                .wrongRange, .contentChanged, .tooLarge, .tooManyRedirects, .unsupportedEncoding, .malformedReply,
                .handlerFailed, .local:
                .badOrigin
            }
        self.init(code, error.description, underlying: error)
    }

    var concernsOrigin: Bool {
        switch code {
        case .originAbsent, .hostDead, .originRefused, .badOrigin, .missing, .refusedURL: true
        case .notStored, .store, .cancelled: false
        }
    }

    /// The sentence.
    public var description: String { message }
}
