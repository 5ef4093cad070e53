internal import SafeText

/// A bit rate as text: `2M`, `1.5M`, `800k`, or a number of bits per second.
package enum BitRateText {
    /// No variant has fewer bits per second; a smaller number is a height, or a mistake.
    package static let least = 10_000

    /// The bits per second; nil for other text.
    package static func bits(_ text: some StringProtocol) -> Int? {
        let scale: Double =
            switch text.last {
            case "M": 1_000_000
            case "k": 1000
            default: 1
            }
        var digits = text[...]
        if scale != 1 {
            digits = text.dropLast()
        }
        guard let number = Ratio(decimal: digits) else { return nil }
        let bits = number.value * scale
        guard bits > 0, bits < 1e12 else { return nil }
        return Int(bits.rounded())
    }
}
