import Testing

@testable import HLS

@Suite("A folded playlist")
struct MirrorFoldTests {
    private func folded(_ lines: String) throws -> MultivariantPlaylist {
        let playlist = try Fixtures.multivariant("#EXTM3U\n" + lines)
        return playlist.folded(playlist.mirrors)
    }

    private func view(_ playlist: MultivariantPlaylist) throws -> String {
        String(decoding: try playlist.rendered { $0.renditionIndex.map { "\($0)" } }, as: UTF8.self)
    }

    private static func pathway(_ name: String, more: String = "") -> String {
        """
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio-\(name)",NAME="English",LANGUAGE="en",URI="\(name)/en"
        #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="cc-\(name)",NAME="CC",INSTREAM-ID="CC1"
        \(more)#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="audio-\(name)",CLOSED-CAPTIONS="cc-\(name)",PATHWAY-ID="\(name)"
        \(name)/v
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=9,URI="\(name)/i",PATHWAY-ID="\(name)"

        """
    }

    @Test("lists the first mirror of each set, without the groups of the others")
    func pathways() throws {
        let text = "#EXT-X-CONTENT-STEERING:SERVER-URI=\"s\"\n" + Self.pathway("A") + Self.pathway("B")
        let playlist = try folded(text)
        #expect(playlist.renditionURIs == ["A/en", "A/v", "A/i"])
        #expect(
            (0..<3).map { playlist.uris(ofRendition: $0) } == [["A/en", "B/en"], ["A/v", "B/v"], ["A/i", "B/i"]])
        #expect(
            try view(playlist) == """
                #EXTM3U
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio-A",NAME="English",LANGUAGE="en",URI="0"
                #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="cc-A",NAME="CC",INSTREAM-ID="CC1"
                #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="audio-A",CLOSED-CAPTIONS="cc-A"
                1
                #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=9,URI="2"

                """)
        #expect(String(decoding: playlist.text.write(), as: UTF8.self) == "#EXTM3U\n" + text)
    }

    @Test("keeps all lines if there are no mirrors")
    func none() throws {
        let text = Self.pathway("A")
        let playlist = try folded(text)
        #expect(playlist.renditionURIs == ["A/en", "A/v", "A/i"])
        #expect(playlist.uris(ofRendition: 1) == ["A/v"])
        #expect(try view(playlist) == view(Fixtures.multivariant("#EXTM3U\n" + text)))
    }

    @Test("keeps variants of a single pathway, with the renditions of the first")
    func more() throws {
        let large = "#EXT-X-STREAM-INF:BANDWIDTH=2,AUDIO=\"audio-B\",PATHWAY-ID=\"B\"\nB/large\n"
        let playlist = try folded(Self.pathway("A") + Self.pathway("B", more: large))
        #expect(playlist.variants.map(\.renditionIndex) == [1, 3])
        #expect(playlist.variants.map(\.index) == [0, 1])
        #expect(playlist.media.map(\.renditionIndex) == [0, nil, 0])
        #expect(playlist.media.map(\.groupID) == ["audio-A", "cc-A", "audio-B"])
        #expect(playlist.renditionURIs == ["A/en", "A/v", "A/i", "B/large"])
        #expect(try view(playlist).contains("AUDIO=\"audio-B\"\n3\n"))
    }

    @Test("keeps a variant with a language that its mirror lacks")
    func uncovered() throws {
        func text(_ german: String) -> String {
            """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",STABLE-RENDITION-ID="en",URI="1/en"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="English",STABLE-RENDITION-ID="en",URI="2/en"
            \(german)#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a",STABLE-VARIANT-ID="v"
            1/v
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="b",STABLE-VARIANT-ID="v"
            2/v

            """
        }
        #expect(try folded(text("")).variants.count == 1)
        let german = "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"b\",NAME=\"Deutsch\",STABLE-RENDITION-ID=\"de\",URI=\"2/de\"\n"
        let playlist = try folded(text(german))
        #expect(playlist.variants.map(\.renditionIndex) == [2, 2])
        #expect(playlist.uris(ofRendition: 2) == ["1/v", "2/v"])
        #expect(playlist.media.map(\.renditionIndex) == [0, 0, 1])
    }

    @Test("keeps variants with equal stable id and URI, because their audio differs")
    func groups() throws {
        let playlist = try folded(
            """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="low",NAME="English",URI="low"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="high",NAME="English",URI="high"
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="low",STABLE-VARIANT-ID="v"
            v
            #EXT-X-STREAM-INF:BANDWIDTH=2,AUDIO="high",STABLE-VARIANT-ID="v"
            v

            """)
        #expect(playlist.variants.count == 2 && playlist.renditionURIs == ["low", "high", "v"])
    }

    @Test("lists the stored renditions in the offline view")
    func stored() throws {
        let playlist = try folded(Self.pathway("A") + Self.pathway("B"))
        let text = try #require(try playlist.stored(renditions: [0, 1]) { $0.renditionIndex.map { "\($0)" } })
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
        #expect(lines.count { $0.hasPrefix("#EXT-X-MEDIA") } == 2)
        #expect(lines.suffix(1) == ["1"])
    }
}
