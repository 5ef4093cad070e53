import Foundation
import Orders
import Testing

@Suite struct DownloadRulesTests {
    @Test(
        arguments: [
            ("22:00-06:00", "22:00-06:00"), ("9:05-10:00", "09:05-10:00"), ("22:00-00:00", "22:00-24:00"),
            ("00:00-24:00", "00:00-24:00"), ("12:00-12:00", nil), ("24:00-06:00", nil), ("22:00", nil),
            ("22-06", nil), ("22:60-06:00", nil), ("25:00-06:00", nil), ("-1:00-06:00", nil), ("", nil),
            ("22:0-06:00", nil), ("22:00-06:00-07:00", nil), ("aa:00-06:00", nil),
        ] as [(String, String?)])
    func hoursAreRead(_ text: String, _ read: String?) { #expect(DayHours(text)?.description == read) }

    @Test(arguments: [
        ("22:00-06:00", 1320, true), ("22:00-06:00", 1319, false), ("22:00-06:00", 0, true),
        ("22:00-06:00", 359, true), ("22:00-06:00", 360, false), ("12:00-13:00", 720, true),
        ("12:00-13:00", 780, false), ("22:00-24:00", 1439, true), ("22:00-24:00", 0, false),
    ])
    func hoursMayPassMidnight(_ text: String, _ minute: Int, _ isWithin: Bool) throws {
        #expect(try #require(DayHours(text)).contains(minute) == isWithin)
    }

    @Test(arguments: [
        ("22:00-06:00", 1319, 1), ("22:00-06:00", 1320, 480), ("22:00-06:00", 359, 1), ("22:00-24:00", 1439, 1),
        ("12:00-13:00", 779, 1), ("12:00-13:00", 780, 1380),
    ])
    func theNextChangeIsKnown(_ text: String, _ minute: Int, _ minutes: Int) throws {
        #expect(try #require(DayHours(text)).minutesToChange(from: minute) == minutes)
    }

    @Test(arguments: ["allow", "pause", "30%", "100%"])
    func batteryIsRead(_ text: String) { #expect(DownloadRules.Battery(text)?.description == text) }

    @Test(arguments: ["", "0%", "101%", "30", "never", "%"])
    func otherWordsForBatteryAreRefused(_ text: String) { #expect(DownloadRules.Battery(text) == nil) }

    @Test func aChangeReplacesSomeRules() throws {
        var rules = DownloadRules()
        rules.metered = .pause
        rules.battery = .pause
        let text = #"{"hours":["9:05-10:00"],"metered":"allow","onBattery":"30%"}"#
        let change = try JSONDecoder().decode(DownloadRules.Change.self, from: Data(text.utf8))
        let changed = rules.changed(by: change)
        #expect(changed.hours.map(\.description) == ["09:05-10:00"])
        #expect(changed.metered == .allow && changed.battery == .pauseBelow(30) && !changed.onlyIdle)
        #expect(rules.changed(by: DownloadRules.Change()) == rules)
    }

    @Test(arguments: [#"{"hours":["22-06"]}"#, #"{"onBattery":"low"}"#, #"{"metered":"never"}"#])
    func aWrongRuleIsRefused(_ text: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(DownloadRules.Change.self, from: Data(text.utf8))
        }
    }
}
