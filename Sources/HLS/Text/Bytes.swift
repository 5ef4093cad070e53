/// Readers of ASCII syntax in UTF-8 bytes. Ranges must be within the array; no content traps.
extension [UInt8] {
    func trimmed(_ range: Range<Int>) -> Range<Int> {
        var lower = range.lowerBound
        var upper = range.upperBound
        while lower < upper, self[lower].isBlank {
            lower += 1
        }
        while lower < upper, self[upper - 1].isBlank {
            upper -= 1
        }
        return lower..<upper
    }

    /// True if the range equals `name`, byte for byte.
    func matches(_ range: Range<Int>, _ name: String) -> Bool {
        let utf8 = name.utf8
        guard utf8.count == range.count else { return false }
        let bytes = self[range]
        return utf8.withContiguousStorageIfAvailable { $0.elementsEqual(bytes) } ?? utf8.elementsEqual(bytes)
    }

    func areEqual(_ first: Range<Int>, _ second: Range<Int>) -> Bool {
        guard first.count == second.count else { return false }
        for offset in 0..<first.count where self[first.lowerBound + offset] != self[second.lowerBound + offset] {
            return false
        }
        return true
    }

    func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
        var position = range.lowerBound
        while position < range.upperBound {
            if self[position] == byte {
                return position
            }
            position += 1
        }
        return nil
    }

    func text(_ range: Range<Int>) -> String { String(decoding: self[range], as: UTF8.self) }

    /// Parses a decimal-integer (RFC 8216 §4.2): digits only; nil for anything else and beyond `Int.max`.
    func decimalInteger(_ range: Range<Int>) -> Int? {
        guard !range.isEmpty else { return nil }
        var value = 0
        for position in range {
            guard self[position].isDigit else { return nil }
            let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tens.addingReportingOverflow(Int(self[position] - 0x30))
            if overflow || carry {
                return nil
            }
            value = sum
        }
        return value
    }

    /// Parses a decimal-floating-point (RFC 8216 §4.2), correctly rounded: digits with at most one point, no sign, no exponent.
    func decimalFloat(_ range: Range<Int>) -> Double? {
        var mantissa = UInt64(0)
        var digits = 0
        var fraction = 0
        var seenPoint = false

        for position in range {
            let byte = self[position]
            if byte == UInt8(ascii: "."), !seenPoint {
                seenPoint = true
                continue
            }
            guard byte.isDigit else { return nil }
            digits += 1
            if seenPoint {
                fraction += 1
            }
            mantissa = mantissa &* 10 &+ UInt64(byte - 0x30)
        }
        guard digits > 0 else { return nil }

        // Up to 15 digits the mantissa and the power of ten are exact, so one division rounds correctly.
        if digits <= 15 {
            return Double(mantissa) / Self.powersOfTen[fraction]
        }

        // The standard library reads no number that begins or ends with its point.
        var padded = "0" + text(range)
        if seenPoint {
            padded += "0"
        }
        guard let value = Double(padded), value.isFinite else { return nil }
        return value
    }

    private static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ]
}

extension UInt8 {
    /// True for a space or a tab. Both occur around values in practice, although RFC 8216 §4.2 forbids it.
    var isBlank: Bool { self == 0x20 || self == 0x09 }
    var isDigit: Bool { self &- 0x30 < 10 }
    /// The value of a hexadecimal digit in either case; nil for other bytes.
    var hexadecimalValue: UInt8? {
        if isDigit {
            return self - 0x30
        }
        let letter = (self | 0x20) &- 0x61
        guard letter < 6 else { return nil }
        return letter + 10
    }
}

/// A byte range in eight bytes of memory. Sufficient because texts are below 4 GB (`PlaylistLimits`).
struct TextSpan: Hashable, Sendable {
    private let start, end: UInt32

    init(_ range: Range<Int>) {
        start = UInt32(range.lowerBound)
        end = UInt32(range.upperBound)
    }

    var range: Range<Int> { Int(start)..<Int(end) }
}

extension [UInt8] {
    /// The bytes with percent-encoded ones replaced (RFC 3986 §2.1). Anything else after a `%` stays.
    var percentDecoded: [UInt8] {
        var decoded: [UInt8] = []
        var position = 0
        while position < count {
            if self[position] == UInt8(ascii: "%"), position + 2 < count,
                let high = self[position + 1].hexadecimalValue, let low = self[position + 2].hexadecimalValue
            {
                decoded.append(high << 4 | low)
                position += 3
            } else {
                decoded.append(self[position])
                position += 1
            }
        }
        return decoded
    }
}

/// Base64 (RFC 4648 §4 and §5).
enum Base64 {
    /// Decodes a text with or without padding, of either alphabet; nil if it has other characters.
    static func decoded(_ text: [UInt8]) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var count: Int = 0
        for digit in text {
            if digit == UInt8(ascii: "=") {
                break
            }
            guard let value = value(of: digit) else { return nil }
            bits = bits << 6 | UInt32(value)
            count = count + 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case 0x41...0x5A: digit - 0x41
        case 0x61...0x7A: digit - 0x61 + 26
        case 0x30...0x39: digit - 0x30 + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
