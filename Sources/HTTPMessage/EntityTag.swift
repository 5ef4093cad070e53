/// An entity tag (RFC 9110 §8.8.3): a name for one state of a representation.
public struct EntityTag: Sendable, Hashable, CustomStringConvertible {
    /// Weak tags name equivalent states, not equal bytes: no range may be resumed by one.
    public let isWeak: Bool
    /// What stands between the quotes.
    public let opaque: String

    /// Nil when a character may not stand between the quotes (`etagc`).
    public init?(_ opaque: String, isWeak: Bool = false) {
        guard opaque.utf8.allSatisfy(Self.isAllowed) else { return nil }
        self.opaque = opaque
        self.isWeak = isWeak
    }

    /// Parses a field's value: `"…"` or `W/"…"`; nil for anything else.
    public init?(fieldValue: some Collection<UInt8>) {
        var rest = [UInt8](fieldValue)[...]
        guard let tag = Self.takeFirst(of: &rest), rest.isEmpty else { return nil }
        self = tag
    }

    /// The field's value, quotes included.
    public var description: String { (isWeak ? "W/\"" : "\"") + opaque + "\"" }

    /// Appends the field's value.
    func append(to bytes: inout [UInt8]) {
        if isWeak { bytes.append(contentsOf: "W/".utf8) }
        bytes.append(ByteClass.quote)
        bytes.append(contentsOf: opaque.utf8)
        bytes.append(ByteClass.quote)
    }

    /// Strong comparison (RFC 9110 §8.8.3.2): the same bytes.
    ///
    /// What If-Range needs.
    public func matchesStrongly(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && opaque == other.opaque
    }

    /// Weak comparison: as good as the same.
    ///
    /// What If-None-Match needs.
    public func matchesWeakly(_ other: EntityTag) -> Bool {
        opaque == other.opaque
    }

    /// Whether an If-None-Match value names this tag, or is `*`.
    ///
    /// A malformed list names nothing from the fault on.
    public func isNamed(inList value: some Collection<UInt8>) -> Bool {
        var rest = [UInt8](value)[...]
        if rest.elementsEqual("*".utf8) { return true }
        while true {
            rest = rest.drop { ByteClass.isBlank($0) || $0 == ByteClass.comma }
            guard let tag = Self.takeFirst(of: &rest) else { return false }
            if matchesWeakly(tag) { return true }
            rest = rest.drop { ByteClass.isBlank($0) }
            guard rest.isEmpty || rest.first == ByteClass.comma else { return false }
        }
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte != ByteClass.quote && byte != 0x7F
    }

    /// Takes one tag off the front.
    private static func takeFirst(of bytes: inout ArraySlice<UInt8>) -> EntityTag? {
        let isWeak = bytes.starts(with: "W/\"".utf8)
        let body = bytes.dropFirst(isWeak ? 2 : 0)
        guard body.first == ByteClass.quote, let end = body.dropFirst().firstIndex(of: ByteClass.quote) else {
            return nil
        }
        let opaque = body.dropFirst()[..<end]
        guard opaque.allSatisfy(isAllowed) else { return nil }
        bytes = bytes[(end + 1)...]
        return EntityTag(String(decoding: opaque, as: UTF8.self), isWeak: isWeak)
    }
}
