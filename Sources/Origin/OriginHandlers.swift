public import EventLoop
public import HTTPMessage

/// The user's handlers: programs and servers that answer requests in place of an origin.
@LoopActor public protocol OriginHandlers: AnyObject {
    /// True if a handler answers requests for the URL.
    /// - Parameter isUsers: true if the user gave the URL. Only then handlers for patterns of URLs count, and only those
    ///   handlers for schemes that may do so answer other URLs.
    func answers(_ url: WebURL, isUsers: Bool) -> Bool
    /// Notes that a URL of the user, which has no handler, leads to a web page. Returns true if the configuration lets
    /// the streams of pages be looked for: `answers` is true for it from then on.
    func adopt(page url: WebURL) -> Bool
    /// Runs the handler that `answers` found, unless it has answered with a URL that has not expired. Ends it if the task is
    /// cancelled.
    func answer(_ url: WebURL, isUsers: Bool) async -> HandlerAnswer
    /// Forgets the URL that a handler answered with, because the origin did not answer there.
    func forget(_ url: WebURL, isUsers: Bool)
    /// The date until which a handler's latest answer is valid, in seconds since 1970; nil if it gave none.
    func expiry(of url: WebURL) -> Double?
}

/// The answer of a handler.
public enum HandlerAnswer: Sendable {
    /// The resource itself.
    case content([UInt8], HandlerTerms)
    /// The URL of the resource. It passes all guards, and does not count as named by the user.
    case location(WebURL, HandlerTerms)
    /// A sentence without a full stop: why there is no answer.
    case failure(String)
}

/// Facts that a handler adds to its answer.
public struct HandlerTerms: Sendable {
    /// Fields for requests to the URL's host. Those that say where a request comes from go to all hosts that the playlists name.
    public var fields: UserFields
    /// A title for the asset.
    public var title: String?
    /// The date until which the answer is valid, in seconds since 1970; nil for no limit.
    public var expires: Double?
    /// True if the answer is an earlier one.
    public var isRemembered = false
    /// The URL that the handler answered with, whose host gets the other fields.
    public internal(set) var url: WebURL?

    /// Creates terms; by default none.
    public init(fields: UserFields = UserFields(), title: String? = nil, expires: Double? = nil) {
        self.fields = fields
        self.title = title
        self.expires = expires
    }
}

extension OriginRequest {
    /// Adds a handler's fields for the URL that it answered with. They replace others of the same names.
    package mutating func add(_ terms: HandlerTerms) {
        let names = Set(terms.fields.lines.map { $0.name.lowercased() })
        fields = fields.filter { !names.contains($0.name.lowercased()) } + terms.fields.shared
        guard let host = terms.url.flatMap({ FieldHost(of: $0) }) else { return }
        scopedFields = scopedFields.filter { $0.host != host || !names.contains($0.line.name.lowercased()) }
        scopedFields += terms.fields.credentials.map { ScopedField(host: host, line: $0) }
    }
}

extension Reply {
    /// The head of a handler's content, as an origin would send it.
    init(of content: [UInt8], range: (first: Int64, last: Int64?)?) {
        let count = Int64(content.count)
        var lines = ["HTTP/1.1 200 OK", "Content-Length: \(count)"]
        if let range, let part = Self.part(range, of: count) {
            lines = [
                "HTTP/1.1 206 Partial Content", "Content-Length: \(part.count)",
                "Content-Range: bytes \(part.lowerBound)-\(part.upperBound - 1)/\(count)",
            ]
        } else if range != nil {
            lines = ["HTTP/1.1 416 Range Not Satisfiable", "Content-Length: 0", "Content-Range: bytes */\(count)"]
        }
        self.init()
        for line in lines + [""] {
            (line + "\r\n").withBytes { _ = receive(line: $0) }
        }
    }

    /// The bytes of a range that there are; nil if there are none.
    static func part(_ range: (first: Int64, last: Int64?), of count: Int64) -> Range<Int64>? {
        guard range.first < count else { return nil }
        return range.first..<min(count, (range.last ?? count - 1) + 1)
    }
}

extension String {
    fileprivate func withBytes(_ body: (UnsafeRawBufferPointer) -> Void) {
        var text = self
        text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
}
