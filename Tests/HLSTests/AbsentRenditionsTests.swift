import Testing

@testable import HLS

@Suite("A multivariant playlist without some of its renditions")
struct AbsentRenditionsTests {
    private static let text = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="hi",NAME="English",DEFAULT=YES,AUTOSELECT=YES,URI="hi-en.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="hi",NAME="Deutsch",DEFAULT=NO,URI="hi-de.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="lo",NAME="English",DEFAULT=YES,AUTOSELECT=YES,URI="lo-en.m3u8"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="text",NAME="English",URI="text.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=2000,AUDIO="hi",SUBTITLES="text"
        best.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=1000,AUDIO="lo",SUBTITLES="text"
        worst.m3u8
        """

    /// The URIs that are left without those of the given ones; nil if nothing is left.
    private func left(without absent: [String]) throws -> [String]? {
        let playlist = try Fixtures.multivariant(Self.text)
        let places = absent.compactMap { playlist.renditionURIs.firstIndex(of: $0) }
        #expect(places.count == absent.count)
        guard let bytes = try playlist.rendered(without: Set(places), naming: { _ in nil }) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        return ["hi-en", "hi-de", "lo-en", "text", "best", "worst"].filter { text.contains("\($0).m3u8") }
    }

    @Test(
        "has all that the others play",
        arguments: [
            ([], ["hi-en", "hi-de", "lo-en", "text", "best", "worst"]),
            (["best.m3u8"], ["lo-en", "text", "worst"]),
            (["hi-en.m3u8"], ["hi-de", "lo-en", "text", "best", "worst"]),
            (["text.m3u8"], ["hi-en", "hi-de", "lo-en", "best", "worst"]),
            // A variant without sound is left out while another has some.
            (["hi-en.m3u8", "hi-de.m3u8"], ["lo-en", "text", "worst"]),
            (["hi-en.m3u8", "hi-de.m3u8", "lo-en.m3u8"], ["text", "best", "worst"]),
            (["best.m3u8", "lo-en.m3u8"], ["text", "worst"]), (["best.m3u8", "worst.m3u8"], nil),
        ] as [([String], [String]?)])
    func keepsTheOthers(absent: [String], expected: [String]?) throws {
        #expect(try left(without: absent) == expected)
    }

    @Test("has another default where the default is absent, and no reference to a group of which nothing is left")
    func repairsGroups() throws {
        let playlist = try Fixtures.multivariant(Self.text)
        func text(without absent: Set<Int>) throws -> String {
            String(decoding: try #require(try playlist.rendered(without: absent, naming: { _ in nil })), as: UTF8.self)
        }
        let english = try #require(playlist.renditionURIs.firstIndex(of: "hi-en.m3u8"))
        #expect(try text(without: [english]).contains("NAME=\"Deutsch\",DEFAULT=YES"))
        let sounds = playlist.media.filter { $0.type == .audio }.compactMap(\.renditionIndex)
        #expect(try !text(without: Set(sounds)).contains("AUDIO="))
    }
}
