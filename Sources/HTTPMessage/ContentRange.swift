/// A Content-Range of bytes (RFC 9110 §14.4).
public enum ContentRange: Sendable, Hashable, CustomStringConvertible {
    /// `bytes a-b/size`, as in a 206. The range is half-open and never empty; `size` is nil for `*`.
    case satisfied(Range<Int64>, size: Int64?)
    /// `bytes */size`, as in a 416.
    case unsatisfied(size: Int64)

    /// Parses the exact grammar, with a single space; nil for anything else.
    ///
    /// Refuses a range that ends beyond its size too, because bytes placed by it would be misplaced.
    public init?(_ value: some StringProtocol) {
        let parts = Array(value.utf8).split(separator: ByteClass.space, omittingEmptySubsequences: false)
        guard parts.count == 2, ByteClass.equals(parts[0], ignoringCase: "bytes") else { return nil }
        let halves = parts[1].split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let isSizeUnknown = halves[1].elementsEqual("*".utf8)
        let size = ByteClass.number(halves[1])
        guard isSizeUnknown || size != nil else { return nil }
        if halves[0].elementsEqual("*".utf8) {
            guard let size else { return nil }
            self = .unsatisfied(size: size)
            return
        }
        let ends = halves[0].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard ends.count == 2, let first = ByteClass.number(ends[0]), let last = ByteClass.number(ends[1]),
            first <= last, last < size ?? .max
        else { return nil }
        self = .satisfied(first..<last + 1, size: size)
    }

    /// The field's value.
    public var description: String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    func append(to bytes: inout [UInt8]) {
        bytes.append(contentsOf: "bytes ".utf8)
        let total: Int64?
        switch self {
        case .satisfied(let range, let size):
            bytes.append(decimal: range.lowerBound)
            bytes.append(UInt8(ascii: "-"))
            bytes.append(decimal: range.upperBound - 1)
            total = size
        case .unsatisfied(let size):
            bytes.append(UInt8(ascii: "*"))
            total = size
        }
        bytes.append(UInt8(ascii: "/"))
        guard let total else { return bytes.append(UInt8(ascii: "*")) }
        bytes.append(decimal: total)
    }
}

/// The part that a reply states in its Content-Range, read as players read it: by the first byte. Origins state a last
/// byte that is one too large, a size of 0 or of the part, or no size.
public struct StatedPart: Sendable, Hashable {
    /// The offset of the first byte.
    public let first: Int64
    /// The offset of the last byte; nil if it is missing or before the first.
    public let last: Int64?
    /// The size of the whole; nil if it is missing or contradicts the last byte.
    public let size: Int64?

    /// Parses `bytes a-b/size`, also with `=` or `:` for the space, and without the end or the size.
    public init?(_ value: some StringProtocol) {
        let bytes = Array(value.utf8)
        let rest = bytes.dropFirst(Self.unit.utf8CodeUnitCount)
        guard ByteClass.equals(bytes.prefix(Self.unit.utf8CodeUnitCount), ignoringCase: Self.unit) else { return nil }
        let text = rest.drop { " \t=:".utf8.contains($0) }
        guard text.count < rest.count else { return nil }
        let halves = text.split(separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
        let ends = halves[0].filter { $0 != ByteClass.space }
            .split(separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2, let first = ByteClass.number(ends[0]) else { return nil }
        let last = Self.number(ends[1], atLeast: first)
        self.first = first
        self.last = last
        guard halves.count == 2 else {
            size = nil
            return
        }
        size = Self.number(halves[1], atLeast: (last ?? first) + 1)
    }

    /// The number in `digits`; nil for a smaller one than `least`, which contradicts the numbers before it.
    private static func number(_ digits: some Collection<UInt8>, atLeast least: Int64) -> Int64? {
        guard let number = ByteClass.number(digits), number >= least else { return nil }
        return number
    }

    private static let unit: StaticString = "bytes"
}
