import Testing

@testable import HLS

@Suite("The initial variant")
struct InitialChoiceTests {
    private static func playlist(_ lines: String) throws -> MultivariantPlaylist {
        guard case .multivariant(let playlist) = try Playlist.parse(Array(lines.utf8)) else {
            throw PlaylistError(.notAPlaylist, "a media playlist")
        }
        return playlist
    }

    private static let ladder = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="en",URI="en.m3u8"
        # low
        #EXT-X-STREAM-INF:BANDWIDTH=1,CODECS="avc1.1,mp4a.40.2",AUDIO="a"
        low.m3u8
        # middle
        #EXT-X-STREAM-INF:BANDWIDTH=2,CODECS="avc1.1,mp4a.40.2",AUDIO="a"

        middle.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=3,CODECS="avc1.1,mp4a.40.2",AUDIO="a"
        high.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=4,CODECS="mp4a.40.2"
        sound.m3u8
        """

    /// Arguments: the stored URIs, and the expected initial variants.
    @Test(
        "is a stored variant of the first one's kind, with its audio",
        arguments: [
            ([], []), (["middle.m3u8"], []), (["en.m3u8"], []), (["middle.m3u8", "en.m3u8"], [1]),
            (["high.m3u8", "middle.m3u8", "en.m3u8"], [1, 2]), (["low.m3u8", "high.m3u8", "en.m3u8"], []),
            (["sound.m3u8"], []), (["sound.m3u8", "high.m3u8", "en.m3u8"], [2]),
        ] as [([String], Set<Int>)])
    func storedVariants(stored: [String], expected: Set<Int>) throws {
        let playlist = try Self.playlist(Self.ladder)
        let indices = Set(stored.compactMap { playlist.renditionURIs.firstIndex(of: $0) })
        #expect(indices.count == stored.count)
        #expect(playlist.initialChoice(of: indices) == expected)
    }

    /// ffmpeg takes the largest picture, which a newer codec may bring at a lower bit rate.
    @Test(
        "is not the highest if another one has a larger picture",
        arguments: [("1920x1080", true), ("3840x2160", false)])
    func largerPicture(resolution: String, isHighest: Bool) throws {
        let playlist = try Self.playlist(
            """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=8,RESOLUTION=1920x1080
            old.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=7,RESOLUTION=\(resolution)
            new.m3u8
            """)
        let index = try #require(playlist.renditionURIs.firstIndex(of: "old.m3u8"))
        #expect(playlist.isHighestComplete(renditions: [index]) == isHighest)
    }

    /// Arguments: the stored URIs, true if the highest variant is complete, and the URIs of the stored variants with all media.
    @Test(
        "may be the highest alone, with all audio",
        arguments: [
            ([], false, []), (["high.m3u8"], false, []), (["middle.m3u8", "en.m3u8"], false, ["middle", "en", "fr"]),
            (["sound.m3u8", "low.m3u8"], true, ["sound"]),
            (["sound.m3u8", "high.m3u8", "en.m3u8"], true, ["sound", "high", "en", "fr"]),
        ] as [([String], Bool, Set<String>)])
    func highestVariant(stored: [String], isHighest: Bool, expected: Set<String>) throws {
        let french = "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"fr\",URI=\"fr.m3u8\""
        let playlist = try Self.playlist(Self.ladder + "\n" + french)
        let indices = Set(stored.compactMap { playlist.renditionURIs.firstIndex(of: $0) })
        #expect(playlist.isHighestComplete(renditions: indices) == isHighest)
        let text = try playlist.stored(renditions: indices, listsAllMedia: true) { reference in
            reference.renditionIndex.map { playlist.renditionURIs[$0] }
        }
        let words = String(decoding: text ?? [], as: UTF8.self).split { $0 == "\"" || $0 == "\n" }
        #expect(Set(words.filter { $0.hasSuffix(".m3u8") }.map { String($0.dropLast(5)) }) == expected)
    }

    @Test("is audio-only if the first variant is")
    func audioOnly() throws {
        let playlist = try Self.playlist(
            """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=1,CODECS="mp4a.40.2"
            a.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=2,CODECS="avc1.1,mp4a.40.2"
            b.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=3,CODECS="opus"
            c.m3u8
            """)
        #expect(playlist.initialChoice(of: [1]) == [])
        #expect(playlist.initialChoice(of: [1, 2]) == [2])
    }

    @Test("moves to the front with its tag and its URI")
    func moved() throws {
        let playlist = try Self.playlist(Self.ladder)
        let text = try playlist.rendered(first: [2, 3]) { reference in
            reference.renditionIndex.map { "/\(playlist.renditionURIs[$0])" }
        }
        #expect(
            String(decoding: text, as: UTF8.self) == """
                #EXTM3U
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="en",URI="/en.m3u8"
                # low
                #EXT-X-STREAM-INF:BANDWIDTH=3,CODECS="avc1.1,mp4a.40.2",AUDIO="a"
                /high.m3u8
                # middle
                #EXT-X-STREAM-INF:BANDWIDTH=4,CODECS="mp4a.40.2"
                /sound.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=1,CODECS="avc1.1,mp4a.40.2",AUDIO="a"
                /low.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=2,CODECS="avc1.1,mp4a.40.2",AUDIO="a"
                /middle.m3u8
                """)
    }

    @Test("keeps its URI and loses its pathway")
    func pathway() throws {
        let playlist = try Self.playlist(
            """
            #EXTM3U\r
            #EXT-X-STREAM-INF:BANDWIDTH=1,PATHWAY-ID="x"\r
            a.m3u8\r
            #EXT-X-STREAM-INF:PATHWAY-ID="x",BANDWIDTH=2\r
              b.m3u8 \r

            """)
        let text = try playlist.rendered(first: [1]) { _ in nil }
        #expect(
            String(decoding: text, as: UTF8.self) == """
                #EXTM3U\r
                #EXT-X-STREAM-INF:BANDWIDTH=2\r
                b.m3u8\r
                #EXT-X-STREAM-INF:BANDWIDTH=1\r
                a.m3u8\r

                """)
    }

    @Test("is followed by all other variants in their order, for each choice")
    func permutations() throws {
        let playlist = try Self.playlist(Self.ladder)
        for choice in 0..<16 {
            let first = Set((0..<4).filter { choice >> $0 & 1 == 1 })
            let text = try playlist.rendered(first: first) { _ in nil }
            guard case .multivariant(let again) = try Playlist.parse(text) else { return }
            let expected = (0..<4).filter(first.contains) + (0..<4).filter { !first.contains($0) }
            #expect(again.variants.map(\.uri) == expected.map { playlist.variants[$0].uri })
            #expect(again.variants.map(\.bandwidth) == expected.map { playlist.variants[$0].bandwidth })
        }
    }
}
