public import HTTPMessage

/// The head of one reply, parsed line by line.
struct Reply {
    private(set) var status = 0
    private(set) var isHTTP2 = false
    private(set) var fields = FieldSection()
    /// Allows the body to be resumed later; set when the head is complete.
    private(set) var validator: StrongValidator?
    /// The coding of the body; set when the head is complete.
    private(set) var coding = ContentCoding.identity
    private var framing = Framing()
    /// The peer's address; set when the head is complete.
    var address: String?
    private var byteCount = 0

    /// The framing of the body; set when the head is complete.
    private struct Framing {
        /// The codings of the transfer but `chunked`.
        var codings: [String] = []
        var isChunked = false
        var length: Int64?
    }

    /// Limits on a head: Chromium's, and far more fields than one has. libcurl's only limit is 100 KB for a line.
    static let maximumByteCount = 256 * 1024
    static let maximumFieldCount = 4096

    enum Progress {
        case incomplete
        /// The final reply's head is complete.
        case complete
        case excessive
    }

    /// Parses a line, line end included. A status line restarts the head, since interim replies precede the final one.
    mutating func receive(line: UnsafeRawBufferPointer) -> Progress {
        byteCount += line.count
        guard byteCount <= Self.maximumByteCount, fields.count < Self.maximumFieldCount else { return .excessive }
        // Icecast and other servers of radio stations.
        let isIcecast = status == 0 && line.starts(with: "ICY ".utf8)
        if isIcecast || line.starts(with: "HTTP/".utf8) {
            let digits = line.drop { $0 != UInt8(ascii: " ") }.dropFirst().prefix(3)
            status = Int(String(decoding: digits, as: UTF8.self)) ?? 0
            isHTTP2 = line.starts(with: "HTTP/2".utf8)
            fields = FieldSection()
            framing = Framing()
        } else if line.allSatisfy({ $0 == 0x0D || $0 == 0x0A }) {
            guard status >= 200 else { return .incomplete }
            validator = StrongValidator(of: fields)
            // A coding of the transfer hides the resource as one of the content does; libcurl undoes both.
            framing = readFraming()
            coding = ContentCoding(fields.values(of: Self.contentEncoding) + framing.codings)
            return .complete
        } else {
            fields.append(line: line)
        }
        return .incomplete
    }

    subscript(_ name: FieldName) -> String? { fields[name] }

    private static let contentEncoding = FieldName("Content-Encoding")

    private func readFraming() -> Framing {
        var framing = Framing()
        for value in fields.values(of: .transferEncoding) {
            for word in value.split(separator: ",") {
                let coding = word.filter { !" \t".contains($0) }.lowercased()
                switch coding {
                case "", "identity": break
                case "chunked": framing.isChunked = true
                default: framing.codings.append(coding)
                }
            }
        }
        if !framing.isChunked, framing.codings.isEmpty, let text = self[.contentLength], let length = Int64(text),
            length >= 0
        {
            framing.length = length
        }
        return framing
    }

    var isChunked: Bool { framing.isChunked }
    /// True if the transfer, not the content, is compressed.
    var hasTransferCoding: Bool { ContentCoding(framing.codings) != .identity }
    /// True if libcurl reads until the connection ends, although the length is known: it does so for each Transfer-Encoding
    /// but chunked, such as `identity`, which RFC 9112 has removed.
    var hasUnusedLength: Bool { self[.transferEncoding] != nil && contentLength != nil }

    /// The length of the body as it is sent; nil for a chunked one, whatever its Content-Length (RFC 9112 §6.3).
    var contentLength: Int64? { framing.length }
    var contentRange: ContentRange? { self[.contentRange].flatMap { ContentRange($0) } }
    var statedPart: StatedPart? { self[.contentRange].flatMap { StatedPart($0) } }
    /// True for several ranges, each with a head of its own (RFC 9110 §14.6).
    var hasSeveralParts: Bool { self[.contentType]?.lowercased().hasPrefix("multipart/byteranges") ?? false }
    var location: String? { self[.location] }
    /// True if what has answered has no way to the resource at the moment. One that says when to come back is not without a way.
    var lacksWay: Bool { [502, 503, 504].contains(status) && retryAfter == nil }
    /// The delay that the origin requests before a retry; at most a day.
    var retryAfter: Duration? {
        guard let value = self[.retryAfter].flatMap({ RetryAfter($0) }) else { return nil }
        switch value {
        case .seconds(let seconds): return .seconds(min(seconds, 86_400))
        case .date:
            guard let now = self[.date].flatMap({ HTTPDate($0) }) else { return nil }
            return .seconds(min(value.delay(from: now), 86_400))
        }
    }
    /// True if the origin answers ranges of this resource. A server that does so says it (RFC 9110 §14.3), if not by a rule.
    var answersRanges: Bool { status == 206 || self[.acceptRanges]?.lowercased() == "bytes" }
    /// True if the origin, or the proxy, asks for Digest (RFC 7616).
    var offersDigest: Bool {
        let name = status == 407 ? Self.proxyAuthenticate : Self.authenticate
        return fields.values(of: name).contains { value in
            let value = value.lowercased()
            return value.hasPrefix("digest ") || value.contains(", digest ") || value.contains(",digest ")
        }
    }
    private static let authenticate = FieldName("WWW-Authenticate")
    private static let proxyAuthenticate = FieldName("Proxy-Authenticate")
    var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) && location != nil }

    /// - Parameter validator: nil if the body cannot be resumed.
    func head(url: WebURL, length: Int64?, statedLength: Int64?, validator: StrongValidator?) -> OriginHead {
        OriginHead(
            status: status, url: url, length: length, statedLength: statedLength, end: bodyEnd, fields: fields,
            validator: validator, address: address)
    }

    private var bodyEnd: BodyEnd {
        if isChunked || isHTTP2 {
            return .mark
        }
        guard contentLength != nil else { return .connection }
        return .length
    }
}

/// How a reply shows the end of its body.
public enum BodyEnd: Hashable, Sendable {
    /// The connection ends.
    case connection
    /// The reply states a length, which may be wrong.
    case length
    /// A mark behind the last byte: the last chunk, or the end of a stream of HTTP/2. `Transfer.isEndMarked` is false if it is
    /// missing.
    case mark
}

/// The head of the final reply: not of a redirect or a failure that is retried.
public struct OriginHead: Sendable {
    /// The status code: 200 or 206, unless the request accepts others.
    public let status: Int
    /// The URL that answered, after redirects: the base of relative references.
    public let url: WebURL
    /// The length in bytes of the requested resource or range, bytes that the receiver already had included; nil if the
    /// origin does not announce it, or announces it for an encoded body only.
    public let length: Int64?
    /// The end of the body by its Content-Length, if that counts the bytes that are delivered; also where it is not relied on.
    public let statedLength: Int64?
    /// How the reply shows the end of its body.
    public let end: BodyEnd
    /// All header fields in order. They may contain secrets: do not log them.
    public let fields: FieldSection
    /// Allows the body to be resumed later; nil without a strong validator.
    public let validator: StrongValidator?
    /// The peer's address, without port.
    public let address: String?
    /// The facts that a handler gave with the URL that answered; nil if there was none.
    public internal(set) var terms: HandlerTerms?

    /// The first value of a field.
    public subscript(_ name: FieldName) -> String? { fields[name] }

    /// The first value of a field as a date; nil without one.
    package func date(_ name: FieldName) -> HTTPDate? { fields.firstValue(of: name).flatMap { HTTPDate($0) } }

    /// The length of the whole resource: of a range's file, or of the body; nil if the origin does not state it.
    public var completeLength: Int64? {
        guard status == 206 else { return statedLength ?? length }
        return self[.contentRange]?.split(separator: "/").last.flatMap { Int64($0) }
    }

    /// The Content-Type as sent.
    public var mediaType: MediaType? { self[.contentType].flatMap { MediaType($0) } }
}
