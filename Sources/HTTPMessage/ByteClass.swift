/// Character classes of RFC 9110 and RFC 9112 as tests on single bytes, without tables.
enum ByteClass {
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    static let space: UInt8 = 0x20
    static let quote: UInt8 = 0x22
    static let comma: UInt8 = 0x2C
    static let colon: UInt8 = 0x3A
    /// Bit n is set when the byte n (0–63) is a `tchar` of RFC 9110 §5.6.2: `!#$%&'*+-.` and digits.
    private static let tokenLow: UInt64 = 0x03FF_6CFA_0000_0000
    /// Bit n is set when the byte 64 + n is a `tchar`: letters and `^_`|~` with the backquote.
    private static let tokenHigh: UInt64 = 0x57FF_FFFF_C7FF_FFFE

    /// True if `byte` is a `tchar` (RFC 9110 §5.6.2), as in methods and field names.
    @inline(__always)
    static func isToken(_ byte: UInt8) -> Bool {
        guard byte < 0x80 else { return false }
        let set = byte < 64 ? tokenLow : tokenHigh
        return (set >> UInt64(byte & 63)) & 1 == 1
    }

    /// True for `field-vchar`, space and tab (RFC 9110 §5.5). Bytes from 0x80 are `obs-text`: opaque, but allowed.
    @inline(__always)
    static func isFieldValue(_ byte: UInt8) -> Bool { (byte >= 0x20 && byte != 0x7F) || byte == tab }

    /// True in a host with a port (RFC 3986 §3.2.2): no user name, no path, no list, no blank.
    @inline(__always)
    static func isAuthority(_ byte: UInt8) -> Bool { isToken(byte) || byte == colon || byte == 0x5B || byte == 0x5D }

    /// Space or tab: the `OWS` around field values.
    @inline(__always)
    static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }

    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    /// Maps ASCII upper case to lower case and leaves every other byte unchanged.
    @inline(__always)
    static func lowercased(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }

    /// The byte as two hexadecimal digits.
    static func hexadecimal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16)
        guard digits.utf8.count < 2 else { return digits }
        return "0" + digits
    }

    /// True if every byte may stand in a field value. Checks eight bytes at a time, since values are most of a head.
    static func isFieldValue(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        while index + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let control = (word &- 0x2020_2020_2020_2020) & ~word
            let inverse = word ^ 0x7F7F_7F7F_7F7F_7F7F
            let delete = (inverse &- 0x0101_0101_0101_0101) & ~inverse
            if (control | delete) & 0x8080_8080_8080_8080 != 0 {
                for byte in bytes[index..<index + 8] where !isFieldValue(byte) {
                    return false
                }
            }
            index += 8
        }
        return bytes[index...].allSatisfy { isFieldValue($0) }
    }

    /// The part of `range` in `bytes` without leading and trailing blanks.
    static func trimmed(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Range<Int> {
        var lower = range.lowerBound
        var upper = range.upperBound
        while lower < upper, isBlank(bytes[lower]) {
            lower += 1
        }
        while upper > lower, isBlank(bytes[upper - 1]) {
            upper -= 1
        }
        return lower..<upper
    }

    static func trimmed<Bytes: BidirectionalCollection<UInt8>>(_ bytes: Bytes) -> Bytes.SubSequence {
        let start = bytes.firstIndex { !isBlank($0) } ?? bytes.endIndex
        guard let last = bytes.lastIndex(where: { !isBlank($0) }) else { return bytes[start..<start] }
        return bytes[start...last]
    }

    /// Parses at most 18 digits; nil for anything else: RFC 9110 §8.6 allows no sign, no blank and no list here.
    static func number(_ digits: some Collection<UInt8>) -> Int64? {
        guard !digits.isEmpty, digits.count <= 18 else { return nil }
        var value: Int64 = 0
        for byte in digits {
            guard isDigit(byte) else { return nil }
            value = value * 10 + Int64(byte - 0x30)
        }
        return value
    }

    /// True if `bytes` equals `lowercase` when ASCII case is ignored. `lowercase` must contain no upper-case letter.
    static func equals(_ bytes: some Collection<UInt8>, ignoringCase lowercase: StaticString) -> Bool {
        guard bytes.count == lowercase.utf8CodeUnitCount else { return false }
        var pointer = lowercase.utf8Start
        for byte in bytes {
            guard lowercased(byte) == pointer.pointee else { return false }
            pointer += 1
        }
        return true
    }
}

extension Collection<UInt8> {
    /// Calls `body` with the bytes in contiguous memory, valid during the call. Those of arrays and their slices are not copied: each
    /// reply has several values that are parsed.
    func withContiguousBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        if let result = withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) {
            return result
        }
        return Array(self).withUnsafeBytes(body)
    }
}
