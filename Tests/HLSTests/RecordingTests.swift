import Testing

@testable import HLS

@Suite("A recording of a live playlist")
struct RecordingTests {
    /// A window of 2 s segments with these numbers, and `#` lines before some of them.
    private func window(
        _ numbers: Range<Int>, _ lines: [Int: String] = [:], header: String = "", durations: [Int: String] = [:],
        end: String = ""
    ) -> String {
        let segments = numbers.map { number in
            (lines[number].map { $0 + "\n" } ?? "")
                + "#EXTINF:\(durations[number] ?? "2.000"),\n\(number).ts?token=\(numbers.lowerBound)\n"
        }
        return "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:\(numbers.lowerBound)\n" + header
            + segments.joined() + end
    }

    private func date(_ second: Int) -> String {
        "#EXT-X-PROGRAM-DATE-TIME:" + (DateTime(milliseconds: 1_780_000_000_000 + second * 1000)?.description ?? "")
    }

    /// Returns the numbers of a window's new entries; negative for missed segments.
    private func numbers(_ numbering: inout LiveNumbering, _ text: String) throws -> [Int] {
        let window = try Fixtures.media(text)
        return numbering.accept(window).flatMap { entry -> [Int] in
            switch entry {
            case .segment(_, let number, _): [number]
            case .missed(let missed): missed.numbers.map { -$0 }
            }
        }
    }

    @Test("adds the new segments of each window, and nothing of an older text or a delta update")
    func windows() throws {
        var numbering = LiveNumbering(isRecorded: true)
        #expect(try numbers(&numbering, window(10..<14)) == [10, 11, 12, 13])
        #expect(try numbers(&numbering, window(10..<14)) == [])
        #expect(try numbers(&numbering, window(12..<16)) == [14, 15])
        #expect(try numbers(&numbering, window(11..<15)) == [])
        #expect(try numbers(&numbering, window(12..<12)) == [])
        let delta = "#EXT-X-SKIP:SKIPPED-SEGMENTS=3\n"
        #expect(try numbers(&numbering, window(13..<15, header: delta)) == [])
        #expect(try numbers(&numbering, window(16..<18)) == [16, 17])
        #expect(try numbers(&numbering, window(16..<19, end: "#EXT-X-ENDLIST\n")) == [18])
    }

    @Test("takes a text within the known one for an old one, however it grows: nothing is recorded twice or deleted")
    func olderTexts() throws {
        var numbering = LiveNumbering(isRecorded: true)
        #expect(try numbers(&numbering, window(4..<12)) == Array(4..<12))
        for end in 5..<12 {
            #expect(try numbers(&numbering, window(0..<end)) == [])
        }
        #expect(numbering.shift == 0)
        let restored = LiveNumbering(behind: try Fixtures.media(window(4..<12)), shift: 0)
        #expect(try restored.continues(in: Fixtures.media(window(2..<8))))
        #expect(try !restored.continues(in: Fixtures.media(window(0..<3))))
    }

    @Test("reports missed segments with their durations and discontinuities")
    func missed() throws {
        var numbering = LiveNumbering(isRecorded: true)
        _ = try numbers(&numbering, window(0..<3, [0: date(0)]))
        let header = "#EXT-X-DISCONTINUITY-SEQUENCE:2\n"
        let entries = numbering.accept(try Fixtures.media(window(7..<9, [7: date(18)], header: header)))
        guard case .missed(let missed) = entries.first else { throw Fixtures.NotExpected() }
        #expect(missed == .init(numbers: 3..<7, duration: 3, discontinuities: 2))
        // Without a date, or if a clock was set in between: as the previous segment.
        for line in ["# none", date(90_000)] {
            guard case .missed(let missed) = numbering.accept(try Fixtures.media(window(12..<13, [12: line]))).first
            else {
                continue
            }
            #expect(missed.duration == 2)
        }
    }

    @Test("continues after a discontinuity, with its own numbers, if the origin restarts its numbers")
    func restarts() throws {
        // Detected at once by the dates; without dates, by growth, or by a jump ahead.
        var dated = LiveNumbering(isRecorded: true)
        _ = try numbers(&dated, window(100..<104, [100: date(0)]))
        #expect(try numbers(&dated, window(0..<2, [0: date(-500)])) == [])
        #expect(try numbers(&dated, window(0..<2, [0: date(20)])) == [104, 105])
        #expect(try numbers(&dated, window(1..<4, [1: date(22)])) == [106, 107])
        #expect(dated.shift == 104)

        var plain = LiveNumbering(isRecorded: true)
        _ = try numbers(&plain, window(100..<104))
        #expect(try numbers(&plain, window(0..<2)) == [])
        #expect(try numbers(&plain, window(0..<2)) == [])
        #expect(try numbers(&plain, window(0..<3)) == [104, 105, 106])

        var ahead = LiveNumbering(isRecorded: true)
        _ = try numbers(&ahead, window(0..<3))
        #expect(try numbers(&ahead, window(1_700_000_000..<1_700_000_002)) == [3, 4])
        #expect(ahead.shift == 3 - 1_700_000_000)

        // A jump ahead that is too small for a limit is detected by the dates.
        var jumped = LiveNumbering(isRecorded: true)
        _ = try numbers(&jumped, window(0..<3, [0: date(0)]))
        #expect(try numbers(&jumped, window(900..<902, [900: date(10)])) == [3, 4])

        // Equal numbers for other segments.
        var over = LiveNumbering(isRecorded: true)
        _ = try numbers(&over, window(0..<4, [0: date(0)]))
        #expect(try numbers(&over, window(0..<4, [0: date(60)])) == [4, 5, 6, 7])
        // Corrected durations are not other segments.
        #expect(try numbers(&over, window(0..<5, [0: date(60)], durations: [0: "1", 1: "1.5", 2: "3"])) == [8])
    }

    /// A low-latency window with each tag that a recording keeps, changes or omits.
    private static let lowLatencyWindow = """
        #EXTM3U
        #EXT-X-VERSION:9
        #EXT-X-TARGETDURATION:4
        #EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=3
        #EXT-X-PART-INF:PART-TARGET=1
        #EXT-X-MEDIA-SEQUENCE:1
        #EXT-X-DISCONTINUITY-SEQUENCE:7
        #EXT-X-INDEPENDENT-SEGMENTS
        #EXT-X-START:TIME-OFFSET=-8
        #EXT-X-DATERANGE:ID="a",START-DATE="2026-01-01T00:00:00Z",X-ASSET-URI="ad.m3u8"
        #EXT-X-KEY:METHOD=AES-128,URI="0.key",IV=0x01
        #EXT-X-MAP:URI="a.mp4"
        #EXT-X-KEY:METHOD=AES-128,URI="1.key"
        #EXTINF:4.0000,a title
        1.m4s
        #EXT-X-CUE-OUT:4
        #EXT-X-DISCONTINUITY
        #EXT-X-MAP:URI="a.mp4"
        #EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:04.000Z
        #EXT-X-BYTERANGE:10@20
        #EXTINF:3.5,
        2.m4s
        #EXT-X-PART:DURATION=1,URI="3.0.m4s"
        #EXT-X-KEY:METHOD=NONE
        #EXTINF:4,
        3.m4s
        #EXT-X-GAP
        #EXTINF:4,
        4.m4s
        #EXTINF:4,
        5.m4s
        #EXT-X-PRELOAD-HINT:TYPE=PART,URI="6.0.m4s"
        """

    /// The recording of `lowLatencyWindow` without segment 3.
    private static let recorded = """
        #EXTM3U
        #EXT-X-VERSION:7
        #EXT-X-TARGETDURATION:4
        #EXT-X-MEDIA-SEQUENCE:1
        #EXT-X-DISCONTINUITY-SEQUENCE:7
        #EXT-X-PLAYLIST-TYPE:EVENT
        #EXT-X-INDEPENDENT-SEGMENTS
        #EXT-X-DATERANGE:ID="a",START-DATE="2026-01-01T00:00:00Z",X-ASSET-URI="https://origin.example/ad"
        #EXT-X-KEY:METHOD=AES-128,URI="../keys/0.key",IV=0x01
        #EXT-X-MAP:URI="init-a.mp4"
        #EXT-X-KEY:METHOD=AES-128,URI="../keys/1.key"
        #EXTINF:4.0000,a title
        1.ts
        #EXT-X-DISCONTINUITY
        #EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:04.000Z
        #EXT-X-CUE-OUT:4
        #EXTINF:3.5,
        2.ts
        #EXT-X-GAP
        #EXTINF:4,
        3.ts
        #EXT-X-GAP
        #EXTINF:4,
        4.ts
        #EXT-X-KEY:METHOD=NONE
        #EXTINF:4,
        5.ts

        """

    @Test("contains complete segments, changes of keys and sections, gaps and dates, but no low-latency tags")
    func text() throws {
        var driver = RecordingDriver()
        driver.lost = [3]
        try driver.add(Self.lowLatencyWindow)
        #expect(String(decoding: driver.text, as: UTF8.self) == Self.recorded)
        // The view for players, while the recording grows, has neither gaps nor an end.
        let view = String(decoding: try driver.playlist().rendered(.growing) { _ in nil }, as: UTF8.self)
        #expect(!view.contains("GAP") && !view.contains("3.ts") && !view.contains("ENDLIST") && view.contains("EVENT"))
    }

    @Test("writes the original sequence number as IV if its own number differs")
    func vectors() throws {
        var driver = RecordingDriver()
        let key = "#EXT-X-KEY:METHOD=AES-128,URI=\"0.key\"\n"
        try driver.add(window(100..<102, [100: date(0)], header: key))
        try driver.add(window(0..<2, [0: date(10)], header: key))
        #expect(
            String(decoding: driver.text, as: UTF8.self).hasSuffix(
                """
                101.ts
                #WEIR-SHIFT:102
                #EXT-X-DISCONTINUITY
                #EXT-X-KEY:METHOD=AES-128,URI="../keys/0.key",IV=0x00000000000000000000000000000000
                \(date(10))
                #EXTINF:2.000,
                102.ts
                #EXT-X-KEY:METHOD=AES-128,URI="../keys/0.key",IV=0x00000000000000000000000000000001
                #EXTINF:2.000,
                103.ts

                """))
    }

    @Test("raises the target duration in its header, and adds date ranges again when they change")
    func header() throws {
        var driver = RecordingDriver()
        let range = "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2026-01-01T00:00:00Z\"\n"
        try driver.add(window(0..<2, header: range))
        try driver.add(window(1..<3, header: range))
        let longer = range + range.dropLast() + ",END-DATE=\"2026-01-01T00:00:09Z\"\n#EXT-X-TARGETDURATION:11\n"
        try driver.add(window(2..<4, header: longer))
        let playlist = try driver.playlist()
        #expect(playlist.targetDuration == 11)
        #expect(playlist.dateRanges.count == 2)
        #expect(playlist.segments.map(\.uri) == ["0.ts", "1.ts", "2.ts", "3.ts"])
    }

    /// Windows with all tags that a recording keeps track of.
    private var broadcast: [String] {
        let keys = (0..<40).map { "#EXT-X-KEY:METHOD=AES-128,URI=\"\($0 / 5).key\"" }
        func lines(_ numbers: Range<Int>, from: Int) -> [Int: String] {
            var lines: [Int: String] = [:]
            for number in numbers {
                let discontinuity = number % 7 == 6 ? "#EXT-X-DISCONTINUITY\n" : ""
                lines[number] = discontinuity + keys[number] + "\n" + date(from + number * 2)
            }
            return lines
        }
        let before = (10..<20).map { window($0..<$0 + 4, lines($0..<$0 + 4, from: 0)) }
        let after = (0..<6).map { window($0..<$0 + 4, lines($0..<$0 + 4, from: 50)) }
        return before + after + [window(6..<10, lines(6..<10, from: 50), end: "#EXT-X-ENDLIST\n")]
    }

    @Test("is the same after a kill at any byte, and continues with the same window")
    func restored() throws {
        var whole = RecordingDriver()
        var ends: [Int] = []
        for text in broadcast {
            try whole.add(text)
            ends.append(whole.text.count)
        }
        let expected = try whole.playlist()
        for length in stride(from: 0, through: whole.text.count, by: 3) {
            var driver = try RecordingDriver(restoring: Array(whole.text[..<length]))
            // The interrupted window and those after it.
            let place = ends.firstIndex { length <= $0 } ?? ends.count
            for text in broadcast[min(place, broadcast.count - 1)...] {
                try driver.add(text)
            }
            let playlist = try driver.playlist()
            let tail = expected.segments.suffix(playlist.segments.count)
            #expect(playlist.segments.map(\.uri) == tail.map(\.uri), "killed at \(length)")
            #expect(
                playlist.segments.map { $0.keys.map(\.uri) } == tail.map { $0.keys.map(\.uri) }, "killed at \(length)")
        }
        whole.end()
        #expect(RecordedText.intactLength(of: whole.text) == whole.text.count)
        #expect(RecordedText.intactLength(of: whole.text + [0, 0, 0]) == whole.text.count)
        #expect(try whole.playlist().hasEndList)
    }

    @Test("of ten hours is written once: each window adds only its new segments")
    func cost() throws {
        var driver = RecordingDriver()
        var last = 0
        for first in stride(from: 0, to: 18_000, by: 6) {
            last = driver.text.count
            try driver.add(window(first..<first + 8))
        }
        #expect(driver.text.count - last < 200)
        #expect(try driver.playlist().segments.count == 18_002)
        #expect(driver.text.count < 1 << 20)
    }
}
