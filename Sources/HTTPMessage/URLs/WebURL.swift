import Glibc

/// An absolute URL (RFC 3986), normalised for requests: of http or https, or of another scheme, which a handler of the user
/// answers.
///
/// Its text contains no user information, no fragment and no dot segments; its host is in lower case; and it is ASCII
/// only: an international host has its `xn--` form, and other characters outside the grammar are percent-encoded as
/// UTF-8. Existing percent-encodings stay byte for byte, since signatures may cover them. Two URLs are equal if their
/// `text` is.
public struct WebURL: Hashable, Sendable, CustomStringConvertible {
    /// The scheme of a URL.
    public enum Scheme: Hashable, Sendable {
        case http, https
        /// Any other but `file`, in lower case. Its URLs have the form `scheme://anything`, and no port.
        case other(String)

        /// The name in lower case, without the colon.
        public var name: String {
            switch self {
            case .http: "http"
            case .https: "https"
            case .other(let name): name
            }
        }

        /// The port of a URL that names none; 0 if the scheme has no ports.
        public var defaultPort: UInt16 {
            switch self {
            case .http: 80
            case .https: 443
            case .other: 0
            }
        }
    }

    /// Scheme, host and port: the scope of credentials (RFC 6454 §4).
    public struct Origin: Hashable, Sendable, CustomStringConvertible {
        /// The scheme.
        public let scheme: Scheme
        /// As `WebURL.host`.
        public let host: String
        /// As `WebURL.port`.
        public let port: UInt16

        /// True if the scheme is neither http nor https.
        var needsHandler: Bool {
            guard case .other = scheme else { return false }
            return true
        }

        /// The description without a password.
        var redacted: String {
            guard needsHandler, let at = host.lastIndex(of: "@") else { return description }
            return "\(scheme.name)://…\(host[at...])"
        }

        /// `scheme://host`, with `:port` where it is not the scheme's default.
        public var description: String {
            var text = ""
            append(to: &text)
            return text
        }

        fileprivate func append(to text: inout String) {
            text += scheme.name
            text += "://"
            if needsHandler {
                text += host
                return
            }
            text += bracketed(host)
            if port != scheme.defaultPort {
                text += ":"
                text += String(port)
            }
        }
    }

    /// The host as a URL has it: an IPv6 address in brackets (RFC 3986 §3.2.2).
    public static func bracketed(_ host: String) -> String {
        guard host.utf8.contains(UInt8(ascii: ":")) else { return host }
        return "[\(host)]"
    }

    private final class Parts: Sendable {
        let origin: Origin
        let path: String
        let query: String?
        let authorization: FieldLine?

        init(origin: Origin, path: String, query: String?, authorization: FieldLine?) {
            self.origin = origin
            self.path = path
            self.query = query
            self.authorization = authorization
        }
    }

    /// In a box: a URL is copied far more often than it is made, with each request, attempt and resource that names it.
    private let parts: Parts

    /// Scheme, host and port.
    public var origin: Origin { parts.origin }
    /// The percent-encoded path; begins with `/`. May be empty if a handler answers the URL.
    public var path: String { parts.path }
    /// The percent-encoded query after the first `?`; nil without a `?`, empty if nothing follows it.
    public var query: String? { parts.query }
    /// The user name and password of a reference, as an Authorization field for this URL only; nil for none. Secret, and
    /// no part of the URL's text. References that are resolved against the URL and stay on its host have it too.
    public var authorization: FieldLine? { parts.authorization }

    init(origin: Origin, path: String, query: String?, authorization: FieldLine? = nil) {
        parts = Parts(origin: origin, path: path, query: query, authorization: authorization)
    }

    /// Compares the texts.
    public static func == (left: WebURL, right: WebURL) -> Bool {
        if left.parts === right.parts {
            return true
        }
        return left.path == right.path && left.query == right.query && left.origin == right.origin
    }

    /// Hashes the parts of the text.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(origin)
        hasher.combine(path)
        hasher.combine(query)
    }

    /// The scheme.
    public var scheme: Scheme { origin.scheme }
    /// True if only a handler of the user can answer it: its scheme is neither http nor https.
    public var needsHandler: Bool { origin.needsHandler }
    /// The host in lower case and in ASCII; an IPv6 address without its brackets. For other schemes than http and https the
    /// text after `//`, unchanged.
    public var host: String { origin.host }
    /// The explicit port, else the scheme's default.
    public var port: UInt16 { origin.port }
    /// The whole URL for a request. May contain a token in its query: use `redacted` in messages.
    public var text: String {
        let parts = parts
        var text = ""
        // One allocation, with room for a scheme and a port.
        text.reserveCapacity(parts.origin.host.utf8.count + parts.path.utf8.count + (parts.query?.utf8.count ?? 0) + 32)
        parts.origin.append(to: &text)
        text += parts.path
        if let query = parts.query {
            text += "?"
            text += query
        }
        return text
    }
    /// Replaces the query. `query` must already be encoded, for instance a part of this URL's query.
    public func replacingQuery(_ query: String?) -> WebURL {
        WebURL(origin: origin, path: path, query: query, authorization: authorization)
    }

    /// The URL for logs and messages. `?…` replaces the query, which may contain tokens.
    public var redacted: String {
        let shown = origin.redacted + redactedPath
        guard query != nil else { return shown }
        return "\(shown)?…"
    }

    /// The path without the user name and the password that television providers put there: `/live/USER/PASSWORD/1.m3u8`.
    private var redactedPath: String {
        var parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count >= Self.accountPath, parts[0].isEmpty, Self.accountFolders.contains(String(parts[1])),
            parts.last?.first?.isNumber ?? false
        else { return path }
        parts[2] = "…"
        parts[3] = "…"
        return parts.joined(separator: "/")
    }

    private static let accountFolders: Set<String> = ["live", "movie", "series", "timeshift"]
    /// Parts of such a path.
    private static let accountPath = 5
    /// `redacted`, so that interpolating a URL leaks nothing.
    public var description: String { redacted }
    /// The top-level domain `invalid` is reserved and never resolves (RFC 6761 §6.4).
    private static let placeholderHost = "imported.invalid"

    /// Makes a placeholder URL. `word` makes it unique; it consists of letters, digits and `-`.
    public static func placeholder(for word: String) throws(WebURLError) -> WebURL {
        try WebURL("http://\(placeholderHost)/\(word)/master.m3u8")
    }

    /// True for a placeholder URL. It is never requested or looked up.
    public var isPlaceholder: Bool { host == Self.placeholderHost }

    /// The host of URLs that contain a resource; never resolved, as `placeholderHost`.
    private static let inlineHost = "inline.invalid"

    /// Makes a URL that contains a small resource, such as the key of a `data:` URI. Its query is secret, as every query.
    public static func inline(_ bytes: [UInt8]) -> WebURL {
        let digits = bytes.map(ByteClass.hexadecimal).joined()
        return WebURL(origin: Origin(scheme: .http, host: inlineHost, port: 80), path: "/key", query: digits)
    }

    /// The resource in a URL made by `inline`; nil for any other URL.
    public var inlineBytes: [UInt8]? {
        guard host == Self.inlineHost, let digits = query.map({ Array($0.utf8) }), digits.count % 2 == 0 else {
            return nil
        }
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: digits.count, by: 2) {
            let pair = String(decoding: digits[start..<start + 2], as: UTF8.self)
            guard let byte = UInt8(pair, radix: 16) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    /// Resolves `reference` against this URL (RFC 3986 §5.2, strict).
    ///
    /// Leading and trailing blanks are ignored and inner spaces become `%20`: playlists in the field contain both. A user
    /// name and password become `authorization`.
    /// - Throws: `WebURLError` when the result is malformed, or names a local file.
    public func resolving(_ reference: String) throws(WebURLError) -> WebURL {
        let text = Self.trimming(reference.utf8[...])
        guard !text.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { throw .forbiddenCharacter }
        if Self.isFileName(text) {
            let path = String(folder) + String(Substring(text))
            return WebURL(origin: origin, path: path, query: nil, authorization: authorization)
        }
        if Self.splitScheme(text) != nil {
            return try Self.referenced(text)
        }
        if text.starts(with: "//".utf8) {
            return try Self.referenced("\(scheme.name):\(Substring(text))"[...].utf8)
        }
        let (path, query) = Self.splitPath(text)
        let encodedQuery = query.map(Self.encoding)
        guard !path.isEmpty else {
            let query = encodedQuery ?? self.query
            return WebURL(origin: origin, path: self.path, query: query, authorization: authorization)
        }
        var merged = Self.encoding(path)
        if merged.utf8.first != UInt8(ascii: "/") {
            merged = folder + merged
        }
        return WebURL(
            origin: origin, path: Self.removingDotSegments(merged), query: encodedQuery, authorization: authorization)
    }

    /// Resolves a Location as browsers do (WHATWG URL §4.4): a backslash in it is a slash, the number of slashes before a host
    /// does not matter, and `http:/p` is a path on the same host.
    public func resolving(redirect location: String) throws(WebURLError) -> WebURL {
        let text = Self.trimming(location.utf8[...])
        let end = text.firstIndex { "?#".utf8.contains($0) } ?? text.endIndex
        let slash = UInt8(ascii: "/")
        var path = Array(text[..<end])
        for index in path.indices where path[index] == UInt8(ascii: "\\") {
            path[index] = slash
        }
        var reference = String(decoding: path + Array(text[end...]), as: UTF8.self)

        let parts = Self.splitScheme(reference[...].utf8)
        let name = parts.flatMap { Scheme(ofWeb: $0.name) }
        if parts != nil, name == nil {
            throw .unsupportedScheme
        }

        let rest = Self.trimming(parts?.rest ?? reference[...].utf8)
        let host = rest.drop { $0 == slash }
        let slashes = rest.count - host.count
        if slashes >= 2 || name != nil && name != scheme {
            reference = "\((name ?? scheme).name)://\(Substring(host))"
        } else if Self.splitScheme(rest) == nil {
            reference = String(Substring(rest))
        } else {
            // `http:skd://x` is a path too: no redirect reaches a handler.
            reference = "./" + Substring(rest)
        }
        return try resolving(reference)
    }

    /// True for a reference without a scheme (RFC 3986 §4.2).
    public static func isRelative(_ reference: String) -> Bool {
        // Each URI of a playlist passes here, and nearly all have no colon.
        let mayHaveScheme = reference.utf8.withContiguousStorageIfAvailable { bytes in
            guard let start = bytes.baseAddress else { return false }
            return memchr(start, Int32(UInt8(ascii: ":")), bytes.count) != nil
        }
        guard mayHaveScheme ?? true else { return true }
        return splitScheme(trimming(reference.utf8[...])) == nil
    }

    private static func referenced(_ text: Substring.UTF8View) throws(WebURLError) -> WebURL {
        guard text.contains(UInt8(ascii: "@")), let scheme = splitScheme(text)?.name, Scheme(ofWeb: scheme) != nil
        else {
            return try WebURL(absolute: text)
        }
        let split = UserInformation(splitting: String(Substring(text)))
        let url = try WebURL(absolute: split.url[...].utf8)
        return WebURL(origin: url.origin, path: url.path, query: url.query, authorization: split.field)
    }

    /// The path through its last slash, to which relative references are added.
    private var folder: Substring {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "/" }
        return path[...slash]
    }

    /// True for a plain file name, as most references of a playlist are: nothing in it has a meaning in a URL.
    private static func isFileName(_ text: Substring.UTF8View) -> Bool {
        guard let first = text.first, first != UInt8(ascii: ".") else { return false }
        return text.allSatisfy(\.isUnreserved)
    }

    private static func trimming(_ text: Substring.UTF8View) -> Substring.UTF8View {
        let isBlank = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        let start = text.drop(while: isBlank)
        guard let last = start.lastIndex(where: { !isBlank($0) }) else { return start.prefix(0) }
        return start[...last]
    }

    /// RFC 3986 §5.2.4, for a path that begins with a slash.
    static func removingDotSegments(_ path: String) -> String {
        let segments = path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard segments.contains(where: { isDots($0) }) else { return path }
        var kept: [Substring] = []
        for segment in segments {
            if segment.count == 2, isDots(segment) {
                _ = kept.popLast()
            }
            if !isDots(segment) {
                kept.append(Substring(segment))
            }
        }
        // A path that ends in a dot segment names a folder.
        if let last = segments.last, isDots(last) {
            kept.append("")
        }
        return "/" + kept.joined(separator: "/")
    }

    private static func isDots(_ segment: Substring.UTF8View) -> Bool {
        (1...2).contains(segment.count) && segment.allSatisfy { $0 == UInt8(ascii: ".") }
    }
}

/// A reason why a text is not a URL that Weir can request.
public enum WebURLError: String, Error, Hashable, Sendable, CustomStringConvertible {
    case unsupportedScheme
    /// A user name or password before the host. Credentials travel in header fields, never in URLs.
    case userInformation
    case missingHost
    /// A host that is neither a name in letters, digits, `-`, `_` and `.` nor an IP address.
    case invalidHost
    case invalidPort
    /// A control character, or a blank in a disallowed position.
    case forbiddenCharacter

    /// The reason for a user, without the text itself, which may contain secrets.
    public var description: String {
        switch self {
        case .unsupportedScheme: "the URL must begin with http:// or https://"
        case .userInformation: "the URL must not contain a user name or password"
        case .missingHost: "the URL has no host"
        case .invalidHost: "the URL's host is not a valid name or address"
        case .invalidPort: "the URL's port is not a number from 1 to 65535"
        case .forbiddenCharacter: "the URL contains a blank or a control character"
        }
    }
}
