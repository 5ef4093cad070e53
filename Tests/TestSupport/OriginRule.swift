/// Changes how ``TestOrigin`` answers some requests.
///
/// The properties match `tools/origin`, which documents them at its head.
///
/// Byte counts refer to the body of the response; for a range, to the body of the range.
public struct OriginRule: Codable, Sendable {
    /// A glob (`*`, `?`, `[…]`; `*` crosses slashes) over the path with its query.
    public var path: String
    /// Only this method.
    public var method: String?
    /// Only the nth match, from 1.
    public var nth: Int?
    /// Number of matches to skip first.
    public var skip: Int?
    /// Maximum number of matches to apply to.
    public var times: Int?

    /// Delay before the head, in seconds.
    public var delay: Double?
    /// Hold the head until released.
    public var hold: Bool?
    /// Rate limit in bytes per second.
    public var throttle: Int?
    /// Pause after this many bytes until released.
    public var pauseAfter: Int?
    /// Send nothing after this many bytes, and keep the connection open.
    public var stallAfter: Int?
    /// Close the connection after this many bytes; -1: before the head.
    public var cutAfter: Int?
    /// Reset the connection after this many bytes, all of which arrive; -1: before the head.
    public var resetAfter: Int?

    /// Answer with this status, ``body`` and ``headers``.
    public var status: Int?
    /// Body text of a response with ``status``.
    public var body: String?
    /// Body in hexadecimal digits, instead of ``body``.
    public var bodyHex: String?
    /// Compress the body if the request has no Range and accepts gzip.
    public var gzip: Bool?
    /// Header fields to add to the response.
    public var headers: [String: String]?
    /// Redirect to this URL (302, or ``status``).
    public var redirect: String?
    /// Answer 200 with an HTML page.
    public var html: Bool?
    /// Send this wrong Content-Length.
    public var contentLength: Int?
    /// Serve only this many first bytes, as if they were the whole resource.
    public var truncate: Int?
    /// Answer 200 to a range request.
    public var ignoreRange: Bool?
    /// Answer 200 to a range request, and send no Accept-Ranges.
    public var noRanges: Bool?
    /// Send no ETag and no Last-Modified.
    public var noValidators: Bool?
    /// Send this strong entity tag; the value has no quotes.
    public var etag: String?
    /// Use chunked transfer coding.
    public var chunked: Bool?
    /// End the body by closing the connection.
    public var untilClose: Bool?
    /// Send this media type.
    public var contentType: String?
    /// Require tokens that expire in URLs.
    public var signed: Signature?

    /// Validity of the tokens that playlists have in their URIs.
    public struct Signature: Codable, Sendable {
        /// Validity in seconds.
        public var seconds: Double?
        /// Validity in requests.
        public var requests: Int?
        /// Glob of paths that need no token; by default the multivariant playlist.
        public var open: String?
        /// Status without a valid token; 403 by default.
        public var refusal: Int?

        /// Creates a signature rule limited by seconds or by requests.
        public init(seconds: Double? = nil, requests: Int? = nil, open: String? = nil, refusal: Int? = nil) {
            (self.seconds, self.requests, self.open, self.refusal) = (seconds, requests, open, refusal)
        }
    }

    /// Creates a rule for a path glob, configured by `change`: `OriginRule("/ts/*") { $0.delay = 1 }`.
    public init(_ path: String, _ change: (inout OriginRule) -> Void = { _ in }) {
        self.path = path
        change(&self)
    }
}
