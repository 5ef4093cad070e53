/// The one byte range of a Range field (RFC 9110 §14.1.2), before the representation's size is known.
public enum ByteRange: Sendable, Hashable {
    /// `bytes=a-b`: both ends included.
    case bounded(first: Int64, last: Int64)
    /// `bytes=a-`.
    case from(Int64)
    /// `bytes=-n`: the last n bytes.
    case suffix(Int64)

    /// Nil for what a server may ignore, and Weir does: other units, malformed values, and more than one range.
    ///
    /// The answer is the whole representation then. Numbers too large to count are taken as the largest that can be.
    public init?(_ value: some Collection<UInt8>) {
        guard let equals = value.firstIndex(of: UInt8(ascii: "=")),
            ByteClass.equals(value[..<equals], ignoringCase: "bytes")
        else { return nil }
        // A list may have empty elements (RFC 9110 §5.6.1.2); just one may have something in it.
        let elements = value[equals...].dropFirst().split(separator: ByteClass.comma)
            .map { $0.drop { ByteClass.isBlank($0) } }.filter { !$0.isEmpty }
        guard elements.count == 1, let element = elements.first else { return nil }
        self.init(specifier: [UInt8](element))
    }

    /// `a-b`, `a-` or `-n`, with blanks at the end only.
    private init?(specifier: [UInt8]) {
        var bytes = specifier[...]
        while let last = bytes.last, ByteClass.isBlank(last) { bytes.removeLast() }
        guard let dash = bytes.firstIndex(of: UInt8(ascii: "-")) else { return nil }
        let first = bytes[..<dash]
        let last = bytes[(dash + 1)...]
        switch (first.isEmpty, last.isEmpty) {
        case (true, true): return nil
        case (true, false):
            guard let count = Self.saturating(last) else { return nil }
            self = .suffix(count)
        case (false, true):
            guard let start = Self.saturating(first) else { return nil }
            self = .from(start)
        case (false, false):
            guard let start = Self.saturating(first), let end = Self.saturating(last), start <= end else { return nil }
            self = .bounded(first: start, last: end)
        }
    }

    /// The bytes that are meant, in a representation of `size` bytes; nil when there are none: then the answer is 416.
    public func resolved(size: Int64) -> Range<Int64>? {
        switch self {
        case .bounded(let first, let last): first < size ? first..<(min(last, size - 1) + 1) : nil
        case .from(let first): first < size ? first..<size : nil
        case .suffix(let count): count > 0 && size > 0 ? max(0, size - count)..<size : nil
        }
    }

    private static func saturating(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard digits.allSatisfy({ ByteClass.isDigit($0) }) else { return nil }
        let significant = digits.drop { $0 == UInt8(ascii: "0") }
        if significant.isEmpty { return 0 }
        return ByteClass.number(significant) ?? .max
    }
}
