public import EventLoop
import Glibc
public import HTTPMessage

/// A request for one resource or a range of it; or, for the command line, one call of the control API.
public struct OriginRequest: Sendable {
    /// The urgency of a request: a player waits for its bytes, a download does not.
    public enum Priority: Int, Comparable, Sendable {
        /// Waits while a host's slots are occupied or needed by playback.
        case background
        case playback

        /// Background is less.
        public static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }
    }

    /// Secret header fields and the origin that they are bound to. They go to no other origin, redirects included. The client
    /// certificate of the request's `route` is bound to that origin too.
    public struct Credentials: Sendable {
        /// The only (scheme, host, port) that receives them.
        public var origin: WebURL.Origin
        /// Fields such as Authorization or Cookie.
        public var fields: [FieldLine]

        /// Binds fields to an origin.
        public init(origin: WebURL.Origin, fields: [FieldLine]) {
            self.origin = origin
            self.fields = fields
        }
    }

    /// A field for other hosts than the one that it would go to by itself, which may be secret.
    public struct ScopedField: Sendable {
        let host: FieldHost
        let line: FieldLine
    }

    /// A host and a port.
    public struct Peer: Hashable, Sendable {
        /// As `WebURL.host`.
        public var host: String
        /// As `WebURL.port`.
        public var port: UInt16

        /// The host and port of a URL from the user.
        public init(of url: WebURL) { self.init(host: url.host, port: url.port) }
        /// Creates a peer from its parts.
        public init(host: String, port: UInt16) {
            self.host = host
            self.port = port
        }
    }

    /// The requested URL. Redirects are followed for GET only.
    public var url: WebURL
    /// GET, HEAD, or POST, PUT, PATCH or DELETE; only a GET is resumed, or retried unless `isRepeatable`.
    public var method = HTTPMethod.get
    /// A small body for the methods that have one.
    public var body: [UInt8] = []
    /// The body of a PUT; replaces `body`.
    public var file: OutgoingFile?
    /// The keys that sign the request; nil for an unsigned one.
    public var signature: RequestSignature?
    /// True if a failed request other than GET may be repeated, because it is idempotent (RFC 9110 §9.2.2).
    public var isRepeatable = false
    /// Fields for every origin on the way. The client ignores those that it writes itself (Host, Range, If-Range,
    /// Accept-Encoding and the framing fields); a User-Agent replaces the client's.
    public var fields: [FieldLine] = []
    /// Secret fields.
    public var credentials: Credentials?
    /// Fields for certain hosts. They replace other fields of the same names there.
    public var scopedFields: [ScopedField] = []
    /// The cookies that replies set and that requests carry, by their scope; nil for none.
    public var cookies: CookieJar?
    /// The requested part of the resource, not empty; nil for the whole. With an end of `Int64.max` the range is open: it ends
    /// where the origin ends it.
    public var range: Range<Int64>?
    var isOpenRange: Bool { range?.upperBound == .max }
    /// True to take a range that begins at 0 from a reply with the whole, whose rest is not read: the origin knows no ranges.
    public var acceptsWhole = false
    /// The number of requested bytes that the receiver already has. They are continued only with a `validator`; without
    /// one the body starts at 0 and the receiver compares.
    public var start: Int64 = 0
    /// The validator of the bytes before `start`.
    public var validator: StrongValidator?
    /// The URL that gave the validator, after redirects; nil for `url`.
    public var validatorURL: WebURL?
    /// True to fetch some bytes before `start` again and to compare them, whatever the validators show.
    public var comparesOverlap = false
    /// The size of the whole resource, as it was stated with the bytes before `start`; nil if that is unknown.
    public var size: Int64?
    /// Most bytes of the whole body, decoded.
    public var limit = Int64.max
    /// Asks the origin to compress the body, for playlists. Such a body is fetched again, never resumed. A body that is
    /// compressed without having been asked is decoded as well.
    public var acceptsCompression = false
    /// True to read until the connection ends, because the length that the origin states seems to be too small. Not for a
    /// `range`; the receiver compares the bytes that it has. The body ends at that length all the same if the
    /// connection is kept and nothing follows for `GiveUpRule.silenceBehindLength`.
    public var ignoresStatedLength = false
    /// Delivers replies of any status unchanged; none is retried or an error.
    public var acceptsAnyStatus = false
    /// Delivers final refusals with their bodies instead of failing: 3xx and 4xx except 408 and 429.
    public var acceptsRefusals = false
    /// Disables the limits on the first byte and on stalls. For event streams, and for playlists that the origin holds
    /// back. Such a request occupies no slot of its host, because it mostly waits.
    public var toleratesSilence = false
    /// Sends the request although the origin is presumed absent: for callers with their own schedule, or without an
    /// alternative. Playback without its own `retries` then also waits for the origin before the first byte, as it does
    /// after it; see `RetryPolicy.whilePlayerWaits`.
    public var ignoresAbsence = false
    /// True if a player reads the body while it arrives, and so has no alternative once the body has begun. If the
    /// origin then becomes unreachable, the transfer waits for it in spite of `retries`.
    public var isReadWhileFetched = false
    /// The host of the user's URL, which may be private on this port, and on 80 and 443; nil for none.
    public var namedPeer: Peer?
    /// True if the user gave this URL itself, so that a handler for a pattern of URLs may answer it.
    public var isUsers = false
    /// The path of a Unix socket that is connected to in place of the URL's host; nil for none.
    public var socket: String?
    /// The user's settings for the way to the origin.
    public var route = OriginRoute()
    /// Records the class of the first address of `namedPeer`. Retained until the transfer ends.
    public var classRecorder: (any HostClassRecorder)?
    /// Counts the request while it is in the background; nil for none.
    public var tally: TrafficTally?
    /// The urgency.
    public var priority = Priority.playback
    /// The time limit for everything, waiting and retries included; nil for none.
    public var deadline: Duration?
    /// The retry policy; nil for the client's default.
    public var retries: RetryPolicy?

    /// A GET of the whole resource.
    public init(_ url: WebURL) { self.url = url }

    /// The fields for `url`: secrets go only to their own origin, and nothing that was given for https goes to a redirect's
    /// http.
    func fields(for url: WebURL) -> [FieldLine] {
        // A user name in the URL itself belongs to this URL, however it was found.
        var own: [FieldLine] = []
        if let authorization = url.authorization {
            own = [authorization]
        }
        let hasNone = fields.isEmpty && credentials == nil && scopedFields.isEmpty
        if hasNone || isDowngraded(at: url) {
            return own
        }

        var secrets: [FieldLine] = []
        if let credentials, credentials.origin == url.origin {
            secrets = credentials.fields
        }

        var all = fields + secrets
        // Few requests have any.
        if !scopedFields.isEmpty {
            let scoped = closestFields(for: url, beside: secrets)
            let names = Set(scoped.map { $0.name.lowercased() })
            all = scoped + all.filter { !names.contains($0.name.lowercased()) }
        }

        if !all.contains(where: { $0.isNamed(Self.authorization) }) {
            all += own
        }
        return all.filter { field in !Self.ownFields.contains { field.isNamed($0) } }
    }

    /// The fields of `scopedFields` for a URL: of one name those whose hosts are named most closely. A field of the URL's own
    /// origin is closer than one for a site or for every host.
    private func closestFields(for url: WebURL, beside own: [FieldLine]) -> [FieldLine] {
        let matching = scopedFields.filter { $0.host.matches(url) }
        let ownNames = Set(own.map { $0.name.lowercased() })
        let closest = matching.filter { field in
            let name = field.line.name.lowercased()
            if !field.host.isOneHost, ownNames.contains(name) {
                return false
            }
            return !matching.contains { $0.line.name.lowercased() == name && $0.host.isCloser(than: field.host) }
        }
        return closest.map(\.line)
    }

    /// The secret fields that `url` does not get, because they belong to another origin. None after a redirect from https to http,
    /// where no option would send them.
    func withheldFields(at url: WebURL) -> [FieldLine] {
        guard let credentials, credentials.origin != url.origin, !isDowngraded(at: url) else { return [] }
        let sent = Set(fields(for: url).map { $0.name.lowercased() })
        return credentials.fields.filter { !sent.contains($0.name.lowercased()) }
    }

    /// The use of the user's client certificate at the server of `url`. It is bound to its origin as secret fields are.
    func certificateUse(at url: WebURL) -> CertificateUse {
        guard let path = route.certificate, url.scheme == .https else { return .none }
        let isBound = credentials?.origin == url.origin || route.certificateHosts.contains { $0.matches(url) }
        if isBound {
            return .shown(path: path, key: route.key ?? path)
        }
        guard let host = FieldHost.naming(url) else { return .none }
        return .withheld(from: host)
    }

    private static let authorization = FieldName("Authorization")

    /// True if a redirect has led from https to http.
    func isDowngraded(at url: WebURL) -> Bool { first.scheme == .https && url.scheme == .http }

    /// The URL that a handler answered with; nil without one.
    var located: WebURL?
    /// The first URL that is requested.
    var first: WebURL { located ?? url }

    /// Fields that the client writes itself, or that frame a message and its connection (RFC 9110 §7.6.1).
    static let ownFields: [FieldName] = [
        .host, .range, .ifRange, .contentLength, .transferEncoding, .connection, .expect,
        FieldName("Accept-Encoding"), FieldName("Keep-Alive"), FieldName("Proxy-Connection"), FieldName("TE"),
        FieldName("Trailer"), FieldName("Upgrade"),
    ]
}

/// The use of the user's client certificate at a server.
enum CertificateUse: Equatable {
    /// The user gave none.
    case none
    /// The certificate and its key, as paths.
    case shown(path: String, key: String)
    /// Nothing, because the user gave it for other hosts than this one.
    case withheld(from: FieldHost)

    /// True if the server sees it.
    var isShown: Bool {
        switch self {
        case .shown: true
        case .none, .withheld: false
        }
    }

    /// How a server gets a certificate that may be what it requires.
    var advice: String {
        switch self {
        case .none: "Give one with --cert and --key"
        case .shown: "Check --cert and --key"
        case .withheld(let host): "Yours goes to the stream's own host alone; --cert-for \(host) shows it here too"
        }
    }
}

/// Keeps the class of the first address to which the host of the user's URL led, for the defence against DNS rebinding.
@LoopActor public protocol HostClassRecorder: AnyObject, Sendable {
    /// Called with each address of the host while none is known.
    func record(_ kind: HostClass)
}

/// An open file as the body of a PUT. libcurl reads it piece by piece, so it is never whole in memory.
///
/// Owns its descriptor. Sendable: `pread` does not use the descriptor's offset.
public final class OutgoingFile: Sendable {
    /// The number of bytes to send.
    public let size: Int64
    private let descriptor: Int32

    /// Takes ownership of the descriptor of a file with `size` bytes.
    public init(taking descriptor: Int32, size: Int64) {
        self.descriptor = descriptor
        self.size = size
    }

    deinit { close(descriptor) }

    /// Reads from `offset`, at most what fits; nil if the file is too short or unreadable.
    func read(at offset: Int64, into room: UnsafeMutableRawBufferPointer) -> Int? {
        let count = min(Int64(room.count), size - offset)
        guard count > 0 else { return 0 }
        while true {
            let got = pread(descriptor, room.baseAddress, Int(count), off_t(offset))
            if got < 0, errno == EINTR {
                continue
            }
            guard got > 0 else { return nil }
            return got
        }
    }
}

/// Keys for AWS Signature Version 4, which libcurl computes.
///
/// The caller sets the body's SHA-256 as the field `x-amz-content-sha256`; libcurl would have to read the whole file
/// for it. libcurl 7.88 signs path and query as they are in the URL, so both must be encoded as AWS does, with the
/// query sorted by name. A signed request follows no redirect, because the signature is for one host.
public struct RequestSignature: Sendable {
    /// The key's id.
    public var accessKey: String
    /// The secret key. Never sent.
    public var secretKey: String
    /// The token of temporary keys; nil for others.
    public var sessionToken: String?
    /// The server's region, such as `eu-central-1`.
    public var region: String

    /// Creates keys for S3.
    public init(accessKey: String, secretKey: String, sessionToken: String? = nil, region: String) {
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken
        self.region = region
    }

    var scheme: String { "aws:amz:\(region):s3" }
}

extension RequestSignature: CustomStringConvertible, CustomReflectable {
    /// The region only, without secrets.
    public var description: String { "a signature for \(region)" }
    /// The region only, without secrets.
    public var customMirror: Mirror { Mirror(reflecting: description) }
}
