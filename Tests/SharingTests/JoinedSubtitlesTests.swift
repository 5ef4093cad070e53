import Testing

@testable import Sharing

@Suite struct JoinedSubtitlesTests {
    private func joined(_ segments: [String], start: Double = 0) -> String {
        var joined = JoinedSubtitles(start: start)
        for segment in segments {
            joined.add(Array(segment.utf8))
        }
        return String(decoding: joined.text, as: UTF8.self)
    }

    @Test func theMediaClockIsSubtracted() {
        let segment = """
            WEBVTT
            X-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:01.000

            7
            00:01.500 --> 01:00:02.000 align:start
            <b>One</b>
            two

            """
        #expect(
            joined([segment], start: 9) == """
                WEBVTT

                00:00:01.500 --> 01:00:02.000 align:start
                <b>One</b>
                two

                """)
    }

    @Test func aRepeatedCueComesOnceAndAnEarlyCueIsDropped() {
        let cue = "WEBVTT\r\nX-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:0\r\n\r\n00:01.000 --> 00:03.000\r\nHere\r\n"
        #expect(joined([cue, cue], start: 1.4) == "WEBVTT\n\n00:00:00.000 --> 00:00:01.600\nHere\n")
        #expect(joined([cue], start: 3) == "WEBVTT\n")
    }

    @Test func withoutAMapCuesAreRelativeToTheMediaStart() {
        #expect(
            joined(["WEBVTT\n\n00:01.000 --> 00:03.000\nHere\n"], start: 10)
                == "WEBVTT\n\n00:00:01.000 --> 00:00:03.000\nHere\n")
    }

    @Test func linesEndWithAnyLineEnd() {
        let expected = "WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nOne\n\n00:00:03.000 --> 00:00:04.000\nTwo\n"
        for end in ["\n", "\r\n", "\r"] {
            let lines = ["WEBVTT", "", "00:01.000 --> 00:02.000", "One", "", "00:03.000 --> 00:04.000", "Two"]
            #expect(joined([lines.joined(separator: end)]) == expected)
        }
    }

    @Test func invalidTextIsRepaired() {
        var joined = JoinedSubtitles(start: 0)
        joined.add(Array("WEBVTT\n\n00:01.000 --> 00:02.000\n".utf8) + [0xFF, 0x0A])
        #expect(String(decoding: joined.text, as: UTF8.self).hasSuffix("\n\u{FFFD}\n"))
    }

    @Test(arguments: [
        "", "WEBVTT", "WEBVTT\n\nNOTE a --> b\nno cue\n", "WEBVTT\n\nx --> y\nno cue\n", "\u{0}\u{0}-->\n\n-->",
    ])
    func whatIsNoCueIsPassedOver(segment: String) {
        #expect(joined([segment]) == "WEBVTT\n")
    }
}
