/// A single byte range of a Range field (RFC 9110 §14.1.2), before the representation's size is known.
public enum ByteRange: Sendable, Hashable {
    case bounded(first: Int64, last: Int64)
    case from(Int64)
    case suffix(Int64)

    /// Parses a field value; nil for other units, malformed values and more than one range.
    ///
    /// RFC 9110 §14.2 lets a server ignore these and send the whole. Numbers above `Int64.max` are clamped.
    public init?(_ value: some BidirectionalCollection<UInt8>) {
        guard let equals = value.firstIndex(of: UInt8(ascii: "=")),
            ByteClass.equals(value[..<equals], ignoringCase: "bytes")
        else { return nil }
        var specifier: ByteRange?
        // A list may contain empty elements (RFC 9110 §5.6.1.2); only one may be non-empty.
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

    /// The selected bytes of a representation of `size` bytes; nil when the range is unsatisfiable (416).
    public func resolved(size: Int64) -> Range<Int64>? {
        switch self {
        case .bounded(let first, let last):
            guard first < size else { return nil }
            return first..<(min(last, size - 1) + 1)
        case .from(let first):
            guard first < size else { return nil }
            return first..<size
        case .suffix(let count):
            guard count > 0, size > 0 else { return nil }
            return max(0, size - count)..<size
        }
    }

    /// Parses digits and clamps to `Int64.max`; nil for any other character.
    private static func saturating(_ digits: some Collection<UInt8>) -> Int64? {
        var value: Int64 = 0
        for byte in digits {
            guard ByteClass.isDigit(byte) else { return nil }
            let (product, hasOverflowed) = value.multipliedReportingOverflow(by: 10)
            let (sum, hasCarried) = product.addingReportingOverflow(Int64(byte - 0x30))
            if hasOverflowed || hasCarried {
                value = .max
            } else {
                value = sum
            }
        }
        return value
    }
}
