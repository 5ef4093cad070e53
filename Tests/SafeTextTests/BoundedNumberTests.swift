import Foundation
import SafeText
import Testing

/// The types of numbers from outside: `Seconds`, `Ratio` and `Moment`.
@Suite struct BoundedNumberTests {
    private func number<Number: BoundedNumber>(of text: String, as type: Number.Type) -> Double? {
        (try? JSONDecoder().decode(type, from: Data(text.utf8)))?.value
    }

    /// Nil for what is refused, infinity for the largest of the type.
    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("1e-300", 1e-300), ("-1e-300", nil), ("1e300", .infinity), ("-1e300", nil),
            ("9223372036854775808", .infinity), ("-9223372036854775808", nil), ("2.5", 2.5),
            ("1000000000", 1e9), ("true", nil), ("\"2\"", nil), ("null", nil),
        ] as [(String, Double?)])
    func jsonIsNeverNegativeNorTooLarge(text: String, value: Double?) {
        #expect(number(of: text, as: Seconds.self) == value.map { min($0, 1e9) })
        #expect(number(of: text, as: Ratio.self) == value.map { min($0, 1e12) })
        #expect(number(of: text, as: Moment.self) == value.map { min($0, 253_402_300_799) })
        #expect(number(of: text, as: Seconds.self)?.sign != .minus)
    }

    @Test(arguments: [.nan, .infinity, -.infinity, -0.0, 0x1p63, -.greatestFiniteMagnitude] as [Double])
    func isAlwaysANumber(number: Double) {
        let seconds = Seconds(clamping: number)
        #expect((0...1e9).contains(seconds.value) && seconds.value.sign == .plus && seconds.milliseconds >= 0)
        #expect((0...1e12).contains(Ratio(clamping: number).value))
        #expect((Seconds(number) == nil) == !(number >= 0))
    }

    @Test(
        arguments: [
            ("12.5", 12.5), ("0", 0), ("", nil), (".", nil), ("1e3", nil), ("-1", nil), ("+1", nil), ("nan", nil),
            ("inf", nil), ("0x1", nil), ("1.2.3", nil), (String(repeating: "9", count: 400), 1e9),
        ] as [(String, Double?)])
    func decimalTextHasDigitsAndAPoint(text: String, value: Double?) {
        #expect(Seconds(decimal: text)?.value == value)
    }
}
