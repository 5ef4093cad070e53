import Foundation
import Orders
import SafeText
import Testing

@Suite struct MediaRangeTests {
    @Test(
        arguments: [
            ("10:00-20:00", 600, 1200), ("10:00-", 600, nil), ("-20:00", 0, 1200), ("90-120", 90, 120),
            ("1:02:03-1:10:00", 3723, 4200), ("90.5-91.25", 90.5, 91.25), ("0-1", 0, 1), ("90:00-100:00", 5400, 6000),
            ("0:00.5-0:01", 0.5, 1),
        ] as [(String, Seconds, Seconds?)])
    func aRangeFromText(text: String, start: Seconds, end: Seconds?) throws {
        let range = try #require(MediaRange(text))
        #expect(range.start == start && range.end == end)
        #expect(MediaRange(range.description) == range)
        #expect(try JSONDecoder().decode(MediaRange.self, from: JSONEncoder().encode(range)) == range)
    }

    @Test(arguments: [
        "", "-", "10", "20-10", "10-10", "1-2-3", "a-b", "1:60-2:00", "1:2:3:4-", "1:-2", ":5-9", "1.-2", "1e3-2e3",
        "+1-2",
        "1:1.5:0-9:0:0", "10:75-", "1:60:00-", "99999999999-", "٣-٤",
    ])
    func textWithoutARangeIsNil(text: String) { #expect(MediaRange(text) == nil) }
}
