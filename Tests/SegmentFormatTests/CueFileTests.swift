import SegmentFormat
import Testing

@Suite struct CueFileTests {
    private func vtt(_ text: String, start: UInt64? = nil) throws -> String {
        String(decoding: try CueFile(Array(text.utf8)).webVTT(start: start), as: UTF8.self)
    }

    /// SubRip, and the cues of the WebVTT that it becomes.
    @Test(
        arguments: [
            ("1\n00:00:01,000 --> 00:00:03,500\nGuten Tag\n", "00:00:01.000 --> 00:00:03.500\nGuten Tag\n"),
            ("\n\n1\r\n0:00:01,5 --> 0:00:03.25\r\nA\r\nB\r\n", "00:00:01.500 --> 00:00:03.250\nA\nB\n"),
            ("00:01,001 --> 00:02,002\nno number", "00:00:01.001 --> 00:00:02.002\nno number\n"),
            (
                "1\n00:00:00,000 --> 00:00:01,000\none\n\n2\n99:59:59,999 --> 100:00:00,000\ntwo\n",
                "00:00:00.000 --> 00:00:01.000\none\n\n99:59:59.999 --> 100:00:00.000\ntwo\n"
            ),
            // No blank line between two cues, and one within a cue.
            (
                "1\n00:00:00,000 --> 00:00:01,000\none\n\nmore\n2\n00:00:01,000 --> 00:00:02,000\ntwo\n",
                "00:00:00.000 --> 00:00:01.000\none\nmore\n\n00:00:01.000 --> 00:00:02.000\ntwo\n"
            ),
            ("00:00:01,000 --> 00:00:02,000 X1:10 X2:20\nx", "00:00:01.000 --> 00:00:02.000\nx\n"),
            (
                "00:00:01,000 --> 00:00:02,000\n<i>a</i> <B>b</B> <font color=\"red\">c</font> 1<2 & d",
                "00:00:01.000 --> 00:00:02.000\n<i>a</i> <b>b</b> c 1&lt;2 &amp; d\n"
            ),
            // A line with tags alone would end the cue if it stayed as an empty one.
            (
                "00:00:01,000 --> 00:00:02,000\n<font color=\"red\">\nx\n</font>\n\n2\n00:00:02,000 --> 00:00:03,000\n<s>\n",
                "00:00:01.000 --> 00:00:02.000\nx\n"
            ),
            ("00:00:01,000 --> 00:00:02,000\n{\\an8}top", "00:00:01.000 --> 00:00:02.000 line:0\ntop\n"),
            ("00:00:01,000 --> 00:00:02,000\n1984", "00:00:01.000 --> 00:00:02.000\n1984\n"),
        ])
    func subRipBecomesWebVTTWithTheSameTimes(text: String, cues: String) throws {
        #expect(try vtt(text) == "WEBVTT\n\n" + cues)
    }

    /// The beginning of a neighbour, and the line between `WEBVTT` and the end of the head; empty for none.
    @Test(
        arguments: [
            (nil, ""), ("", ""), ("WEBVTT\n\nX-TIMESTAMP-MAP=MPEGTS:1,LOCAL:0\n", ""), ("WEBVTT", ""),
            (
                "WEBVTT - a film\nX-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:00.000\n\n1\n",
                "X-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:00.000\n"
            ),
            (
                "\u{FEFF}WEBVTT\r\nNOTE x\r\nX-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:9\r\nX-TIMESTAMP-MAP=2\r\n\r\n",
                "X-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:9\n"
            ),
        ])
    func aFileWithoutCuesRepeatsTheTimesOfItsNeighbour(_ neighbour: String?, _ line: String) {
        let bytes = CueFile.withoutCues(timedAs: neighbour.map { Array($0.utf8) })
        #expect(String(decoding: bytes, as: UTF8.self) == "WEBVTT\n\(line)\n")
    }

    @Test func theTimestampOfTheMediaIsInTheHead() throws {
        let text = try vtt("00:00:01,000 --> 00:00:02,000\nx", start: 126_000)
        #expect(text.hasPrefix("WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:126000,LOCAL:00:00:00.000\n\n"))
    }

    @Test func webVTTKeepsItsSettingsStylesAndNames() throws {
        let text = """
            WEBVTT - a title
            X-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:00.000

            STYLE
            ::cue { color: red }

            NOTE a comment

            intro
            00:01.000 --> 00:02.000 line:0 align:start
            <v Anna>Hi

            00:02.000 --> 00:03.000
            there

            """
        let expected = """
            WEBVTT

            STYLE
            ::cue { color: red }

            NOTE a comment

            intro
            00:00:01.000 --> 00:00:02.000 line:0 align:start
            <v Anna>Hi

            00:00:02.000 --> 00:00:03.000
            there

            """
        #expect(try vtt(text) == expected)
    }

    @Test(
        arguments: [
            ("", nil, "the file has no cue"),
            ("WEBVTT\n\n", nil, "the file has no cue"),
            ("hello\n", 1, "\"hello\" is neither a number nor a pair of times"),
            (
                "1\n00:00:01,000 --> 00:00:x\nx", 2,
                "\"00:00:01,000 --> 00:00:x\" is no pair of times such as 00:00:01,000 --> 00:00:03,500"
            ),
            (
                "1\n00:00:01,000 --> 00:00:02,000\na\n\n2\n00:00:05,000 --> 00:00:04,000\nb\n", 6,
                "the cue ends before it begins"
            ),
            ("a\0b", nil, "the file is no text"),
        ] as [(String, Int?, String)])
    func aFaultIsToldWithItsLine(text: String, line: Int?, reason: String) throws {
        let error = try #require(throws: SubtitleError.self) { try CueFile(Array(text.utf8)) }
        #expect(error.line == line && error.reason == reason)
    }

    @Test func encodingsAreRecognized() throws {
        let text = "1\n00:00:01,000 --> 00:00:02,000\nGr\u{FC}\u{DF}e \u{2013} 5 \u{20AC}\n"
        let utf16 = text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        let big = text.utf16.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        let windows = text.unicodeScalars.map { scalar -> UInt8 in
            switch scalar {
            case "\u{2013}": 0x96
            case "\u{20AC}": 0x80
            default: UInt8(scalar.value)
            }
        }
        let cases: [([UInt8], DecodedText.Encoding)] = [
            (Array(text.utf8), .utf8), ([0xEF, 0xBB, 0xBF] + Array(text.utf8), .utf8), ([0xFF, 0xFE] + utf16, .utf16),
            ([0xFE, 0xFF] + big, .utf16), (windows, .latin1),
        ]
        for (bytes, encoding) in cases {
            let file = try CueFile(bytes)
            #expect(file.encoding == encoding && file.cues.map(\.lines) == [["Gr\u{FC}\u{DF}e \u{2013} 5 \u{20AC}"]])
        }
        #expect(throws: SubtitleError.self) { try CueFile([0xFF, 0xFE, 0x31]) }
    }
}
