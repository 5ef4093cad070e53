/// Changes how ``TestOrigin`` answers some requests.
///
/// The properties match `tools/origin`, which documents them at its head.
///
/// Byte counts refer to the body of the response; for a range, to the body of the range.
package struct OriginRule: Codable, Sendable {
    /// A glob (`*`, `?`, `[…]`; `*` crosses slashes) over the path with its query.
    package var path: String
    package var method: String?
    package var nth: Int?
    package var skip: Int?
    package var times: Int?
    /// A glob over the Range field, which is empty if the request has none.
    package var range: String?

    package var delay: Double?
    /// Hold the head until released.
    package var hold: Bool?
    package var throttle: Int?
    /// Pause after this many bytes until released.
    package var pauseAfter: Int?
    /// Send nothing after this many bytes, and keep the connection open.
    package var stallAfter: Int?
    /// Close the connection after this many bytes; -1: before the head.
    package var cutAfter: Int?
    /// Reset the connection after this many bytes, all of which arrive; -1: before the head.
    package var resetAfter: Int?

    package var status: Int?
    package var body: String?
    /// Body in hexadecimal digits, instead of ``body``.
    package var bodyHex: String?
    /// Compress the body if the request has no Range and accepts gzip.
    package var gzip: Bool?
    package var headers: [String: String]?
    /// Redirect to this URL (302, or ``status``).
    package var redirect: String?
    package var html: Bool?
    package var contentLength: Int?
    /// Serve only this many first bytes, as if they were the whole resource.
    package var truncate: Int?
    /// Answer 200 to a range request.
    package var ignoreRange: Bool?
    /// Answer 200 to a range request, and send no Accept-Ranges.
    package var noRanges: Bool?
    package var noValidators: Bool?
    /// Send this strong entity tag; the value has no quotes.
    package var etag: String?
    package var chunked: Bool?
    package var untilClose: Bool?
    package var contentType: String?
    /// Require tokens that expire in URLs.
    package var signed: Signature?

    /// A ``body`` of this text that is recognized as media: it begins like a packed audio segment.
    package static func media(_ text: String) -> String { "ID3\u{4}" + text }

    /// Validity of the tokens that playlists have in their URIs.
    package struct Signature: Codable, Sendable {
        package var seconds: Double?
        /// True if the seconds begin with a token's first use: however busy the machine is, each token then serves a request.
        package var beginsWithUse: Bool?
        package var requests: Int?
        /// Glob of paths that need no token; by default the multivariant playlist.
        package var open: String?
        /// Status without a valid token; 403 by default.
        package var refusal: Int?

        package init(
            seconds: Double? = nil, beginsWithUse: Bool? = nil, requests: Int? = nil, open: String? = nil,
            refusal: Int? = nil
        ) {
            self.seconds = seconds
            self.beginsWithUse = beginsWithUse
            self.requests = requests
            self.open = open
            self.refusal = refusal
        }
    }

    /// Creates a rule for a path glob, configured by `change`: `OriginRule("/ts/*") { $0.delay = 1 }`.
    package init(_ path: String, _ change: (inout OriginRule) -> Void = { _ in }) {
        self.path = path
        change(&self)
    }
}
