import HLS
import Testing

@testable import Substitution

@Suite struct RenditionTraitsTests {
    private static let text = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="low",NAME="English",LANGUAGE="en",URI="sound-low.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="high",NAME="English",LANGUAGE="en",URI="sound-high.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="high",NAME="Commentary",LANGUAGE="en",URI="sound-other.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="in",NAME="English"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="text",NAME="English",LANGUAGE="en",URI="text.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=100,CODECS="avc1.42c00a,mp4a.40.2",AUDIO="low",SUBTITLES="text"
        apart-low.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=200,CODECS="avc3.64001f,mp4a.40.2",AUDIO="high",FRAME-RATE=50
        apart-high.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=200,CODECS="avc1.64001f,mp4a.40.2",AUDIO="in"
        muxed.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=300,CODECS="hvc1.1.6.L93,mp4a.40.2",AUDIO="high"
        hevc.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=300,CODECS="avc1.64001f,mp4a.40.2",AUDIO="high",VIDEO-RANGE=PQ
        bright.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=50,CODECS="mp4a.40.2"
        only-sound.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=60,CODECS="mp4a.40.5"
        only-other-sound.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=150,AUDIO="high",RESOLUTION=320x180
        silent-on-codecs.m3u8
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=10,URI="frames.m3u8"

        """

    private func traits(_ uri: String) throws -> RenditionTraits? {
        guard case .multivariant(let playlist) = try Playlist.parse(Array(Self.text.utf8)) else { return nil }
        let place = try #require(playlist.renditionURIs.firstIndex(of: uri + ".m3u8"))
        return RenditionTraits.Table(playlist)[place]
    }

    private func mismatch(_ own: String, _ other: String) throws -> String? {
        let mine = try #require(try traits(own))
        let its = try #require(try traits(other))
        #expect((mine.mismatch(to: its) == nil) == (its.mismatch(to: mine) == nil))
        return mine.mismatch(to: its)
    }

    @Test(arguments: [
        ("apart-low", "apart-high"), ("sound-low", "sound-high"), ("apart-low", "silent-on-codecs"),
    ])
    func qualitiesOfOneRenditionAreCompatible(own: String, other: String) throws {
        #expect(try mismatch(own, other) == nil)
    }

    @Test(arguments: [
        ("apart-high", "muxed", "sound apart"), ("apart-high", "hevc", "coded as hvc1"),
        ("apart-high", "bright", "VIDEO-RANGE is PQ"), ("apart-high", "only-sound", "the same"),
        ("only-sound", "only-other-sound", "mp4a.40.5"), ("sound-low", "sound-other", "the same"),
        ("sound-low", "only-sound", "the same"),
    ])
    func differentRenditionsAreNotCompatible(own: String, other: String, word: String) throws {
        #expect(try mismatch(own, other)?.contains(word) == true)
    }

    @Test func subtitlesAndTrickPlayHaveNoSubstitutes() throws {
        #expect(try traits("text") == nil)
        #expect(try traits("frames") == nil)
    }

    @Test func theHigherBitRateIsBetter() throws {
        #expect(try traits("apart-high")?.frameRate == 50)
        #expect(try traits("muxed")?.frameRate == 30)
        #expect(try traits("sound-high")?.bandwidth == 150)
        #expect(try traits("sound-low")?.bandwidth == 100)
    }
}
