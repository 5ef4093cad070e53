public import HTTPMessage

/// A failed request to an origin, after all retries.
public struct OriginError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure, for callers to decide by.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// The client is offline; nothing was sent.
        case offline
        /// No name, no route or no connection, or the origin is presumed absent.
        case unreachable
        /// The host refuses connections, or has no address, while other hosts answer; see `HostReach`.
        case hostDead
        /// The address is private or one of Weir's own listeners, and the user did not name it. No connection was
        /// opened.
        case refusedAddress
        case untrustedCertificate
        /// The server ended the TLS handshake: it requires a client certificate, or a TLS version that is not safe.
        case handshakeRefused
        /// The proxy requires other credentials, does not allow the request, or has a certificate that cannot be trusted.
        case proxyRefused
        case connectionLost
        case cutShort
        /// The body arrived more slowly than the limit.
        case stalled
        /// No reply began in time, or the deadline passed.
        case timedOut
        case unauthorized
        case forbidden
        case notFound
        case gone
        /// 408, 429 or 5xx, repeatedly.
        case serverFailure
        case unexpectedStatus
        case rangeIgnored
        case wrongRange
        /// The resource differs from the one that the receiver has the beginning of.
        case contentChanged
        /// The body exceeds the request's limit, encoded or decoded.
        case tooLarge
        /// More redirects than the limit, for instance a loop.
        case tooManyRedirects
        /// A redirect to a disallowed target: another scheme than http and https, or an invalid URL.
        case forbiddenRedirect
        case unsupportedEncoding
        case malformedReply
        /// The URL's scheme is neither http nor https, and no handler answers it.
        case noHandler
        /// The handler gave no answer, or one that cannot be used.
        case handlerFailed
        case cancelled
        /// Out of descriptors or memory, or an error of libcurl.
        case local
    }

    /// The kind of failure.
    public let code: Code
    /// The URL that failed, redacted; after redirects not the request's URL.
    public let url: String
    /// The reply's status, if relevant.
    public let status: Int?
    /// The cause in the words of libcurl, the system or this room, without secrets.
    public let underlying: String?

    /// An error at a URL.
    public init(_ code: Code, url: WebURL, status: Int? = nil, underlying: String? = nil) {
        self.code = code
        self.url = url.redacted
        self.status = status
        self.underlying = underlying
    }

    private init(_ error: OriginError, _ code: Code) {
        self.code = code
        url = error.url
        status = error.status
        underlying = error.underlying
    }

    /// This failure as that of a dead host.
    var ofDeadHost: OriginError { OriginError(self, .hostDead) }

    /// A sentence for the user.
    public var description: String {
        guard let underlying else { return "\(url) \(sentence)" }
        return "\(url) \(sentence): \(underlying)"
    }

    private var sentence: String {
        var code = ""
        if let status {
            code = " (\(status))"
        }
        return switch self.code {
        case .offline: "was not requested, because Weir is offline"
        case .unreachable: "could not be reached"
        case .hostDead: "could not be reached, although other hosts answer"
        case .refusedAddress: "was not requested: its address is private, and your URL does not name it"
        case .untrustedCertificate: "has a certificate that cannot be trusted"
        case .handshakeRefused: "cannot be reached by TLS"
        case .proxyRefused: "could not be requested through the proxy"
        case .connectionLost: "broke the connection before it replied"
        case .cutShort: "ended before it was complete"
        case .stalled: "sent too slowly"
        case .timedOut: "took too long"
        case .unauthorized: "requires credentials\(code)"
        case .forbidden where status == 451: "is not available for legal reasons, perhaps only in this country\(code)"
        case .forbidden: "is forbidden by the origin\(code)"
        case .notFound: "was not found\(code)"
        case .gone: "is gone permanently\(code)"
        case .serverFailure: "failed at the origin\(code)"
        case .unexpectedStatus: "was answered with status \(status ?? 0)"
        case .rangeIgnored: "was sent whole, although a range was requested"
        case .wrongRange: "was sent with another range than the requested one"
        case .contentChanged: "has changed at the origin since its beginning was fetched"
        case .tooLarge: "is larger than allowed"
        case .tooManyRedirects: "redirects too often"
        case .forbiddenRedirect: "redirects to a URL that Weir does not follow"
        case .unsupportedEncoding: "has a content coding that cannot be undone"
        case .malformedReply: "was answered with something that is not valid HTTP"
        case .noHandler:
            "needs a handler for its scheme, and the table [handlers] of weir.toml has none that may answer it"
        case .handlerFailed: "was not resolved by its handler"
        case .cancelled: "was cancelled"
        case .local: "could not be requested"
        }
    }
}

extension OriginError.Code {
    /// True if the code means that the origin did not respond.
    var isTimeout: Bool {
        switch self {
        case .timedOut, .stalled, .connectionLost: true
        default: false
        }
    }

    /// True if the cause is in the settings for the way to the origin: a proxy, or TLS. The message has the next step.
    public var concernsWay: Bool {
        switch self {
        case .untrustedCertificate, .handshakeRefused, .proxyRefused: true
        default: false
        }
    }

    /// True if the code may mean that the network is down.
    var isAway: Bool { isTimeout || self == .unreachable }
}
