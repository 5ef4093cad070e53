import Testing

@testable import Playlist

@Suite("A name from outside")
struct InjectionTests {
    static let unsafe = [
        "a\nb", "a\r", "\u{0}", "a\"b", "\"", "#EXT-X-ENDLIST", "", " a", "a ", "a\u{2028}b", "\u{2029}", "a\u{85}",
        "\t",
        "a\u{1B}", "a\u{7F}", "a\r\nb",
    ]

    @Test("that could break out of its place is refused wherever a view would put it", arguments: unsafe)
    func refused(_ name: String) throws {
        let media = try Fixtures.media(
            """
            #EXTM3U
            #EXT-X-KEY:METHOD=AES-128,URI="k"
            #EXT-X-MAP:URI="i"
            #EXT-X-PART:URI="p",DURATION=1
            #EXTINF:1,
            a
            #EXT-X-PRELOAD-HINT:TYPE=PART,URI="h"
            #EXT-X-RENDITION-REPORT:URI="r"
            #EXT-X-DATERANGE:ID="i",X-ASSET-URI="u",X-ASSET-LIST="l"
            """)
        for place in 0..<8 {
            let error = try #require(throws: PlaylistError.self) {
                try media.rendered { self.place($0) == place ? name : nil }
            }
            #expect(error.code == .unsafeName)
        }
        let multivariant = try Fixtures.multivariant(
            """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="x",URI="a"
            #EXT-X-STREAM-INF:BANDWIDTH=1
            v
            #EXT-X-I-FRAME-STREAM-INF:URI="i"
            """)
        for place in 0..<3 {
            let error = try #require(throws: PlaylistError.self) {
                try multivariant.rendered { $0.renditionIndex == place ? name : nil }
            }
            #expect(error.code == .unsafeName)
        }
    }

    @Test(
        "with commas, blanks within, or any letters stays one value", arguments: ["a,b=c", "a b", "é/日本", "{$x}", "'"])
    func kept(_ name: String) throws {
        let media = try Fixtures.media("#EXTM3U\n#EXT-X-MAP:URI=\"i\",X=1\n#EXTINF:1,\na\n")
        let output = try media.rendered { _ in name }
        let reread = try Fixtures.media(String(decoding: output, as: UTF8.self))
        #expect(reread.segments.map(\.uri) == [name])
        #expect(reread.maps.map(\.uri) == [name])
    }

    @Test("for what a delta update left out is not asked for")
    func deltaUpdate() throws {
        let playlist = try Fixtures.media(
            "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:10\n#EXT-X-SKIP:SKIPPED-SEGMENTS=3\n#EXTINF:1,\na\n")
        #expect(playlist.isDeltaUpdate)
        #expect(playlist.segments[0].mediaSequenceNumber == 13)
        #expect(try playlist.rendered { _ in nil } == playlist.text.write())
        for view in [MediaPlaylistView.plain, .stored] {
            let error = try #require(throws: PlaylistError.self) { try playlist.rendered(view) { _ in nil } }
            #expect(error.code == .deltaUpdate)
        }
    }

    private func place(_ reference: MediaPlaylist.Reference) -> Int {
        switch reference {
        case .segment: 0
        case .map: 1
        case .key: 2
        case .part: 3
        case .preloadHint: 4
        case .renditionReport: 5
        case .assetURI: 6
        case .assetList: 7
        }
    }
}
