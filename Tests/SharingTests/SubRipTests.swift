import Testing

@testable import Sharing

/// Subtitles as SubRip: a WebVTT file, expected text.
@Suite struct SubRipTests {
    static let files: [(String, String)] = [
        ("WEBVTT\n", ""),
        (
            "WEBVTT\n\n00:00:01.000 --> 00:00:02.500 align:start line:90%\nHello\nyou\n\n00:01:00.000 --> 00:01:01.000\nBye\n",
            "1\n00:00:01,000 --> 00:00:02,500\nHello\nyou\n\n2\n00:01:00,000 --> 00:01:01,000\nBye\n\n"
        ),
        (
            "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\n<v Ann><i>So</i> <c.red>red</c> <00:00:00.500>now</v>\n",
            "1\n00:00:00,000 --> 00:00:01,000\n<i>So</i> red now\n\n"
        ),
        (
            "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nA &amp;lt; B &lt;3 &amp; C\n",
            "1\n00:00:00,000 --> 00:00:01,000\nA &lt; B <3 & C\n\n"
        ),
        ("WEBVTT\n\n00:00:00.000 --> 00:00:01.000\n<c></c>\n", ""),
        ("WEBVTT\n\n00:00:00.000 --> 00:00:01.000\na < b\n", "1\n00:00:00,000 --> 00:00:01,000\na  b\n\n"),
    ]

    @Test(arguments: files)
    func cuesAreNumberedWithCommasInTheirTimes(_ webVTT: String, _ subRip: String) {
        #expect(String(decoding: SubRip(webVTT: Array(webVTT.utf8)).text, as: UTF8.self) == subRip)
    }
}
