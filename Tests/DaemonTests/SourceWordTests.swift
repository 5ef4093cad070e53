import Testing
import WeirAPI

@testable import Daemon

@Suite struct SourceWordTests {
    @Test(
        arguments: [
            ("film", "film", []), ("http://h/a.m3u8?x=1", "http://h/a.m3u8?x=1", []),
            (
                "http://h/a.m3u8|Referer=http%3A%2F%2Fr%2F&User-Agent=TV/1", "http://h/a.m3u8",
                ["Referer: http://r/", "User-Agent: TV/1"]
            ),
            ("https://h/a|b.m3u8", "https://h/a|b.m3u8", []), ("http://h/a.m3u8|", "http://h/a.m3u8|", []),
            ("https%3A%2F%2Fh%2Fa%2520b.m3u8%3Ft%3D1", "https://h/a%20b.m3u8?t=1", []),
            ("http%3A%2F%2Fh%2Fa.m3u8%7CReferer%3Dx", "http://h/a.m3u8", ["Referer: x"]), ("", "", []),
        ] as [(String, String, [String])])
    func isReadAsOtherProgramsWriteIt(_ word: String, _ source: String, _ fields: [String]) {
        let read = SourceWord(word)
        #expect(read.source == source)
        #expect(read.fields.map(\.line) == fields)
    }
}
