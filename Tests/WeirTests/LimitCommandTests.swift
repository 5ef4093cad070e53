import Testing

@testable import weir

/// The argument of `weir limit`: text, rate; nil for a refusal.
@Suite struct LimitCommandTests {
    static let rates: [(String, LimitCommand.Rate?)] = [
        ("off", .off), ("OFF", .off), ("2M", .bytes(2 << 20)), ("2MB", .bytes(2 << 20)), ("500k", .bytes(500 << 10)),
        ("1.5M", .bytes(3 << 19)), ("2", nil), ("", nil), ("M", nil), ("0M", nil), ("-1M", nil), ("2X", nil),
        ("0.5K", nil), ("unlimited", nil),
    ]

    @Test(arguments: rates)
    func aRateIsInPowersOf1024(_ text: String, _ rate: LimitCommand.Rate?) {
        #expect((try? LimitCommand.rate(text)) == rate)
    }
}
