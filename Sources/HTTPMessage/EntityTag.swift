/// An entity tag (RFC 9110 §8.8.3): identifies one state of a representation.
public struct EntityTag: Sendable, Hashable, CustomStringConvertible {
    /// Weak tags name equivalent states, not equal bytes: a range must not be resumed by one.
    public let isWeak: Bool
    /// The characters between the quotes.
    public let opaque: String

    /// Nil when a character is not allowed between the quotes (`etagc`).
    public init?(_ opaque: String, isWeak: Bool = false) {
        guard opaque.utf8.allSatisfy(Self.isAllowed) else { return nil }
        self.opaque = opaque
        self.isWeak = isWeak
    }

    /// Parses a field's value: `"…"` or `W/"…"`; nil for anything else.
    public init?(fieldValue: some Collection<UInt8>) {
        let found = fieldValue.withContiguousBytes { value -> EntityTag? in
            var rest = value[...]
            guard let tag = Self.removeFirst(from: &rest), rest.isEmpty else { return nil }
            return tag
        }
        guard let found else { return nil }
        self = found
    }

    /// Of characters that are allowed.
    private init(allowed opaque: String, isWeak: Bool) {
        self.opaque = opaque
        self.isWeak = isWeak
    }

    /// The field's value, quotes included.
    public var description: String {
        guard isWeak else { return "\"\(opaque)\"" }
        return "W/\"\(opaque)\""
    }

    func append(to bytes: inout [UInt8]) {
        if isWeak {
            bytes.append(contentsOf: "W/".utf8)
        }
        bytes.append(ByteClass.quote)
        bytes.append(contentsOf: opaque.utf8)
        bytes.append(ByteClass.quote)
    }

    /// Strong comparison (RFC 9110 §8.8.3.2): the same bytes. If-Range needs it.
    public func matchesStrongly(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && opaque == other.opaque
    }

    /// Weak comparison: equivalent states. If-None-Match needs it.
    public func matchesWeakly(_ other: EntityTag) -> Bool { opaque == other.opaque }

    /// True if an If-None-Match value contains this tag or is `*`. A malformed list is read up to the fault.
    public func isNamed(inList value: some Collection<UInt8>) -> Bool {
        value.withContiguousBytes { isNamed(in: $0[...]) }
    }

    private func isNamed(in list: Slice<UnsafeRawBufferPointer>) -> Bool {
        var rest = list
        if rest.elementsEqual("*".utf8) {
            return true
        }
        while true {
            rest = rest.drop { ByteClass.isBlank($0) || $0 == ByteClass.comma }
            guard let tag = Self.removeFirst(from: &rest) else { return false }
            if matchesWeakly(tag) {
                return true
            }
            rest = rest.drop { ByteClass.isBlank($0) }
            guard rest.isEmpty || rest.first == ByteClass.comma else { return false }
        }
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte != ByteClass.quote && byte != 0x7F
    }

    /// Parses one tag at the front and removes it.
    private static func removeFirst(from bytes: inout Slice<UnsafeRawBufferPointer>) -> EntityTag? {
        let isWeak = bytes.starts(with: "W/\"".utf8)
        var body = bytes
        if isWeak {
            body = body.dropFirst("W/".utf8.count)
        }
        guard body.first == ByteClass.quote, let end = body.dropFirst().firstIndex(of: ByteClass.quote) else {
            return nil
        }
        let opaque = body.dropFirst()[..<end]
        guard opaque.allSatisfy(isAllowed) else { return nil }
        bytes = bytes[(end + 1)...]
        return EntityTag(allowed: String(decoding: opaque, as: UTF8.self), isWeak: isWeak)
    }
}
