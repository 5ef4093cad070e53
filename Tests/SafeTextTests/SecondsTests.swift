import Foundation
import SafeText
import Testing

@Suite struct SecondsTests {
    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("1e-300", 1e-300), ("-1e-300", 0), ("1e300", 1e9), ("-1e300", 0),
            ("9223372036854775808", 1e9), ("-9223372036854775808", 0), ("2.5", 2.5), ("1000000000", 1e9),
        ] as [(String, Double)])
    func decodesAnyNumber(text: String, value: Double) throws {
        let seconds = try JSONDecoder().decode(Seconds.self, from: Data(text.utf8))
        #expect(seconds.value == value && seconds.value.sign == .plus)
        #expect(seconds.milliseconds >= 0)
    }

    @Test(arguments: [.nan, .infinity, -.infinity, -0.0, 0x1p63, -.greatestFiniteMagnitude] as [Double])
    func isAlwaysANumber(number: Double) {
        let seconds = Seconds(clamping: number)
        #expect((0...1e9).contains(seconds.value) && seconds.value.sign == .plus)
    }
}
