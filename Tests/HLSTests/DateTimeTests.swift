import Testing

@testable import HLS

@Suite("A date and time")
struct DateTimeTests {
    @Test(
        "is parsed in the forms that playlists use",
        arguments: [
            ("1970-01-01T00:00:00Z", 0, "1970-01-01T00:00:00.000Z"),
            ("2010-02-19T14:54:23.031+08:00", 1_266_562_463_031, "2010-02-19T14:54:23.031+08:00"),
            ("2010-02-19T14:54:23,031999+0800", 1_266_562_463_031, "2010-02-19T14:54:23.031+08:00"),
            ("2024-02-29 23:59:60Z", 1_709_251_200_000, "2024-03-01T00:00:00.000Z"),
            ("2024-02-29t00:00:00.5z", 1_709_164_800_500, "2024-02-29T00:00:00.500Z"),
            ("1969-12-31T23:59:59.999-01", 3_599_999, "1969-12-31T23:59:59.999-01:00"),
            ("2026-03-01T12:00:00", 1_772_366_400_000, "2026-03-01T12:00:00.000Z"),
            ("0000-03-01T00:00:00Z", -62_162_035_200_000, "0000-03-01T00:00:00.000Z"),
            ("9999-12-30T23:59:59.999Z", 253_402_214_399_999, "9999-12-30T23:59:59.999Z"),
        ])
    func read(_ text: String, _ milliseconds: Int, _ written: String) throws {
        let date = try #require(DateTime(text))
        #expect(date.milliseconds == milliseconds)
        #expect(date.description == written)
        #expect(DateTime(written) == date)
    }

    @Test(
        "is rejected in any other form",
        arguments: [
            "", "2026", "2026-03-01", "2026-03-01T", "2026-03-01T12:00Z", "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z", "2026-01-32T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z",
            "2026-01-01T00:00:61Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00ZZ", "2026-01-01T00:00:00+1",
            "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+01:60", "26-01-01T00:00:00Z", "-026-01-01T00:00:00Z",
            "2026-01-01X00:00:00Z", "٢026-01-01T00:00:00Z",
        ])
    func refused(_ text: String) {
        #expect(DateTime(text) == nil)
    }

    @Test("can be moved across days, months and years, in its own zone")
    func adding() throws {
        let date = try #require(DateTime("2023-12-31T23:59:58.600+05:30"))
        #expect(date.adding(seconds: 1.4)?.description == "2024-01-01T00:00:00.000+05:30")
        #expect(date.adding(seconds: 60 * 86_400)?.description == "2024-02-29T23:59:58.600+05:30")
        #expect(date.adding(seconds: -0.6004)?.description == "2023-12-31T23:59:58.000+05:30")
        #expect(date.adding(seconds: 1e15) == nil && date.adding(seconds: 9e11) == nil)
    }

    @Test("has the correct calendar date for each day of four centuries")
    func calendar() {
        for days in stride(from: -146_097, to: 146_097, by: 1) {
            let (year, month, day) = DateTime.civil(days)
            #expect(DateTime.days(year: year, month: month, day: day) == days)
        }
    }
}
