public import HTTPMessage

/// One resource, or a range of one, to be fetched; or, for our own command line, one call of the control API.
public struct OriginRequest: Sendable {
    /// A player waits for what it needs; a download can wait.
    public enum Priority: Int, Comparable, Sendable {
        /// Waits while a host's places are taken or wanted by playback.
        case background
        /// Goes first.
        case playback

        /// Background is less.
        public static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }
    }

    /// Header fields that are secret, with the origin that they belong to: they go nowhere else, redirects included.
    public struct Credentials: Sendable {
        /// The only (scheme, host, port) that gets them.
        public var origin: WebURL.Origin
        /// As Authorization or Cookie.
        public var fields: [FieldLine]

        /// Binds fields to an origin.
        public init(origin: WebURL.Origin, fields: [FieldLine]) {
            self.origin = origin
            self.fields = fields
        }
    }

    /// A host and a port.
    public struct Peer: Hashable, Sendable {
        /// As `WebURL.host`.
        public var host: String
        /// As `WebURL.port`.
        public var port: UInt16

        /// The peer of a URL that the user gave.
        public init(of url: WebURL) { self.init(host: url.host, port: url.port) }

        /// A peer by its parts.
        public init(host: String, port: UInt16) {
            self.host = host
            self.port = port
        }
    }

    /// What is asked for. Redirects are followed for GET only.
    public var url: WebURL
    /// GET, HEAD, or POST, PUT, PATCH or DELETE; only a GET is resumed, or retried unless `isRepeatable`.
    public var method = HTTPMethod.get
    /// A small body for the methods that have one.
    public var body: [UInt8] = []
    /// The body of a PUT, in place of `body`.
    public var file: OutgoingFile?
    /// With what it is signed; nil for not at all.
    public var signature: RequestSignature?
    /// Whether it may be made again after a failure although it is no GET: twice does what once does (RFC 9110 §9.2.2).
    public var isRepeatable = false
    /// Fields for every origin on the way. Those that the client writes itself (Host, Range, If-Range, Accept-Encoding
    /// and what frames the message) are ignored here; a User-Agent replaces the client's.
    public var fields: [FieldLine] = []
    /// Secret fields.
    public var credentials: Credentials?
    /// The part of the resource that is wanted, not empty; nil for all of it.
    public var range: Range<Int64>?
    /// How many bytes of what is wanted the receiver has already. They are continued only with a `validator`; without
    /// one the body comes from 0 and the receiver compares.
    public var start: Int64 = 0
    /// What the bytes before `start` were fetched with.
    public var validator: StrongValidator?
    /// The most bytes that the whole may have, decoded.
    public var limit = Int64.max
    /// Lets the origin compress the body: for playlists. Such a body is fetched anew, never resumed.
    public var acceptsCompression = false
    /// Passes replies of any status on as they are, in place of retrying or failing.
    public var acceptsAnyStatus = false
    /// Passes replies on that refuse for good, with their reasons, in place of failing: 3xx and 4xx but for 408 and 429.
    public var acceptsRefusals = false
    /// Lets the reply take its time: no limit to the first byte, none to silence. For event streams, and for playlists
    /// that the origin holds back. Such a request does not count among those to its host: it waits most of the time.
    public var toleratesSilence = false
    /// Asks although the origin is presumed absent: for who keeps to a schedule of his own, or has nothing else. For
    /// playback without `retries` of its own the origin is then waited for before the first byte as behind it: see
    /// `RetryPolicy.behindAReply`.
    public var insists = false
    /// Whether a player reads the body as it comes, so that it has nothing else once that has begun: an origin that goes
    /// away then is waited for in spite of `retries`.
    public var isReadMeanwhile = false
    /// The private address that may be connected to; nil for none.
    public var namedPeer: Peer?
    /// Who waits for it.
    public var priority = Priority.playback
    /// The time for everything, waiting and retries included; nil for no bound.
    public var deadline: Duration?
    /// How long to go on after failures; nil for what the client's configuration says.
    public var retries: RetryPolicy?

    /// A GET of the whole resource.
    public init(_ url: WebURL) {
        self.url = url
    }

    /// The fields that go to `url`: secrets only to their own origin.
    func fields(for url: WebURL) -> [FieldLine] {
        let secrets = credentials.map { $0.origin == url.origin ? $0.fields : [] } ?? []
        return (fields + secrets).filter { field in !Self.ownFields.contains { field.isNamed($0) } }
    }

    /// What the client writes itself, or what frames a message and its connection (RFC 9110 §7.6.1).
    static var ownFields: [FieldName] {
        [
            .host, .range, .ifRange, .contentLength, .transferEncoding, .connection, .expect,
            FieldName("Accept-Encoding"), FieldName("Keep-Alive"), FieldName("Proxy-Connection"), FieldName("TE"),
            FieldName("Trailer"), FieldName("Upgrade"),
        ]
    }
}
