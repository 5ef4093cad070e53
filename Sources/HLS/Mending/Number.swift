/// Reads numbers from texts that are not exactly numbers, as `parseFloat` and `atof` do.
enum Number {
    /// Returns the number at the beginning of a range as a decimal without sign and exponent: `10s` is 10, `.2e1` is 2.
    /// Nil without one, if it is negative, or if it is above `largest`.
    static func leading(_ bytes: [UInt8], _ range: Range<Int>, upTo largest: Double) -> String? {
        let range = bytes.trimmed(range)
        var end = range.lowerBound
        var digits = 0
        var seenPoint = false

        while end < range.upperBound, bytes[end].isDigit || bytes[end] == UInt8(ascii: ".") && !seenPoint {
            if bytes[end].isDigit {
                digits += 1
            } else {
                seenPoint = true
            }
            end += 1
        }

        guard digits > 0, let value = bytes.decimalFloat(range.lowerBound..<end) else { return nil }
        guard let exponent = exponent(in: bytes, from: end, to: range.upperBound) else {
            guard value <= largest else { return nil }
            return bytes.text(range.lowerBound..<end)
        }

        var scaled = value
        for isUp in exponent {
            if isUp {
                scaled *= 10
            } else {
                scaled /= 10
            }
        }
        guard scaled <= largest else { return nil }
        return decimal(scaled)
    }

    /// Returns one element for each power of ten: true to multiply. Nil without an exponent, or beyond 15.
    private static func exponent(in bytes: [UInt8], from start: Int, to end: Int) -> [Bool]? {
        guard start < end, bytes[start] | 0x20 == UInt8(ascii: "e") else { return nil }
        var position = start + 1
        let isNegative = position < end && bytes[position] == UInt8(ascii: "-")
        if position < end, isNegative || bytes[position] == UInt8(ascii: "+") {
            position += 1
        }
        let digits = bytes[position..<end].prefix { $0.isDigit }
        guard let power = bytes.decimalInteger(digits.startIndex..<digits.endIndex), power <= 15 else { return nil }
        return [Bool](repeating: !isNegative, count: power)
    }

    /// Writes a number with at most six decimals, without trailing zeros.
    static func decimal(_ value: Double) -> String {
        let whole = Int(value)
        var fraction = Int((value - Double(whole)) * 1e6 + 0.5)
        if fraction >= 1_000_000 {
            return "\(whole + 1)"
        }
        guard fraction > 0 else { return "\(whole)" }
        var digits = 6
        while fraction % 10 == 0 {
            fraction = fraction / 10
            digits = digits - 1
        }
        let text = String(fraction)
        return "\(whole).\(String(repeating: "0", count: digits - text.utf8.count))\(text)"
    }

    /// Returns the digits before the point.
    static func integer(_ decimal: String) -> String? {
        let digits = decimal.utf8.prefix { $0 != UInt8(ascii: ".") }
        guard !digits.isEmpty else { return nil }
        return String(Substring(digits))
    }

    static func roundedUp(_ decimal: String) -> String? {
        let bytes = Array(decimal.utf8)
        guard let value = bytes.decimalFloat(0..<bytes.count), value < 1e15 else { return nil }
        var whole = Int(value)
        if value > Double(whole) {
            whole += 1
        }
        return "\(whole)"
    }
}
