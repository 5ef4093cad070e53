/// A proxy server that the user named. Its description has no credentials.
public struct ProxyURL: Hashable, Sendable, CustomStringConvertible {
    /// The reason why a text is not a proxy, as a sentence that does not repeat the text.
    public struct Refusal: Error, Equatable, CustomStringConvertible {
        /// The sentence.
        public let description: String
        fileprivate init(_ description: String) { self.description = description }
    }

    /// The protocol that the proxy speaks.
    public enum Kind: String, Sendable, CaseIterable {
        case http, https, socks4a, socks5
        /// SOCKS5 with names, not addresses.
        case socks5h

        /// True if the proxy resolves the names of origins. Otherwise Weir does, and sends addresses.
        public var resolvesNames: Bool { self != .socks5 }
        /// As curl's.
        var defaultPort: UInt16 {
            switch self {
            case .https: 443
            case .http, .socks4a, .socks5, .socks5h: 1080
            }
        }
    }

    /// The protocol.
    public let kind: Kind
    /// A name or an address, IPv6 without brackets.
    public let host: String
    /// The port.
    public let port: UInt16
    /// The user's name there; nil without credentials.
    public let user: String?
    /// Secret.
    public let password: String?

    /// Parses `[KIND://][USER[:PASSWORD]@]HOST[:PORT]`; without a kind it is an HTTP proxy, as for curl.
    public init(_ text: String) throws(Refusal) {
        var rest = text[...].utf8
        if rest.count > Self.maximumLength {
            throw Self.refusal("it is too long")
        }
        guard rest.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw Self.refusal("it contains a blank or a control character")
        }

        var kind = Kind.http
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")), rest[colon...].starts(with: "://".utf8) {
            kind = try Self.kind(Substring(rest[..<colon]))
            rest = rest[colon...].dropFirst(3)
        }

        // A path has no meaning for a proxy, but many write a slash at the end.
        rest = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }

        var credentials: (user: String, password: String?)?
        if let at = rest.lastIndex(of: UInt8(ascii: "@")) {
            credentials = try Self.credentials(rest[..<at])
            rest = rest[at...].dropFirst()
        }

        let authority = try Self.authority(rest)
        self.init(
            kind: kind, host: authority.host, port: authority.port ?? kind.defaultPort, user: credentials?.user,
            password: credentials?.password)
    }

    private init(kind: Kind, host: String, port: UInt16, user: String?, password: String?) {
        self.kind = kind
        self.host = host
        self.port = port
        self.user = user
        self.password = password
    }

    private static let maximumLength = 1024

    private static func kind(_ text: Substring) throws(Refusal) -> Kind {
        let name = text.lowercased()
        if let kind = Kind(rawValue: name) {
            return kind
        }
        // Desktops set all_proxy to this form.
        if name == "socks" {
            return .socks5h
        }
        let known = Kind.allCases.map(\.rawValue).joined(separator: ", ")
        throw refusal("its kind is none of \(known)")
    }

    private static func credentials(
        _ text: Substring.UTF8View
    ) throws(Refusal) -> (user: String, password: String?) {
        let parts = text.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        var decoded: [String] = []
        for part in parts {
            guard let bytes = decoding(part) else { throw refusal("a % in its name or password is not %25") }
            // libcurl takes C texts.
            guard !bytes.contains(0) else { throw refusal("its name or password contains a NUL") }
            decoded.append(String(decoding: bytes, as: UTF8.self))
        }
        return (decoded[0], decoded.dropFirst().first)
    }

    private static func decoding(_ text: Substring.UTF8View) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let code = UInt8(Substring(rest.prefix(2)), radix: 16) else { return nil }
            bytes.append(code)
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    private static func authority(_ text: Substring.UTF8View) throws(Refusal) -> (host: String, port: UInt16?) {
        var host = text
        var rest = text.suffix(0)
        if text.first == UInt8(ascii: "["), let end = text.firstIndex(of: UInt8(ascii: "]")) {
            host = text[..<end].dropFirst()
            rest = text[end...].dropFirst()
            guard IPv6Text.isValid(Substring(host)) else {
                throw refusal("its address is not valid")
            }
        } else {
            host = text.prefix { $0 != UInt8(ascii: ":") }
            rest = text.dropFirst(host.count)
        }

        guard !host.isEmpty else { throw refusal("it has no host") }
        let name: String?
        if host.contains(UInt8(ascii: ":")) {
            name = Substring(host).lowercased()
        } else {
            name = InternationalName.ascii(Substring(host))
        }
        guard let name else {
            throw refusal("its host is not a name or an address")
        }

        if rest.isEmpty {
            return (name, nil)
        }
        guard rest.first == UInt8(ascii: ":"), rest.dropFirst().allSatisfy(\.isPortDigit),
            let port = UInt16(Substring(rest.dropFirst())), port > 0
        else { throw refusal("its port is not a number from 1 to 65535") }
        return (name, port)
    }

    /// Does not repeat the text, which may contain a password.
    private static func refusal(_ reason: String) -> Refusal {
        Refusal("this is not a proxy, such as http://host:3128 or socks5h://user:password@host:1080: \(reason)")
    }

    /// The kind, host and port.
    public var description: String { "\(kind.rawValue)://\(hostText):\(port)" }
    /// True with a user name.
    public var hasCredentials: Bool { user != nil }
    /// The text for `init(_:)`. Secret.
    public var text: String {
        var credentials = ""
        if let user {
            credentials = Self.encoding(user)
            if let password {
                credentials += ":" + Self.encoding(password)
            }
            credentials += "@"
        }
        return "\(kind.rawValue)://\(credentials)\(hostText):\(port)"
    }

    private var hostText: String { WebURL.bracketed(host) }

    private static func encoding(_ text: String) -> String {
        text.utf8.reduce(into: "") { result, byte in
            if byte.isPlainByte {
                result.unicodeScalars.append(UnicodeScalar(byte))
            } else {
                result += "%" + ByteClass.hexadecimal(byte)
            }
        }
    }
}

extension UInt8 {
    fileprivate var isPortDigit: Bool { (0x30...0x39).contains(self) }
    fileprivate var isPlainByte: Bool {
        isPortDigit || (0x61...0x7A).contains(self | 0x20) || "-_.".utf8.contains(self)
    }
}
