public import HTTPMessage

/// Header fields that the user set for an origin, such as a cookie or a token.
///
/// A field goes with each request to the one (scheme, host, port) that it was set for and to no other, redirects included (see
/// `OriginRequest.Credentials`): a name does not show that a value is no secret. Fields that say where a request comes from,
/// such as Referer and User-Agent, go to the hosts that the playlists name as well, since media on another host often needs
/// them. A field may also be given for other hosts, and a player may send fields of its own. No value is ever shown.
public struct UserFields: Hashable, Sendable {
    private struct Field: Hashable {
        let line: FieldLine
        /// The only hosts that get it; nil for the origin, and for all hosts if it is shared.
        var host: FieldHost?
        /// True if a player sent it, and not the user by an option.
        var isPlayers = false

        var text: String {
            let text = "\(line.name): \(line.value)"
            if let host {
                return "@\(host) \(text)"
            }
            guard isPlayers else { return text }
            return "@ \(text)"
        }
    }

    /// In the user's order.
    private let all: [Field]
    /// The User-Agent of the latest player, which requests have unless the user gave one. It is not kept.
    public var playerAgent: FieldLine?
    /// The fields without a host of their own.
    public var lines: [FieldLine] { all.filter { $0.host == nil }.map(\.line) }

    /// No fields.
    public init() { all = [] }

    /// Parses fields of the form `Name: value`, or `@HOSTS Name: value` with the text of a `FieldHost`. `@ Name: value` is a player's
    /// field.
    /// - Throws: `Refusal` for the first field that cannot be sent.
    public init(_ texts: [String]) throws(Refusal) {
        guard texts.count <= Self.maximumCount else { throw Refusal("", "there are more than \(Self.maximumCount)") }
        guard texts.reduce(0, { $0 + $1.utf8.count }) <= Self.maximumByteCount else {
            throw Refusal("", "they are longer than \(Self.maximumByteCount >> 10) KB together")
        }
        var all: [Field] = []
        for (index, text) in texts.enumerated() {
            all.append(try Self.field(text, number: index + 1))
        }
        self.all = all
    }

    private init(all: [Field]) { self.all = all }

    /// These fields and another; nil if there is one of the same name.
    public func adding(_ line: FieldLine) -> UserFields? {
        guard field(named: line) == nil else { return nil }
        var fields = UserFields(all: all + [Field(line: line)])
        fields.playerAgent = playerAgent
        return fields
    }

    /// These fields and those of a player, which replace an earlier player's of the same names. Fields that the user
    /// gave by an option stay.
    public func adding(fieldsOfPlayer lines: [FieldLine]) -> UserFields {
        let new = lines.filter { field(named: $0)?.isPlayers ?? true }
        let kept = all.filter { old in
            !(old.isPlayers && new.contains { $0.name.lowercased() == old.line.name.lowercased() })
        }
        var fields = UserFields(all: kept + new.map { Field(line: $0, isPlayers: true) })
        fields.playerAgent = playerAgent
        guard fields.all.count <= Self.maximumCount else { return self }
        return fields
    }

    /// These fields for an asset that has others: what the user gave replaces them, what a player sent is added to them.
    public func applied(to old: UserFields) -> UserFields {
        guard given.isEmpty else { return self }
        var fields = old.adding(fieldsOfPlayer: all.map(\.line))
        fields.playerAgent = playerAgent ?? old.playerAgent
        return fields
    }

    /// True if a player's fields have another user name, password or cookie than these: they belong to another account.
    public func contradict(_ lines: [FieldLine]) -> Bool {
        lines.contains { line in
            guard Self.isCredential(line), let known = field(named: line) else { return false }
            return known.line.value != line.value
        }
    }

    private func field(named line: FieldLine) -> Field? {
        all.first { $0.host == nil && $0.line.name.lowercased() == line.name.lowercased() }
    }

    /// Most fields, and most bytes of all fields: servers accept few more.
    public static let maximumCount = 32
    /// See `maximumCount`.
    public static let maximumByteCount = 16 << 10
    /// True without any field, but for a player's User-Agent.
    public var isEmpty: Bool { all.isEmpty }
    /// The fields in the form of `init(_:)`. Secret.
    public var texts: [String] { all.map(\.text) }
    /// The fields that the user gave by an option.
    public var given: UserFields { UserFields(all: all.filter { !$0.isPlayers }) }
    /// The fields that a player sent.
    public var ofPlayers: [FieldLine] { all.filter(\.isPlayers).map(\.line) }

    /// The fields that go to the origin that they were given for, and to no other.
    public var credentials: [FieldLine] { lines.filter { !Self.isShared($0) } }
    /// The fields that go to every host of the presentation.
    public var shared: [FieldLine] {
        let lines = lines.filter(Self.isShared)
        let hasAgent = all.contains { $0.host == nil && !$0.isPlayers && $0.line.isNamed(.userAgent) }
        guard let playerAgent, !hasAgent else { return lines }
        return lines.filter { !$0.isNamed(.userAgent) } + [playerAgent]
    }
    /// The fields for other hosts.
    public var scoped: [OriginRequest.ScopedField] {
        all.compactMap { field -> OriginRequest.ScopedField? in
            guard let host = field.host else { return nil }
            return OriginRequest.ScopedField(host: host, line: field.line)
        }
    }

    /// True for a field that says where a request comes from, and in which form the reply is wanted.
    private static func isShared(_ line: FieldLine) -> Bool {
        let name = line.name.lowercased()
        let isOfFamily = name == "accept" || name.hasPrefix("accept-") || name.hasPrefix("sec-")
        return isOfFamily || sharedNames.contains(name)
    }

    private static let sharedNames: Set = [
        "cache-control", "dnt", "origin", "pragma", "referer", "user-agent", "x-requested-with",
    ]

    /// True for a field that names an account. Judges by the name: the value says nothing reliable.
    private static func isCredential(_ line: FieldLine) -> Bool {
        let name = line.name.lowercased()
        return ["auth", "token", "key", "secret", "cookie", "password"].contains { name.contains($0) }
    }

    private static func field(_ text: String, number: Int) throws(Refusal) -> Field {
        guard text.hasPrefix("@"), let blank = text.firstIndex(of: " ") else {
            return Field(line: try line(text, number: number))
        }
        let name = text[text.index(after: text.startIndex)..<blank]
        let line = try line(String(text[text.index(after: blank)...]), number: number)
        if name.isEmpty {
            return Field(line: line, isPlayers: true)
        }
        guard let host = FieldHost(String(name)) else {
            throw Refusal(
                "header field \(line.name)",
                "its host must be a name or an address, with a port or without, or *.site, or *")
        }
        return Field(line: line, host: host)
    }

    private static func line(_ text: String, number: Int) throws(Refusal) -> FieldLine {
        // A line end is valid in a field line, but not in a field from the user.
        guard !text.utf8.contains(where: { $0 == 0x0D || $0 == 0x0A || $0 == 0 }) else {
            throw Refusal("header field \(number)", "it contains a line break or a NUL")
        }
        guard let line = FieldLine(text.utf8) else {
            throw Refusal("header field \(number)", "it is not of the form \"Name: value\"")
        }
        if OriginRequest.ownFields.contains(where: { line.isNamed($0) }) {
            throw Refusal("header field \(line.name)", "Weir sets this field itself")
        }
        if conditions.contains(where: { line.isNamed($0) }) {
            throw Refusal(
                "header field \(line.name)", "it makes the request conditional, so that the origin may send no body")
        }
        return line
    }

    /// Conditional fields: an origin may answer them without a body (RFC 9110 §13.1).
    private static var conditions: [FieldName] {
        [.ifNoneMatch, .ifModifiedSince, FieldName("If-Match"), FieldName("If-Unmodified-Since")]
    }

    /// A refused field.
    public struct Refusal: Error, Equatable, CustomStringConvertible {
        /// A sentence for a user, without the field's value.
        public let description: String

        init(_ field: String, _ reason: String) {
            guard !field.isEmpty else {
                description = "the header fields are refused: \(reason)"
                return
            }
            description = "\(field) is refused: \(reason)"
        }
    }
}

extension UserFields: CustomStringConvertible {
    /// The names only, so that interpolating the fields leaks nothing.
    public var description: String { all.map(\.line.name).joined(separator: ", ") }
}

extension UserFields {
    /// Marks the records whose fields were given by today's rule.
    private static let presentRule = "rule 2"

    /// The text of the catalogue, which is secret; nil without fields.
    public var record: String? {
        guard !isEmpty else { return nil }
        return ([Self.presentRule] + texts).joined(separator: "\n")
    }

    /// Parses the text of the catalogue; no fields if this version does not accept them.
    ///
    /// Earlier records have no mark. By their rule a field whose name shows no secret went to every host, and it still does.
    public init(record: String?) {
        var texts = record?.split(separator: "\n").map(String.init) ?? []
        if texts.first == Self.presentRule {
            texts.removeFirst()
        } else {
            texts = texts.map(Self.textOfPresentRule)
        }
        self = (try? UserFields(texts)) ?? UserFields()
    }

    private static func textOfPresentRule(_ text: String) -> String {
        let isOfAHost = text.hasPrefix("@")
        guard !isOfAHost, let line = FieldLine(text.utf8), !isShared(line), !isCredential(line) else { return text }
        return "@\(FieldHost.everyHost) \(text)"
    }
}

/// The hosts that a field or a client certificate was given for: `cdn.example.com`, `[2001:db8::1]` or `cdn.example.com:8443`; `*.example.com` for all hosts below
/// example.com; `*` for every host and port. Without a port it is the host at the default ports of http and https.
public struct FieldHost: Hashable, Sendable, CustomStringConvertible {
    /// From the closest to the widest.
    private enum Reach: Int, Comparable {
        case host
        case site
        case everyHost

        static func < (left: Reach, right: Reach) -> Bool { left.rawValue < right.rawValue }
    }

    /// Every host and port.
    public static let everyHost = FieldHost(reach: .everyHost, host: "", port: nil)

    private let reach: Reach
    /// The host, or the site above the hosts.
    private let host: String
    private let port: UInt16?

    private init(reach: Reach, host: String, port: UInt16?) {
        self.reach = reach
        self.host = host
        self.port = port
    }

    /// Nil for anything but a host or `*.site`, with a port or without, or `*`.
    public init?(_ text: String) {
        if text == "*" {
            self = .everyHost
            return
        }
        let isSite = text.hasPrefix("*.")
        var name = text
        if isSite {
            name = String(text.dropFirst(2))
        }
        guard !name.isEmpty, !name.utf8.contains(where: { "/?#@ *".utf8.contains($0) }),
            let url = try? WebURL("http://\(name)")
        else { return nil }

        let hasPort = name.last != "]" && name.last != ":" && name.utf8.contains(UInt8(ascii: ":"))
        var port: UInt16?
        if hasPort {
            port = url.port
        }
        let reach: Reach = isSite ? .site : .host
        self.init(reach: reach, host: url.host, port: port)
    }

    /// The host and port of a URL; nil for one that a handler answers.
    init?(of url: WebURL) {
        if url.needsHandler {
            return nil
        }
        self.init(reach: .host, host: url.host, port: url.port)
    }

    /// The host of a URL as a user would write it, without a port where the URL has the usual one.
    static func naming(_ url: WebURL) -> FieldHost? {
        guard let exact = FieldHost(of: url) else { return nil }
        let hasUsualPort = url.port == url.scheme.defaultPort
        guard hasUsualPort else { return exact }
        return FieldHost(reach: .host, host: exact.host, port: nil)
    }

    /// True if it names one host alone.
    var isOneHost: Bool { reach == .host }

    func matches(_ url: WebURL) -> Bool {
        let hasPort = url.port == port ?? url.scheme.defaultPort
        switch reach {
        case .host: return hasPort && url.host == host
        case .site: return hasPort && url.host.hasSuffix(".\(host)")
        case .everyHost: return true
        }
    }

    /// True if it names fewer hosts than another that matches the same URL.
    func isCloser(than other: FieldHost) -> Bool {
        guard reach == other.reach else { return reach < other.reach }
        return host.utf8.count > other.host.utf8.count
    }

    /// In the form of `init(_:)`.
    public var description: String {
        if reach == .everyHost {
            return "*"
        }
        var text = WebURL.bracketed(host)
        if reach == .site {
            text = "*." + text
        }
        if let port {
            text += ":\(port)"
        }
        return text
    }
}
