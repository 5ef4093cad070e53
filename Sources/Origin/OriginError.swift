public import HTTPMessage

/// Why an origin did not give what it was asked for. What could be retried has been retried by then.
public struct OriginError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure: what callers decide by.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// The client is switched offline: nothing was tried.
        case offline
        /// No name, no route or no connection, or the origin is presumed absent.
        case unreachable
        /// The address is private, or one of our own listeners, and the user did not name it. No connection was opened.
        case refusedAddress
        /// The TLS certificate does not prove that this is the origin.
        case untrustedCertificate
        /// The connection broke before a reply came.
        case connectionLost
        /// The body ended short of its announced length, again and again.
        case cutShort
        /// The body came more slowly than the limit.
        case stalled
        /// No reply began in time, or the whole took longer than it may.
        case timedOut
        /// 401.
        case unauthorized
        /// 403.
        case forbidden
        /// 404.
        case notFound
        /// 410.
        case gone
        /// 408, 429 or 5xx, again and again.
        case serverFailure
        /// Another status that is no answer.
        case unexpectedStatus
        /// A part of a file was asked for and the whole file came.
        case rangeIgnored
        /// A part came that is not the one asked for.
        case wrongRange
        /// The resource is no longer the one that the receiver has the beginning of.
        case contentChanged
        /// The body is longer than the request allows, encoded or decoded.
        case tooLarge
        /// More redirects than the limit; a loop ends so.
        case tooManyRedirects
        /// A redirect to where no request may go: another scheme, from https to http, or no valid URL.
        case forbiddenRedirect
        /// The body came in an encoding that was not asked for.
        case unsupportedEncoding
        /// Not HTTP, or more bytes than were announced.
        case malformedReply
        /// The task that waited for it was cancelled.
        case cancelled
        /// Out of descriptors or memory, or libcurl refused to work.
        case local
    }

    /// The kind of failure.
    public let code: Code
    /// Where it happened: after redirects not the URL of the request. Redacted.
    public let url: String
    /// The status of the reply, when there was one that matters.
    public let status: Int?
    /// The cause as libcurl, the system or this room names it, without secrets.
    public let underlying: String?

    /// An error at a URL.
    public init(_ code: Code, url: WebURL, status: Int? = nil, underlying: String? = nil) {
        self.code = code
        self.url = url.redacted
        self.status = status
        self.underlying = underlying
    }

    /// A sentence for the user.
    public var description: String {
        "\(url) \(sentence)" + (underlying.map { ": \($0)" } ?? "")
    }

    private var sentence: String {
        let code = status.map { " (\($0))" } ?? ""
        return switch self.code {
        case .offline: "was not asked for, since Weir is offline"
        case .unreachable: "could not be reached"
        case .refusedAddress: "was not asked for: its address is private and was not named by you"
        case .untrustedCertificate: "has a certificate that cannot be trusted"
        case .connectionLost: "broke the connection before it replied"
        case .cutShort: "broke off in the middle"
        case .stalled: "sent too slowly"
        case .timedOut: "took too long"
        case .unauthorized: "wants credentials\(code)"
        case .forbidden: "is forbidden by the origin\(code)"
        case .notFound: "was not found\(code)"
        case .gone: "is gone for good\(code)"
        case .serverFailure: "failed at the origin\(code)"
        case .unexpectedStatus: "was answered with status \(status ?? 0)"
        case .rangeIgnored: "was sent whole where a part of it was asked for"
        case .wrongRange: "was sent in another part than the one asked for"
        case .contentChanged: "has changed at the origin since its beginning was fetched"
        case .tooLarge: "is larger than allowed"
        case .tooManyRedirects: "redirects too often"
        case .forbiddenRedirect: "redirects to where Weir does not go"
        case .unsupportedEncoding: "came in an encoding that was not asked for"
        case .malformedReply: "was answered with something that is not valid HTTP"
        case .cancelled: "is not wanted any more"
        case .local: "could not be asked for"
        }
    }
}

extension OriginError.Code {
    /// Whether the origin was silent, as far as this tells.
    var isSilence: Bool {
        switch self {
        case .timedOut, .stalled, .connectionLost: true
        default: false
        }
    }

    /// Whether the network may be away, as far as this tells.
    var isAway: Bool { isSilence || self == .unreachable }
}
