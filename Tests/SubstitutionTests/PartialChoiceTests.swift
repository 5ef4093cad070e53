import HLS
import Testing

@testable import Substitution

/// Rendition indices: the three variants' video 0 (small), 1 and 2 (large), audio 3 (English, the default) and 4
/// (French), subtitles 5.
@Suite struct PartialChoiceTests {
    private static let text = """
        #EXTM3U
        #EXT-X-STREAM-INF:BANDWIDTH=100,AUDIO="a",SUBTITLES="s"
        small.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=200,AUDIO="a",SUBTITLES="s"
        middle.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=300,AUDIO="a",SUBTITLES="s"
        large.m3u8
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",DEFAULT=YES,URI="en.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="French",URI="fr.m3u8"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",URI="text.m3u8"

        """

    /// The chosen renditions if the renditions have the segments marked `x`, of two seconds each; "" for no segment.
    private func choice(_ marks: String..., text: String = text) throws -> [Int] {
        guard case .multivariant(let playlist) = try Playlist.parse(Array(text.utf8)) else {
            throw OtherPlaylist()
        }
        let tracks = marks.map { marks -> CommonRanges.Track? in
            guard !marks.isEmpty else { return nil }
            return CommonRanges.Track(
                durations: [Double](repeating: 2, count: marks.count), isPlayable: marks.map { $0 == "x" })
        }
        return PartialChoice(playlist, tracks: tracks).indices
    }

    @Test func prefersTheVariantWithTheLongestPlayableTime() throws {
        #expect(try choice("xx...", "xxx..", "..x..", "xxxxx", "", "") == [1, 3])
    }

    @Test func prefersTheBestOfEquallyStoredVariants() throws {
        #expect(try choice("xx...", "...xx", "", "xxxxx", "", "") == [1, 3])
    }

    @Test func audioCountsForThePlayableTime() throws {
        #expect(try choice("x....", "", "xxxx.", "....x", "", "") == [])
        #expect(try choice("x...x", "", "xxxx.", "....x", "", "") == [0, 3])
        #expect(try choice("", "", "xxxx.", "", "", "") == [])
        #expect(try choice("", "", "", "xxxxx", "", "") == [])
    }

    @Test func prefersTheAudioWithTheMostPlayableTimeThenTheDefault() throws {
        #expect(try choice("", "", "xxxx.", "xx...", "xxxx.", "") == [2, 4])
        #expect(try choice("", "", "xxxx.", "xxxx.", "xxxx.", "") == [2, 3, 4])
    }

    @Test func listsOtherRenditionsThatCostNoPlayableTime() throws {
        #expect(try choice("", "", "xxxx.", "xxxx.", "xxx..", "xxxxx") == [2, 3, 5])
    }

    @Test func muxedAudioNeedsNoRendition() throws {
        let text = Self.text.replacing(",URI=\"en.m3u8\"", with: "")
        #expect(try choice("", "", "xxxx.", "", "", text: text) == [2])
    }
}
