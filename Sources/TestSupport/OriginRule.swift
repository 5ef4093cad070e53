/// How ``TestOrigin`` treats some requests.
///
/// The properties are `tools/origin`'s own, and explained at its head.
///
/// Numbers of bytes count the body of the reply, which for a range starts at the range's first byte.
public struct OriginRule: Codable, Sendable {
    /// A glob (`*`, `?`, `[…]`; `*` crosses slashes) over the path with its query.
    public var path: String
    /// Only this method.
    public var method: String?
    /// Only the n-th match, from 1.
    public var nth: Int?
    /// Not the first so many matches.
    public var skip: Int?
    /// Only so many matches.
    public var times: Int?

    /// Seconds before the head.
    public var delay: Double?
    /// Wait before the head until released.
    public var hold: Bool?
    /// Bytes a second.
    public var throttle: Int?
    /// Wait after so many bytes until released.
    public var pauseAfter: Int?
    /// Send nothing after so many bytes, and keep the connection.
    public var stallAfter: Int?
    /// Close the connection after so many bytes; -1: before the head.
    public var cutAfter: Int?
    /// Reset it after so many bytes, all of which arrive; -1: before the head.
    public var resetAfter: Int?

    /// Answer with this status, ``body`` and ``headers``.
    public var status: Int?
    /// The text of a reply with ``status``.
    public var body: String?
    /// The same in hexadecimal digits, in place of ``body``.
    public var bodyHex: String?
    /// Compress the body for a request without Range that accepts gzip.
    public var gzip: Bool?
    /// Added to the head of any reply.
    public var headers: [String: String]?
    /// Redirect there (302, or ``status``).
    public var redirect: String?
    /// An HTML page with 200.
    public var html: Bool?
    /// A wrong Content-Length.
    public var contentLength: Int?
    /// The resource has only its first bytes, and all of the reply says so.
    public var truncate: Int?
    /// Answer 200 to a Range.
    public var ignoreRange: Bool?
    /// The same, and no Accept-Ranges.
    public var noRanges: Bool?
    /// No ETag and no Last-Modified.
    public var noValidators: Bool?
    /// Another strong entity tag: the text within its quotes.
    public var etag: String?
    /// Chunked transfer coding.
    public var chunked: Bool?
    /// A body whose end is that of the connection.
    public var untilClose: Bool?
    /// Another media type.
    public var contentType: String?
    /// URLs with tokens that expire.
    public var signed: Signature?

    /// How long the tokens are good for that each playlist has in its URIs.
    public struct Signature: Codable, Sendable {
        /// So many seconds.
        public var seconds: Double?
        /// So many requests.
        public var requests: Int?
        /// A glob over what needs no token; by default the multivariant playlist.
        public var open: String?
        /// The status for the others; 403 by default.
        public var refusal: Int?

        /// Tokens for so many seconds, or for so many requests.
        public init(seconds: Double? = nil, requests: Int? = nil, open: String? = nil, refusal: Int? = nil) {
            (self.seconds, self.requests, self.open, self.refusal) = (seconds, requests, open, refusal)
        }
    }

    /// A rule for a path glob, which `change` fills in: `OriginRule("/ts/*") { $0.delay = 1 }`.
    public init(_ path: String, _ change: (inout OriginRule) -> Void = { _ in }) {
        self.path = path
        change(&self)
    }
}
