/// A curl command line, as browsers give it by "Copy as cURL", or as a user has it. Pure.
///
/// Of its fields, those are kept that other requests to the same site may need; fields about this request alone, such as Range
/// and Accept-Encoding, are left out. Options that say how curl shows or stores the result mean nothing here.
public struct CurlCommand: Equatable, Sendable {
    /// A command that cannot be used.
    public enum Mistake: Error, Equatable, CustomStringConvertible {
        /// The first word is not `curl`.
        case noCommand
        case noURL
        case severalURLs
        /// The request would send a body, or has this method.
        case method(String)
        /// An option without its value.
        case noValue(String)
        /// The header field of this number, from 1, cannot be sent.
        case field(Int)
        /// `--cookie` names a file.
        case cookieFile

        /// A sentence without the values, which are secrets.
        public var description: String {
            switch self {
            case .noCommand: "the text does not begin with curl"
            case .noURL: "the curl command has no URL"
            case .severalURLs: "the curl command has more than one URL"
            case .method(let name): "the curl command sends \(name), and a stream is fetched by GET"
            case .noValue(let option): "\(option) of the curl command has no value"
            case .field(let number): "header field \(number) of the curl command is not 'Name: value'"
            case .cookieFile: "the curl command names a file of cookies"
            }
        }
    }

    /// The URL, with the user name and password of `--user`.
    public private(set) var url = ""
    /// Header fields as `Name: value`, without two of one name.
    public private(set) var fields: [String] = []
    /// The URL of the proxy; nil without one.
    public private(set) var proxy: String?
    /// True if certificates are not verified.
    public private(set) var isInsecure = false
    private var user: String?
    private var count = 0

    /// Reads the words of a command line, the first of which is `curl`.
    public init(_ words: [String]) throws(Mistake) {
        guard let program = words.first?.split(separator: "/").last, program == "curl" || program == "curl.exe" else {
            throw .noCommand
        }

        var rest = words.dropFirst()
        var isBehindOptions = false
        while let word = rest.popFirst() {
            if isBehindOptions || !word.hasPrefix("-") || word == "-" {
                try setURL(word)
            } else if word == "--" {
                isBehindOptions = true
            } else if word.hasPrefix("--") {
                try read(long: String(word.dropFirst(2)), &rest)
            } else {
                try read(short: word.dropFirst(), &rest)
            }
        }
        guard !url.isEmpty else { throw .noURL }
        addUserToURL()
    }

    /// Puts the name and password of `--user` into the URL.
    private mutating func addUserToURL() {
        guard let user, let scheme = url.firstRange(of: "://") else { return }
        let parts = user.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let name = parts.map { PercentEncoding.encode($0) }.joined(separator: ":")
        url = url[..<scheme.upperBound] + name + "@" + url[scheme.upperBound...]
    }

    private mutating func setURL(_ word: String) throws(Mistake) {
        guard !word.isEmpty else { return }
        guard url.isEmpty else { throw .severalURLs }
        url = Self.withScheme(word)
    }

    /// curl takes a URL without a scheme for one of http.
    private static func withScheme(_ url: String) -> String {
        guard !url.contains("://") else { return url }
        return "http://" + url
    }

    // MARK: Options

    /// Options that decide the request.
    private enum Option: String {
        case url, header, cookie, referer, user, proxy, request, insecure, head
        case userAgent = "user-agent"
        case data

        var hasValue: Bool { self != .insecure && self != .head }
    }

    private static let shortNames: [Character: Option] = [
        "H": .header, "b": .cookie, "e": .referer, "u": .user, "x": .proxy, "X": .request, "k": .insecure, "I": .head,
        "A": .userAgent, "d": .data, "F": .data, "T": .data,
    ]
    private static let bodies = [
        "data-raw", "data-binary", "data-ascii", "data-urlencode", "json", "form", "form-string", "upload-file",
    ]
    /// Letters of other options with a value (curl(1)).
    private static let otherShort = Set("CDEKPQUYcmowrytz")
    /// Other options with a value.
    private static let otherLong: Set = [
        "cacert", "capath", "cert", "cert-type", "ciphers", "config", "connect-timeout", "connect-to", "continue-at",
        "cookie-jar", "curves", "dns-servers", "dump-header", "interface", "key", "key-type", "limit-rate",
        "local-port",
        "max-filesize", "max-redirs", "max-time", "noproxy", "output", "output-dir", "pass", "proto", "proto-redir",
        "proxy-header", "proxy-user", "range", "resolve", "retry", "retry-delay", "retry-max-time", "speed-limit",
        "speed-time", "stderr", "time-cond", "tls-max", "tls13-ciphers", "trace", "trace-ascii", "unix-socket",
        "user-agent-file", "write-out",
    ]

    private mutating func read(long text: String, _ rest: inout ArraySlice<String>) throws(Mistake) {
        // curl has no --name=value, but users write it.
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let name = parts[0]
        var option = Option(rawValue: name)
        if Self.bodies.contains(name) {
            option = .data
        }
        guard let option else {
            if parts.count == 1, Self.otherLong.contains(name) {
                _ = rest.popFirst()
            }
            return
        }
        guard option.hasValue else { return try apply(option, "") }

        let attached = parts.dropFirst().first
        guard let value = attached ?? rest.popFirst() else { throw .noValue("--\(name)") }
        try apply(option, value)
    }

    /// Short options, of which several may share a word: `-skH 'A: b'`, `-XGET`.
    private mutating func read(short letters: Substring, _ rest: inout ArraySlice<String>) throws(Mistake) {
        var letters = letters
        while let letter = letters.popFirst() {
            let option = Self.shortNames[letter]
            guard option?.hasValue ?? Self.otherShort.contains(letter) else {
                if let option {
                    try apply(option, "")
                }
                continue
            }

            // The value is the rest of the word, or else the next word.
            var value: String? = String(letters)
            if letters.isEmpty {
                value = rest.popFirst()
            }
            guard let value else { throw .noValue("-\(letter)") }
            if let option {
                try apply(option, value)
            }
            return
        }
    }

    private mutating func apply(_ option: Option, _ value: String) throws(Mistake) {
        switch option {
        case .url: try setURL(value)
        case .header: try addField(value)
        case .cookie:
            guard value.contains("=") else { throw .cookieFile }
            try addField("Cookie: \(value)")
        case .referer: try addField("Referer: \(value.split(separator: ";").first ?? "")")
        case .userAgent: try addField("User-Agent: \(value)")
        case .user: user = value
        case .proxy: proxy = Self.withScheme(value)
        case .request:
            guard ["GET", "HEAD"].contains(value.uppercased()) else { throw .method(value) }
        case .data: throw .method("a body")
        case .insecure: isInsecure = true
        case .head: break
        }
    }

    private mutating func addField(_ line: String) throws(Mistake) {
        count += 1
        // curl removes a field by `Name:`, and sends an empty one for `Name;`.
        if line.hasSuffix(":") || line.hasSuffix(";") && !line.contains(":") {
            return
        }
        guard !line.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }), let field = FieldLine(line.utf8) else {
            // A pseudo-header field of HTTP/2 (RFC 9113 §8.3), as some browsers give them.
            if line.hasPrefix(":") {
                return
            }
            throw .field(count)
        }

        let name = field.name.lowercased()
        guard !Self.isOfOneRequest(name), !field.value.isEmpty else { return }
        // A later field replaces an earlier one, as the last -A does in curl.
        fields.removeAll { $0.lowercased().hasPrefix(name + ":") }
        fields.append("\(field.name): \(field.value)")
    }

    /// True for a field that concerns one request or connection. The name is in small letters.
    private static func isOfOneRequest(_ name: String) -> Bool {
        let beginnings = ["if-", "sec-fetch-", "proxy-", "content-"]
        return namesOfOneRequest.contains(name) || beginnings.contains { name.hasPrefix($0) }
    }

    private static let namesOfOneRequest: Set = [
        "host", "connection", "accept", "accept-encoding", "range", "te", "transfer-encoding", "upgrade",
        "upgrade-insecure-requests", "keep-alive", "expect", "cache-control", "pragma", "priority", "trailer",
        "http2-settings",
    ]
}
