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
    public init?(_ value: some BidirectionalCollection<UInt8>) {
        guard let equals = value.firstIndex(of: UInt8(ascii: "=")),
            ByteClass.equals(value[..<equals], ignoringCase: "bytes")
        else { return nil }
        var specifier: ByteRange?
        // A list may have empty elements (RFC 9110 §5.6.1.2); just one may have something in it.
        var rest = value[value.index(after: equals)...]
        while true {
            let end = rest.firstIndex(of: ByteClass.comma) ?? rest.endIndex
            let element = ByteClass.trimmed(rest[..<end])
            if !element.isEmpty {
                guard specifier == nil, let parsed = Self.specifier(element) else { return nil }
                specifier = parsed
            }
            guard end < rest.endIndex else { break }
            rest = rest[rest.index(after: end)...]
        }
        guard let specifier else { return nil }
        self = specifier
    }

    /// `a-b`, `a-` or `-n`.
    private static func specifier(_ bytes: some Collection<UInt8>) -> ByteRange? {
        guard let dash = bytes.firstIndex(of: UInt8(ascii: "-")) else { return nil }
        let first = bytes[..<dash]
        let last = bytes[bytes.index(after: dash)...]
        switch (first.isEmpty, last.isEmpty) {
        case (true, true): return nil
        case (true, false): return saturating(last).map { .suffix($0) }
        case (false, true): return saturating(first).map { .from($0) }
        case (false, false):
            guard let start = saturating(first), let end = saturating(last), start <= end else { return nil }
            return .bounded(first: start, last: end)
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

    /// Digits as a number, the largest that can be when there are too many; nil when there is anything else.
    private static func saturating(_ digits: some Collection<UInt8>) -> Int64? {
        var value: Int64 = 0
        for byte in digits {
            guard ByteClass.isDigit(byte) else { return nil }
            let (product, hasOverflowed) = value.multipliedReportingOverflow(by: 10)
            let (sum, hasCarried) = product.addingReportingOverflow(Int64(byte - 0x30))
            value = hasOverflowed || hasCarried ? .max : sum
        }
        return value
    }
}
