import FoundationEssentials
import Testing

@testable import Recordings

@Suite struct RecordingNameTests {
    /// Berlin, with summer time until 2026-10-25 03:00.
    private static let berlin = TimeZone(identifier: "Europe/Berlin")!

    struct Case: Sendable {
        /// In seconds since 1970.
        let begin: Int64
        var channel = "news"
        var taken: Set<String> = []
        let name: String
    }

    static let cases = [
        // 2026-11-28 19:15 UTC.
        Case(begin: 1_795_893_300, name: "news-2026-11-28-2015"),
        Case(begin: 1_795_893_300, taken: ["news-2026-11-28-2015"], name: "news-2026-11-28-2015-2"),
        // The hour from two to three, which the clock shows twice.
        Case(begin: 1_792_888_200, name: "news-2026-10-25-0230"),
        Case(begin: 1_792_891_800, taken: ["news-2026-10-25-0230"], name: "news-2026-10-25-0230-2"),
        // A name has 40 characters at most, with room for a number.
        Case(
            begin: 1_795_893_300, channel: "das-erste-programm-in-hoher-aufloesung",
            name: "das-erste-programm-i-2026-11-28-2015"),
    ]

    @Test(arguments: cases) func itHasTheLocalTime(_ example: Case) {
        let name = RecordingName(begin: example.begin, in: Self.berlin)
        #expect(name.name(ofChannel: example.channel) { example.taken.contains($0) } == example.name)
    }

    @Test func theTitleHasTheTimeInWords() {
        let name = RecordingName(begin: 1_795_893_300, in: Self.berlin)
        #expect(name.title(ofChannel: "The News") == "The News 2026-11-28 20:15")
    }
}
