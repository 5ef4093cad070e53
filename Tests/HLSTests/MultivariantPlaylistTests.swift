import SafeText
import Testing

@testable import HLS

@Suite("A multivariant playlist")
struct MultivariantPlaylistTests {
    @Test("has each variant's attributes and lines")
    func variant() throws {
        let playlist = try Fixtures.multivariant(
            """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=2227464,AVERAGE-BANDWIDTH=2165224.7,CODECS="avc1.640020, mp4a.40.2",\
            RESOLUTION=960x540,FRAME-RATE=59.940,AUDIO="a1",VIDEO="v1",SUBTITLES="s1",CLOSED-CAPTIONS="cc",VIDEO-RANGE=SDR,NAME="mid"

            v5/prog.m3u8
            """)
        let variant = playlist.variants[0]
        #expect(variant.uri == "v5/prog.m3u8" && variant.line == 2 && variant.uriLine == 4)
        #expect(variant.bandwidth == 2_227_464 && variant.averageBandwidth == 2_165_224)
        #expect(variant.codecs == ["avc1.640020", "mp4a.40.2"])
        #expect(variant.resolution == Resolution(width: 960, height: 540) && variant.frameRate == 59.94)
        #expect(variant.audio == "a1" && variant.video == "v1" && variant.subtitles == "s1")
        #expect(variant.closedCaptions == "cc" && variant.videoRange == "SDR" && variant.name == "mid")
    }

    @Test("has no group for CLOSED-CAPTIONS=NONE, unless it is quoted")
    func closedCaptions() throws {
        let text = "#EXTM3U\n#EXT-X-STREAM-INF:CLOSED-CAPTIONS=NONE\na\n#EXT-X-STREAM-INF:CLOSED-CAPTIONS=\"NONE\"\nb\n"
        #expect(try Fixtures.multivariant(text).variants.map(\.closedCaptions) == [nil, "NONE"])
    }

    @Test(
        "has the title of its session data",
        arguments: [
            (#"DATA-ID="com.example.title",VALUE="A""#, "A"),
            (#"DATA-ID="com.example.title",VALUE="A  b c ""#, "A b c"),
            (#"DATA-ID="com.example.title",VALUE="""#, nil), (#"DATA-ID="com.example.title",URI="t.json""#, nil),
            (#"DATA-ID="title",VALUE="A""#, nil), (#"DATA-ID="com.example.subtitle",VALUE="A""#, nil),
            (#"DATA-ID="com.example.movie.TITLE",VALUE="A",LANGUAGE="en""#, "A"),
        ])
    func title(attributes: String, title: String?) throws {
        let line = "#EXT-X-SESSION-DATA:\(attributes)\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8\n"
        #expect(try Fixtures.multivariant("#EXTM3U\n\(line)").sessionData.title == title)
        let german = #"#EXT-X-SESSION-DATA:DATA-ID="x.title",VALUE="Deutsch",LANGUAGE="de"\#n"#
        #expect(
            try Fixtures.multivariant("#EXTM3U\n\(german)\(line)").sessionData.title
                == (line.contains("LANG") ? "Deutsch" : title ?? "Deutsch"))
    }

    @Test("has each rendition's attributes")
    func media() throws {
        let playlist = try Fixtures.multivariant(
            """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="Deutsch",LANGUAGE="de",DEFAULT=YES,FORCED=YES,URI="s.m3u8",\
            CHARACTERISTICS="public.accessibility.transcribes-spoken-dialog"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="x",CHANNELS="16/JOC",AUTOSELECT=YES
            #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="c",NAME="x",URI="forbidden.m3u8"
            """)
        let subtitles = playlist.media[0]
        let audio = playlist.media[1]
        let captions = playlist.media[2]
        #expect(subtitles.type == .subtitles && subtitles.groupID == "s" && subtitles.name == "Deutsch")
        #expect(subtitles.language == "de" && subtitles.isDefault && subtitles.isAutoselect && subtitles.isForced)
        #expect(subtitles.characteristics == "public.accessibility.transcribes-spoken-dialog")
        #expect(audio.uri == nil && audio.renditionIndex == nil && audio.channels == "16/JOC")
        #expect(!audio.isDefault && audio.isAutoselect && !audio.isForced)
        #expect(captions.uri == nil && captions.renditionIndex == nil)
        #expect(playlist.renditionURIs == ["s.m3u8"])
    }

    @Test("has one rendition per URI, even if several lines name it")
    func renditions() throws {
        let playlist = try Fixtures.multivariant(
            """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="x",URI="audio"
            #EXT-X-STREAM-INF:BANDWIDTH=2
            video
            #EXT-X-STREAM-INF:BANDWIDTH=1
            audio
            #EXT-X-STREAM-INF:BANDWIDTH=3
            video
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=3,URI="iframes"
            """)
        #expect(playlist.renditionURIs == ["audio", "video", "iframes"])
        #expect(playlist.variants.map(\.renditionIndex) == [1, 0, 1])
        #expect(playlist.media.map(\.renditionIndex) == [0])
        #expect(playlist.iFrameVariants.map(\.renditionIndex) == [2])
    }

    @Test("has no offline view without a completely stored variant")
    func nothingStored() throws {
        let playlist = try Fixtures.multivariant("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na\n")
        #expect(try playlist.stored(renditions: []) { _ in nil } == nil)
        #expect(try playlist.stored(renditions: [1, 99]) { _ in nil } == nil)
        #expect(try playlist.stored(renditions: [0]) { _ in nil } == playlist.text.write())
    }

    @Test("has limits for variants and for all other items")
    func limits() throws {
        let cases = [
            (10_000, "#EXT-X-STREAM-INF:BANDWIDTH=1\nv\n"),
            (10_000, "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"x\"\n"),
            (10_000, "#EXT-X-SESSION-DATA:DATA-ID=\"x\"\n"),
        ]
        for (limit, line) in cases {
            let variant = "#EXT-X-STREAM-INF:BANDWIDTH=1\nv\n"
            let count = line == variant ? limit - 1 : limit
            let text = "#EXTM3U\n\(variant)" + String(repeating: line, count: count)
            _ = try Fixtures.multivariant(text)
            let error = try #require(throws: PlaylistError.self) { try Fixtures.multivariant(text + line) }
            #expect(error.code == .overLimit && error.reason.contains("10000"))
        }
    }
}
