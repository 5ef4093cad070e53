public import HTTPMessage

/// Header fields that the user gave for an origin: a cookie, a token, whatever a site asks for.
///
/// All of them are secret, whatever their names. They go with each request to the one (scheme, host, port) that they
/// were given for, and to no other, redirects included (see `OriginRequest.Credentials`).
public struct UserFields: Hashable, Sendable {
    /// In the order in which they were given.
    public let lines: [FieldLine]

    /// No fields.
    public init() { lines = [] }

    /// Fields as `Name: value`.
    ///
    /// - Throws: `Refusal` for the first that cannot be sent.
    public init(_ texts: [String]) throws(Refusal) {
        guard texts.count <= Self.maximumCount else { throw Refusal("", "there are more than \(Self.maximumCount)") }
        guard texts.reduce(0, { $0 + $1.utf8.count }) <= Self.maximumByteCount else {
            throw Refusal("", "they are longer than \(Self.maximumByteCount >> 10) KB together")
        }
        var lines: [FieldLine] = []
        for (index, text) in texts.enumerated() { lines.append(try Self.line(text, number: index + 1)) }
        self.lines = lines
    }

    /// The most fields that are sent, and the most bytes of them all: servers take few more.
    public static let maximumCount = 32
    /// See `maximumCount`.
    public static let maximumByteCount = 16 << 10

    /// Whether there are none.
    public var isEmpty: Bool { lines.isEmpty }

    /// The fields as `init(_:)` takes them. Secret.
    public var texts: [String] { lines.map { "\($0.name): \($0.value)" } }

    private static func line(_ text: String, number: Int) throws(Refusal) -> FieldLine {
        // What a field line may end in has no place in a field that is given.
        guard !text.utf8.contains(where: { $0 == 0x0D || $0 == 0x0A || $0 == 0 }) else {
            throw Refusal("header field \(number)", "it has a line break or a NUL in it")
        }
        guard let line = FieldLine(text.utf8) else {
            throw Refusal("header field \(number)", "it is not of the form \"Name: value\"")
        }
        if OriginRequest.ownFields.contains(where: { line.isNamed($0) }) {
            throw Refusal("header field \(line.name)", "Weir writes it itself")
        }
        if conditions.contains(where: { line.isNamed($0) }) {
            throw Refusal("header field \(line.name)", "the origin would not send what it names")
        }
        return line
    }

    /// With these an origin answers without a body (RFC 9110 §13.1).
    private static var conditions: [FieldName] {
        [.ifNoneMatch, .ifModifiedSince, FieldName("If-Match"), FieldName("If-Unmodified-Since")]
    }

    /// Why a field cannot be sent.
    public struct Refusal: Error, Equatable, CustomStringConvertible {
        /// A sentence for a user, without the field's value.
        public let description: String

        init(_ field: String, _ reason: String) {
            description = field.isEmpty ? "the header fields are refused: \(reason)" : "\(field) is refused: \(reason)"
        }
    }
}

extension UserFields: CustomStringConvertible {
    /// The names alone, so that interpolating the fields leaks nothing.
    public var description: String { lines.map(\.name).joined(separator: ", ") }
}
