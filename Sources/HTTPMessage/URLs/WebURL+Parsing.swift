extension WebURL {
    /// Parses an absolute URL and drops its fragment.
    /// - Throws: `WebURLError` for anything but `http(s)://host[:port]…` and `scheme://…`, for a local file, and for blanks
    ///   and control characters anywhere.
    public init(_ text: String) throws(WebURLError) {
        guard !text.utf8.contains(UInt8(ascii: " ")) else { throw .forbiddenCharacter }
        try self.init(absolute: text.utf8[...])
    }

    /// Parses an absolute URL whose inner spaces become `%20`.
    init(absolute text: Substring.UTF8View) throws(WebURLError) {
        guard !text.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { throw .forbiddenCharacter }
        guard let (name, rest) = Self.splitScheme(text) else { throw .unsupportedScheme }
        guard let scheme = Scheme(ofWeb: name) else {
            try self.init(otherScheme: name, rest)
            return
        }
        guard rest.starts(with: "//".utf8) else { throw .missingHost }
        let (authority, tail) = Self.split(rest.dropFirst(2), before: "/?#")
        let parts = Self.splitPath(tail)
        // An empty path is the root (RFC 3986 §6.2.3).
        let path = parts.path.isEmpty ? "/"[...].utf8 : parts.path
        self.init(
            origin: try Origin(scheme: scheme, authority: authority),
            path: Self.removingDotSegments(Self.encoding(path)), query: parts.query.map(Self.encoding))
    }

    private init(otherScheme name: Substring.UTF8View, _ rest: Substring.UTF8View) throws(WebURLError) {
        let name = Substring(name).lowercased()
        guard name != "file", rest.starts(with: "//".utf8) else { throw .unsupportedScheme }
        let (host, tail) = Self.split(rest.dropFirst(2), before: "/?#")
        let (path, query) = Self.splitPath(tail)
        guard !host.isEmpty || !path.isEmpty else { throw .missingHost }
        self.init(
            origin: Origin(scheme: .other(name), host: Self.encoding(host), port: 0),
            path: Self.removingDotSegments(Self.encoding(path)), query: query.map(Self.encoding))
    }

    /// The scheme's name and the text after its colon (RFC 3986 §3.1); nil for a relative reference.
    static func splitScheme(_ text: Substring.UTF8View) -> (name: Substring.UTF8View, rest: Substring.UTF8View)? {
        guard let first = text.first, first.isLetter else { return nil }
        let (name, rest) = split(text, before: ":/?#")
        guard rest.first == UInt8(ascii: ":"),
            name.allSatisfy({ $0.isLetter || $0.isDigit || "+-.".utf8.contains($0) })
        else { return nil }
        return (name, rest.dropFirst())
    }

    /// Splits the text after the authority into path and query, and drops its fragment.
    static func splitPath(_ text: Substring.UTF8View) -> (path: Substring.UTF8View, query: Substring.UTF8View?) {
        let (path, rest) = split(text, before: "?#")
        guard rest.first == UInt8(ascii: "?") else { return (path, nil) }
        return (path, split(rest.dropFirst(), before: "#").head)
    }

    private static func split(
        _ text: Substring.UTF8View, before stops: StaticString
    ) -> (head: Substring.UTF8View, rest: Substring.UTF8View) {
        let end =
            text.firstIndex { byte in
                stops.withUTF8Buffer { $0.contains(byte) }
            } ?? text.endIndex
        return (text[..<end], text[end...])
    }

    /// Percent-encodes characters that RFC 3986 does not allow in paths and queries.
    /// `[`, `]` and a lone `%` stay: origins use them, and signatures may cover them.
    static func encoding(_ text: Substring.UTF8View) -> String {
        guard text.contains(where: \.mustBeEncoded) else { return String(Substring(text)) }
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text {
            if byte.mustBeEncoded {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension WebURL.Scheme {
    /// http or https, in any letters; nil for another scheme.
    init?(ofWeb name: Substring.UTF8View) {
        switch Substring(name).lowercased() {
        case "http": self = .http
        case "https": self = .https
        default: return nil
        }
    }
}

extension WebURL.Origin {
    fileprivate init(scheme: WebURL.Scheme, authority: Substring.UTF8View) throws(WebURLError) {
        guard !authority.contains(UInt8(ascii: "@")) else { throw .userInformation }
        let end = try Self.endOfHost(authority)
        let rest = authority[end...]
        guard rest.isEmpty || rest.first == UInt8(ascii: ":") else { throw .invalidHost }
        self.init(
            scheme: scheme, host: try Self.host(authority[..<end]),
            port: try Self.port(rest.dropFirst()) ?? scheme.defaultPort)
    }

    private static func endOfHost(_ authority: Substring.UTF8View) throws(WebURLError) -> Substring.UTF8View.Index {
        guard authority.first == UInt8(ascii: "[") else {
            return authority.firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
        }
        guard let bracket = authority.firstIndex(of: UInt8(ascii: "]")) else { throw .invalidHost }
        return authority.index(after: bracket)
    }

    private static func host(_ text: Substring.UTF8View) throws(WebURLError) -> String {
        guard let first = text.first else { throw .missingHost }
        if first == UInt8(ascii: "[") {
            let address = Substring(text.dropFirst().dropLast())
            guard IPv6Text.isValid(address) else { throw .invalidHost }
            return address.lowercased()
        }
        if text.contains(where: { $0 >= 0x80 || $0 == UInt8(ascii: "%") }) {
            return try internationalHost(text)
        }
        guard let name = InternationalName.ascii(Substring(text)) else { throw .invalidHost }
        return name
    }

    /// Players encode the bytes of an international name, as they do in a path. Other characters are never encoded.
    private static func internationalHost(_ text: Substring.UTF8View) throws(WebURLError) -> String {
        guard text.count <= longestInternationalHost, let decoded = PercentEncoding.decode(Substring(text)),
            decoded.utf8.contains(where: { $0 >= 0x80 }), let name = InternationalName.ascii(decoded)
        else { throw .invalidHost }
        return name
    }

    /// Bounds the work on a host: its encoding takes quadratic time.
    private static let longestInternationalHost = 1024

    /// Nil without digits: RFC 3986 §3.2.3 allows a colon without a port.
    private static func port(_ text: Substring.UTF8View) throws(WebURLError) -> UInt16? {
        if text.isEmpty {
            return nil
        }
        guard text.allSatisfy(\.isDigit), let port = UInt16(Substring(text)), port > 0 else { throw .invalidPort }
        return port
    }
}

extension UInt8 {
    fileprivate var isLetter: Bool { (0x61...0x7A).contains(self | 0x20) }
    fileprivate var isDigit: Bool { (0x30...0x39).contains(self) }
    /// True for the characters that have no meaning of their own in a URL (RFC 3986 §2.3).
    var isUnreserved: Bool { isLetter || isDigit || "-._~".utf8.contains(self) }
    fileprivate var mustBeEncoded: Bool { self <= 0x20 || self >= 0x7F || "\"<>\\^`{|}".utf8.contains(self) }
}

/// The textual form of IPv6 addresses (RFC 3986 §3.2.2, `IPv6address`). Zone identifiers are refused.
enum IPv6Text {
    static func isValid(_ text: Substring) -> Bool {
        guard let gap = gap(in: text.utf8) else { return groups(text.utf8) == 8 }
        let tail = text.utf8[text.utf8.index(gap, offsetBy: 2)...]
        guard let before = groups(text.utf8[..<gap], allowsIPv4: false), let after = groups(tail) else { return false }
        return before + after <= 7
    }

    private static func gap(in text: Substring.UTF8View) -> Substring.UTF8View.Index? {
        zip(text.indices, text.indices.dropFirst()).first { text[$0] == colon && text[$1] == colon }?.0
    }

    /// The number of 16-bit groups in `text`, 0 if it is empty; nil if it is malformed.
    private static func groups(_ text: Substring.UTF8View, allowsIPv4: Bool = true) -> Int? {
        if text.isEmpty {
            return 0
        }
        var groups = text.split(separator: colon, omittingEmptySubsequences: false)[...]
        var count = groups.count
        if allowsIPv4, let last = groups.last, isIPv4(last) {
            // Its 32 bits are two groups.
            groups.removeLast()
            count += 1
        }
        guard groups.allSatisfy(isGroup) else { return nil }
        return count
    }

    private static func isGroup(_ text: Substring.UTF8View) -> Bool {
        (1...4).contains(text.count) && text.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
    }

    private static func isIPv4(_ text: Substring.UTF8View) -> Bool {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                (1...3).contains(part.count) && part.allSatisfy { (0x30...0x39).contains($0) }
                    && UInt8(Substring(part)) != nil
            }
    }

    private static let colon = UInt8(ascii: ":")
}
