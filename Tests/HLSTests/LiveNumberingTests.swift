import Testing

@testable import HLS

/// Live playlists as origins give them after restarts, jumps and through caches: the numbers of each text in names.
@Suite struct LiveNumberingTests {
    /// A text of the origin, and the continuous numbers of its segments; nil for an old text, which is not shown.
    struct Window: Sendable {
        let numbers: Range<Int>
        var names = "s%"
        /// Date of the first segment in seconds; nil for none.
        var date: Int?
        /// Duration of each segment in seconds.
        var duration = 2
        let shown: Range<Int>?

        init(
            _ numbers: Range<Int>, names: String = "s%", date: Int? = nil, duration: Int = 2, as shown: Range<Int>?
        ) {
            self.numbers = numbers
            self.names = names
            self.date = date
            self.duration = duration
            self.shown = shown
        }

        var text: String {
            let start = date.flatMap { DateTime(milliseconds: 1_780_000_000_000 + $0 * 1000) }
            return "#EXTM3U\n#EXT-X-TARGETDURATION:\(duration)\n#EXT-X-MEDIA-SEQUENCE:\(numbers.lowerBound)\n"
                + (start.map { "#EXT-X-PROGRAM-DATE-TIME:\($0)\n" } ?? "")
                + numbers.map { number in
                    "#EXTINF:\(duration),\n\(names.split(separator: "%")[0])\(number).ts?token=\(numbers.upperBound)\n"
                }.joined()
        }
    }

    struct Scenario: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let windows: [Window]
        init(_ description: String, _ windows: Window...) { (testDescription, self.windows) = (description, windows) }
    }

    private static let epoch = 1_780_000_000_000

    static let scenarios = [
        Scenario("slides by one", Window(3..<6, as: 3..<6), Window(4..<7, as: 4..<7)),
        Scenario("jumps by several", Window(3..<6, as: 3..<6), Window(20..<23, as: 20..<23)),
        Scenario("each text has other tokens", Window(3..<6, as: 3..<6), Window(3..<6, as: 3..<6)),
        Scenario(
            "each text has other names, such as tokens: one of them counts as a restart",
            Window(3..<6, names: "a%", as: 3..<6), Window(4..<7, names: "b%", as: 6..<9),
            Window(5..<8, names: "c%", as: 7..<10), Window(5..<8, names: "c%", as: 7..<10),
            Window(6..<9, names: "d%", as: 8..<11)),
        Scenario("numbers of an epoch", Window(epoch..<epoch + 3, as: epoch..<epoch + 3)),
        Scenario(
            "a window of one segment", Window(3..<4, as: 3..<4), Window(4..<5, as: 4..<5), Window(6..<7, as: 6..<7)),
        Scenario(
            "a cache gives the last text again", Window(3..<6, as: 3..<6), Window(2..<5, as: nil),
            Window(4..<7, as: 4..<7)),
        Scenario(
            "a cache that lags gives two texts", Window(4..<7, as: 4..<7), Window(2..<5, as: nil),
            Window(3..<6, as: nil),
            Window(5..<8, as: 5..<8)),
        Scenario(
            "a dated text of a cache", Window(5..<8, date: 10, as: 5..<8), Window(2..<5, date: 4, as: nil),
            Window(3..<6, date: 6, as: nil), Window(4..<7, date: 8, as: nil)),
        Scenario(
            "the same names, restarted far behind", Window(100..<103, as: 100..<103), Window(0..<3, as: nil),
            Window(1..<4, as: 103..<106), Window(2..<5, as: 104..<107)),
        Scenario(
            "the same names, restarted within the window", Window(4..<9, as: 4..<9), Window(0..<5, as: nil),
            Window(1..<6, as: nil), Window(2..<7, as: 9..<14), Window(3..<8, as: 10..<15)),
        Scenario(
            "other names, restarted within the window", Window(3..<6, names: "a%", as: 3..<6),
            Window(1..<4, names: "b%", as: nil), Window(2..<5, names: "b%", as: 6..<9)),
        Scenario(
            "a cache's old text precedes a restart", Window(10..<14, as: 10..<14), Window(8..<12, as: nil),
            Window(0..<2, as: nil), Window(0..<3, as: 14..<17)),
        Scenario(
            "dated, restarted far behind", Window(100..<103, date: 0, as: 100..<103),
            Window(0..<3, date: 30, as: 103..<106)),
        Scenario(
            "dated, restarted with the same numbers", Window(3..<6, date: 0, as: 3..<6),
            Window(3..<6, date: 60, as: 6..<9)),
        Scenario(
            "other durations, restarted with the same numbers", Window(3..<6, as: 3..<6),
            Window(3..<6, duration: 4, as: 6..<9)),
        Scenario(
            "numbers jump to an epoch", Window(3..<6, as: 3..<6), Window(epoch..<epoch + 3, as: 6..<9),
            Window(epoch + 1..<epoch + 4, as: 7..<10)),
        Scenario(
            "numbers of an epoch restart at 0", Window(epoch..<epoch + 3, as: epoch..<epoch + 3),
            Window(0..<3, as: nil),
            Window(1..<4, as: epoch + 3..<epoch + 6)),
        Scenario(
            "two restarts", Window(10..<13, as: 10..<13), Window(0..<3, as: nil), Window(1..<4, as: 13..<16),
            Window(0..<1, as: nil), Window(0..<2, as: nil), Window(0..<3, as: 16..<19)),
        Scenario(
            "deleted segments shorten the window", Window(0..<5, as: 0..<5), Window(4..<6, as: 4..<6),
            Window(5..<7, as: 5..<7)),
        Scenario(
            "a window of one second slides faster than it is read", Window(10..<11, duration: 1, as: 10..<11),
            Window(14..<15, duration: 1, as: 14..<15), Window(14..<15, duration: 1, as: 14..<15),
            Window(19..<20, duration: 1, as: 19..<20)),
        Scenario(
            "a window shrinks to its end and grows again", Window(5..<9, as: 5..<9), Window(8..<9, as: 8..<9),
            Window(8..<12, as: 8..<12)),
        Scenario("an event grows", Window(0..<2, as: 0..<2), Window(0..<4, as: 0..<4)),
        Scenario(
            "other names, restarted with the same numbers", Window(3..<6, names: "a%", as: 3..<6),
            Window(3..<6, names: "b%", as: 6..<9), Window(4..<7, names: "b%", as: 7..<10)),
        Scenario(
            "other names, restarted a little ahead", Window(3..<6, names: "a%", as: 3..<6),
            Window(5..<8, names: "b%", as: 6..<9)),
        Scenario(
            "dated segments under other names", Window(3..<6, names: "a%", date: 0, as: 3..<6),
            Window(4..<7, names: "b%", date: 2, as: 4..<7)),
        Scenario(
            "a window jumps farther than segments can be missed", Window(3..<6, as: 3..<6),
            Window(20_000..<20_003, as: 6..<9), Window(20_001..<20_004, as: 7..<10)),
        Scenario(
            "a sequence goes back by one and goes on from there", Window(5..<8, as: 5..<8), Window(4..<7, as: nil),
            Window(5..<8, as: 5..<8), Window(6..<9, as: 6..<9)),
        Scenario(
            "windows of two seconds", Window(3..<5, duration: 1, as: 3..<5), Window(5..<7, duration: 1, as: 5..<7),
            Window(6..<8, duration: 1, as: 6..<8), Window(0..<1, duration: 1, as: nil),
            Window(0..<2, duration: 1, as: 8..<10)),
        Scenario(
            "an event restarts", Window(0..<5, as: 0..<5), Window(0..<1, as: nil), Window(0..<2, as: nil),
            Window(0..<3, as: 5..<8), Window(0..<4, as: 5..<9)),
        Scenario(
            "dated, a jump ahead", Window(3..<6, date: 0, as: 3..<6), Window(300..<303, date: 594, as: 300..<303)),
    ]

    @Test(arguments: scenarios)
    func aNumberNeverStandsForTwoSegments(_ scenario: Scenario) throws {
        var numbering = LiveNumbering()
        for window in scenario.windows {
            _ = numbering.accept(try Fixtures.media(window.text))
            let first = window.numbers.lowerBound + numbering.shift
            let shown = numbering.isOlder ? nil : first..<first + window.numbers.count
            #expect(shown == window.shown, "\(window.numbers)")
        }
    }

    @Test func aTextReplacesOneThatIsOutOfDate() throws {
        var numbering = LiveNumbering()
        _ = numbering.accept(try Fixtures.media(Window(5..<8, as: nil).text))
        numbering.replace(with: try Fixtures.media(Window(0..<3, as: nil).text))
        #expect(!numbering.isOlder && numbering.shift == 8)
        numbering.replace(with: try Fixtures.media(Window(3..<6, as: nil).text))
        #expect(!numbering.isOlder && numbering.shift == 8, "all segments have changed in the meantime")
    }

    @Test func numbersThatStoodStillWhileNobodyLookedHaveRestarted() throws {
        var numbering = LiveNumbering()
        _ = numbering.accept(try Fixtures.media(Window(5..<8, as: nil).text))
        numbering.replace(with: try Fixtures.media(Window(5..<8, as: nil).text))
        #expect(numbering.shift == 3)
        numbering.replace(with: try Fixtures.media(Window(6..<9, as: nil).text))
        #expect(numbering.shift == 5)
        numbering.replace(with: try Fixtures.media(Window(6..<12, as: nil).text))
        #expect(numbering.shift == 5, "an event has grown")
    }

    @Test func anotherURLMayHaveOtherNamesForTheSameSegments() throws {
        var numbering = LiveNumbering()
        _ = numbering.accept(try Fixtures.media(Window(3..<6, names: "a%", as: nil).text))
        _ = numbering.accept(try Fixtures.media(Window(4..<7, names: "b%", as: nil).text), isElsewhere: true)
        #expect(numbering.shift == 0 && !numbering.isOlder)
    }
}
