import HTTPMessage
import Origin
import Testing

@testable import Daemon

/// The stream of a web page, as yt-dlp describes it.
@Suite struct PageFinderTests {
    private func location(_ json: String) -> (url: String, terms: HandlerTerms)? {
        guard case .location(let url, let terms) = PageFinder.answer(Array(json.utf8)) else { return nil }
        return (url.text, terms)
    }

    @Test func theProgramGetsTheURLBehindTheEndOfOptions() {
        let words = PageFinder.words(for: "https://page/--exec=x")
        #expect(words.first == "yt-dlp" && words.suffix(2) == ["--", "https://page/--exec=x"])
    }

    @Test func theMultivariantPlaylistCountsWithItsFieldsAndTitle() throws {
        let found = try #require(
            location(
                #"{"url":"https://cdn/720.m3u8","manifest_url":"https://cdn/master.m3u8","title":"The Film","http_headers":"#
                    + #"{"Referer":"https://page/","Accept":"*/*","Sec-Fetch-Mode":"navigate"},"#
                    + #""cookies":"sid=1; Domain=.cdn; Path=/; Secure; other=2"}"# + "\n{}"))
        #expect(found.url == "https://cdn/master.m3u8" && found.terms.title == "The Film")
        let names = found.terms.fields.lines.map(\.name)
        #expect(names == ["Cookie", "Referer"])
    }

    static let refused: [String] = [
        "", "no JSON", "{}", #"{"url":"ftp://h/a"}"#, #"{"url":"/relative"}"#,
        #"{"url":"https://h/","http_headers":{"A\nB":"x"}}"#,
    ]

    @Test(arguments: refused)
    func anythingElseIsNoStream(_ output: String) {
        guard case .failure = PageFinder.answer(Array(output.utf8)) else {
            Issue.record("\(output) gave an answer")
            return
        }
    }
}
