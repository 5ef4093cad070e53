import TestSupport
import Testing

@testable import AccessLog

@Suite struct LogTextTests {
    private func event() -> AccessEvent {
        var event = AccessEvent(
            session: "aabcde", guid: "2845C021-B768-4ACC-A151-FB1F94391B56", number: 0, asset: "film", client: nil,
            began: 1_643_631_284.0444)
        event.uri = "https://h/1920.m3u8"
        event.serverAddress = "17.253.73.204"
        event.requests = 5
        event.downloaded = 60.06
        event.watched = 8.9654
        event.bytes.origin = 47_275_420
        event.observed.add(bytes: 4_000_000, seconds: 1)
        event.observed.add(bytes: 6_000_000, seconds: 1)
        event.indicated = 6_864_535
        event.startup = 1.384
        return event
    }

    @Test func anAccessLineHasItsFieldsInOrder() throws {
        #expect(
            event().line(.w3c) == """
                2022-01-31 12:14:44.044 https://h/1920.m3u8 2845C021-B768-4ACC-A151-FB1F94391B56 17.253.73.204 0 5 60.060 \
                0.000 8.965 47275420 40000000.000 6864535 0 - 1.384 0 - 32000000.000 48000000.000 8000000.000 VOD - -
                """)
        #expect(event().line(.apple).hasPrefix("2022/01/31 12:14:44.044 https://h/1920.m3u8 "))
        #expect(event().line(.apple).dropFirst(10) == event().line(.w3c).dropFirst(10))
        let lines = AccessEvent.header(.w3c, software: "Weir/0.1.0", at: 1_643_631_293) + [event().line(.w3c)]
        let log = try ExtendedLog(lines)
        #expect(log.fields.count == 24)
        #expect(log.entries[0]["c-observed-bitrate-sd"] == "8000000.000")
    }

    @Test func unknownValuesAreDashes() throws {
        let bare = AccessEvent(session: "a", guid: "G", number: 0, asset: "film", client: nil, began: 0)
        #expect(
            bare.line(.w3c)
                == "1970-01-01 00:00:00.000 - G - - 0 0.000 0.000 0.000 0 - - 0 - - 0 - - - - VOD - -")
        _ = try ExtendedLog(AccessEvent.header(.w3c, software: "Weir", at: 0) + [bare.line(.w3c)])
    }

    @Test func anErrorLineQuotesFreeText() throws {
        var event = ErrorEvent(
            time: 951_782_400, uri: "http://h/a b\"\n.ts", status: 502, domain: .origin,
            comment: "said \"no\"\r\n#Fields: x\u{1}")
        event.guid = "G"
        let line = event.line(.w3c)
        #expect(
            line == """
                2000-02-29 00:00:00.000 http://h/a%20b%22%0A.ts G - 502 "weir.origin" "said ""no""\\u{D}\\u{A}#Fields: x\\u{1}"
                """)
        let log = try ExtendedLog(ErrorEvent.header(.w3c, software: "Weir", at: 0) + [line])
        #expect(log.entries[0]["comment"] == "said \"no\"\\u{D}\\u{A}#Fields: x\\u{1}")
        #expect(log.fields == ["date", "time", "uri", "cs-guid", "s-ip", "status", "domain", "comment"])
    }

    @Test(
        arguments: [
            (0, "1970-01-01", "00:00:00.000"), (86_399.9996, "1970-01-01", "23:59:59.999"),
            (68_169_599.5, "1972-02-28", "23:59:59.500"), (68_169_600, "1972-02-29", "00:00:00.000"),
            (951_868_800, "2000-03-01", "00:00:00.000"), (4_107_542_400, "2100-03-01", "00:00:00.000"),
            (-5, "1970-01-01", "00:00:00.000"), (1e300, "9999-12-31", "23:59:59.999"),
            (.nan, "1970-01-01", "00:00:00.000"),
        ] as [(Double, String, String)])
    func datesMatchTheCalendar(seconds: Double, day: String, time: String) {
        let date = LogDate(seconds)
        #expect((date.day, date.time) == (day, time))
    }

    @Test func numbersAreWrittenInFull() {
        #expect(
            [0, 0.0004, 0.0005, 1.9996, 12_345_678.9].map(LogLine.fixed)
                == ["0.000", "0.000", "0.001", "2.000", "12345678.900"])
        #expect([-1, .nan, .infinity].map(LogLine.fixed) == ["0.000", "0.000", "0.000"])
    }
}

@Suite struct KPIsTests {
    private func event(
        _ guid: String, _ number: Int, watched: Double, stalls: Int = 0, stallTime: Double = 0, indicated: Int? = nil,
        uri: String? = nil, startup: Double? = nil
    ) -> AccessEvent {
        var event = AccessEvent(session: guid, guid: guid, number: number, asset: "film", client: nil, began: 0)
        event.watched = watched
        event.stalls = stalls
        event.stallTime = stallTime
        event.indicated = indicated
        event.uri = uri
        event.startup = startup
        return event
    }

    @Test func eachIndicatorFollowsItsFormula() {
        var first = event("a", 0, watched: 30, stalls: 1, stallTime: 5, indicated: 1_000_000, uri: "low", startup: 2)
        first.bytes.origin = 300
        first.observed.add(bytes: 100, seconds: 1)
        var second = event("a", 1, watched: 10, stalls: 2, stallTime: 5, indicated: 5_000_000, uri: "high", startup: 9)
        second.bytes.store = 100
        second.observed.add(bytes: 300, seconds: 1)
        var third = event("b", 0, watched: 0, uri: "high", startup: 4)
        third.bytes.joined = 100
        third.observed.add(bytes: 200, seconds: 2)
        let kpis = KPIs([second, third, first])
        #expect((kpis.sessions, kpis.watched, kpis.startup) == (2, 40, 3))
        #expect((kpis.stalls, kpis.stallTime, kpis.stallRatio) == (3, 10, 0.2))
        #expect((kpis.switches, kpis.indicated) == (1, 2_000_000))
        #expect((kpis.observed, kpis.observedMinimum, kpis.observedMaximum) == (1200, 800, 2400))
        let deviation = ((0.0 * 0 + 1066.666_667 * 1066.666_667 + 2 * 533.333_333 * 533.333_333) / 3).squareRoot()
        #expect(abs((kpis.observedDeviation ?? 0) - deviation) < 0.01)
        #expect((kpis.bytes, kpis.storeShare) == (500, 0.2))
    }

    @Test func divisionsByZeroAreAbsent() {
        let kpis = KPIs([])
        #expect(kpis.sessions == 0 && kpis.watched == 0)
        #expect(kpis.startup == nil && kpis.stallRatio == nil && kpis.indicated == nil && kpis.storeShare == nil)
        #expect(kpis.observed == nil && kpis.observedDeviation == nil && kpis.observedMinimum == nil)
    }

    @Test func combinedRatesCoverAllSamples() {
        var all = ObservedRate()
        var left = ObservedRate()
        var right = ObservedRate()
        for step in 1...20 {
            all.add(bytes: Int64(step * step) * 1000, seconds: 0.5)
            if step % 3 == 0 {
                left.add(bytes: Int64(step * step) * 1000, seconds: 0.5)
            } else {
                right.add(bytes: Int64(step * step) * 1000, seconds: 0.5)
            }
        }
        left.add(right)
        left.add(ObservedRate())
        #expect((left.count, left.minimum, left.maximum) == (all.count, all.minimum, all.maximum))
        #expect(abs((left.deviation ?? 0) - (all.deviation ?? 1)) < 0.001)
        #expect(left.bitsPerSecond == all.bitsPerSecond)
        all.add(bytes: 0, seconds: 1)
        all.add(bytes: 1, seconds: 0)
        #expect(all.count == 20)
    }
}
