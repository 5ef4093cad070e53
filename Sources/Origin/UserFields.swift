public import HTTPMessage

/// Header fields that the user set for an origin, such as a cookie or a token.
///
/// Credentials go with each request to the one (scheme, host, port) that they were set for and to no other, redirects
/// included (see `OriginRequest.Credentials`). The others, such as Referer and User-Agent, go to the hosts that the
/// playlists name as well, since media on another host often needs them. No value is ever shown.
public struct UserFields: Hashable, Sendable {
    /// In the user's order.
    public let lines: [FieldLine]

    /// No fields.
    public init() { lines = [] }

    /// Parses fields of the form `Name: value`.
    /// - Throws: `Refusal` for the first field that cannot be sent.
    public init(_ texts: [String]) throws(Refusal) {
        guard texts.count <= Self.maximumCount else { throw Refusal("", "there are more than \(Self.maximumCount)") }
        guard texts.reduce(0, { $0 + $1.utf8.count }) <= Self.maximumByteCount else {
            throw Refusal("", "they are longer than \(Self.maximumByteCount >> 10) KB together")
        }
        var lines: [FieldLine] = []
        for (index, text) in texts.enumerated() { lines.append(try Self.line(text, number: index + 1)) }
        self.lines = lines
    }

    private init(lines: [FieldLine]) { self.lines = lines }

    /// These fields and another; nil if there is one of the same name.
    public func adding(_ line: FieldLine) -> UserFields? {
        lines.contains { $0.name.lowercased() == line.name.lowercased() } ? nil : UserFields(lines: lines + [line])
    }

    /// Most fields, and most bytes of all fields: servers accept few more.
    public static let maximumCount = 32
    /// See `maximumCount`.
    public static let maximumByteCount = 16 << 10
    /// True without any field.
    public var isEmpty: Bool { lines.isEmpty }
    /// The fields in the form of `init(_:)`. Secret.
    public var texts: [String] { lines.map { "\($0.name): \($0.value)" } }

    /// The fields that go to the origin that they were given for, and to no other.
    public var credentials: [FieldLine] { lines.filter(Self.isCredential) }
    /// The fields that go to every host of the presentation.
    public var shared: [FieldLine] { lines.filter { !Self.isCredential($0) } }

    /// Judges by the name: the value says nothing reliable.
    private static func isCredential(_ line: FieldLine) -> Bool {
        let name = line.name.lowercased()
        return ["auth", "token", "key", "secret", "cookie", "password"].contains { name.contains($0) }
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
            description = field.isEmpty ? "the header fields are refused: \(reason)" : "\(field) is refused: \(reason)"
        }
    }
}

extension UserFields: CustomStringConvertible {
    /// The names only, so that interpolating the fields leaks nothing.
    public var description: String { lines.map(\.name).joined(separator: ", ") }
}
