import SafeText
import Testing

@testable import WeirAPI

/// The numbers of a simulated link, in the forms that `tools/link` accepts.
@Suite struct LinkNumberTests {
    @Test(
        arguments: [
            ("100", 100), ("100ms", 100), ("100 ms", 100), ("100  MS", 100), ("1.5s", 1500), ("1.5 s", 1500), ("0", 0),
            ("", nil), (" ", nil), ("ms", nil), (" 100ms", nil), ("-1", nil), ("1e3", nil), ("1 0", nil), ("1h", nil),
        ] as [(String, LinkDelay?)])
    func aDelayIsInMillisecondsOrSeconds(text: String, delay: LinkDelay?) { #expect(LinkNumber.delay(text) == delay) }

    @Test(
        arguments: [
            ("10", 10), ("10%", 10), ("10 %", 10), ("0%", 0), ("100%", 100), ("100.1%", nil), ("%", nil),
            ("10 % ", nil),
        ] as [(String, Ratio?)])
    func aShareIsAtMostAHundredPerCent(text: String, share: Ratio?) { #expect(LinkNumber.share(text) == share) }

    @Test(
        arguments: [
            ("780k", 780_000), ("2M", 2e6), ("2.5 Mb/s", 2.5e6), ("64000", 64000), ("64000b/s", 64000), ("1Gb/s", 1e9),
            ("0", 0), ("", nil), ("k", nil), ("1_0", nil), ("nan", nil), ("0x1", nil), ("1e3", nil), ("2MB", nil),
            ("-1", nil),
        ] as [(String, Ratio?)])
    func aRateIsInBits(text: String, bits: Ratio?) { #expect(LinkRate(text) == bits.map(LinkRate.bits)) }

    @Test(arguments: ["unlimited", "Unlimited"]) func noLimitIsAWord(text: String) {
        #expect(LinkRate(text) == .unlimited)
    }
}
