/// An absolute http or https URL (RFC 3986) in the form in which it is asked for.
///
/// Whatever was written, what is kept has no user information, no fragment, no dot segments, a host in lower case, and
/// ASCII only: characters outside of the grammar are percent-encoded as UTF-8. Percent-encodings that were there stay
/// as they are, byte for byte, since signatures may cover them. Equality is that of `text`.
public struct WebURL: Hashable, Sendable, CustomStringConvertible {
    /// The schemes that Weir speaks.
    public enum Scheme: String, Hashable, Sendable {
        /// HTTP in the clear.
        case http
        /// HTTP over TLS.
        case https

        /// The port that is meant when a URL names none.
        public var defaultPort: UInt16 { self == .http ? 80 : 443 }
    }

    /// Scheme, host and port: what credentials are bound to (RFC 6454 §4).
    public struct Origin: Hashable, Sendable, CustomStringConvertible {
        /// http or https.
        public let scheme: Scheme
        /// As `WebURL.host`.
        public let host: String
        /// As `WebURL.port`.
        public let port: UInt16

        /// `scheme://host`, and `:port` where it is not the scheme's default.
        public var description: String {
            let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
            return "\(scheme.rawValue)://\(name)" + (port == scheme.defaultPort ? "" : ":\(port)")
        }
    }

    /// Scheme, host and port.
    public let origin: Origin
    /// Begins with `/`; percent-encoded.
    public let path: String
    /// What follows the first `?`, percent-encoded; nil without one, empty when nothing follows it.
    public let query: String?

    init(origin: Origin, path: String, query: String?) {
        self.origin = origin
        self.path = path
        self.query = query
    }

    /// http or https.
    public var scheme: Scheme { origin.scheme }
    /// In lower case; an IPv6 address without its brackets.
    public var host: String { origin.host }
    /// The port named, else the scheme's default.
    public var port: UInt16 { origin.port }

    /// The whole URL, as it goes into a request. May hold a token in its query: see `redacted`.
    public var text: String { "\(origin)\(path)" + (query.map { "?\($0)" } ?? "") }

    /// The URL with another query, which must be a part of this one's.
    public func replacingQuery(_ query: String?) -> WebURL { WebURL(origin: origin, path: path, query: query) }

    /// The URL for logs and messages: `?…` stands for a query, where tokens are.
    public var redacted: String { "\(origin)\(path)" + (query == nil ? "" : "?…") }

    /// The same as `redacted`, so that interpolating a URL leaks nothing.
    public var description: String { redacted }
}
