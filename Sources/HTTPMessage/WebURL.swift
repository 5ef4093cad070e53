/// An absolute http or https URL (RFC 3986), normalised for requests.
///
/// It contains no user information, no fragment and no dot segments; its host is in lower case; and it is ASCII only:
/// characters outside the grammar are percent-encoded as UTF-8. Existing percent-encodings stay byte for byte, since
/// signatures may cover them. Two URLs are equal if their `text` is.
public struct WebURL: Hashable, Sendable, CustomStringConvertible {
    /// The supported schemes.
    public enum Scheme: String, Hashable, Sendable {
        /// HTTP without TLS.
        case http
        /// HTTP over TLS.
        case https

        /// The port of a URL that names none.
        public var defaultPort: UInt16 { self == .http ? 80 : 443 }
    }

    /// Scheme, host and port: the scope of credentials (RFC 6454 §4).
    public struct Origin: Hashable, Sendable, CustomStringConvertible {
        /// http or https.
        public let scheme: Scheme
        /// As `WebURL.host`.
        public let host: String
        /// As `WebURL.port`.
        public let port: UInt16

        /// `scheme://host`, with `:port` where it is not the scheme's default.
        public var description: String {
            let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
            return "\(scheme.rawValue)://\(name)" + (port == scheme.defaultPort ? "" : ":\(port)")
        }
    }

    /// Scheme, host and port.
    public let origin: Origin
    /// The percent-encoded path; begins with `/`.
    public let path: String
    /// The percent-encoded query after the first `?`; nil without a `?`, empty if nothing follows it.
    public let query: String?

    init(origin: Origin, path: String, query: String?) {
        self.origin = origin
        self.path = path
        self.query = query
    }

    /// http or https.
    public var scheme: Scheme { origin.scheme }
    /// The host in lower case; an IPv6 address without its brackets.
    public var host: String { origin.host }
    /// The explicit port, else the scheme's default.
    public var port: UInt16 { origin.port }

    /// The whole URL for a request. May contain a token in its query: use `redacted` in messages.
    public var text: String { "\(origin)\(path)" + (query.map { "?\($0)" } ?? "") }

    /// Replaces the query. `query` must already be encoded, for instance a part of this URL's query.
    public func replacingQuery(_ query: String?) -> WebURL { WebURL(origin: origin, path: path, query: query) }

    /// The URL for logs and messages. `?…` replaces the query, which may contain tokens.
    public var redacted: String { "\(origin)\(path)" + (query == nil ? "" : "?…") }

    /// `redacted`, so that interpolating a URL leaks nothing.
    public var description: String { redacted }
}

/// Placeholder URLs for resources that have no origin, such as imported ones.
extension WebURL {
    /// The top-level domain `invalid` is reserved and never resolves (RFC 6761 §6.4).
    private static let placeholderHost = "imported.invalid"

    /// Makes a placeholder URL. `word` makes it unique; it consists of letters, digits and `-`.
    public static func nowhere(_ word: String) throws(WebURLError) -> WebURL {
        try WebURL("http://\(placeholderHost)/\(word)/master.m3u8")
    }

    /// True for a placeholder URL. It is never requested or looked up.
    public var isPlaceholder: Bool { host == Self.placeholderHost }
}
