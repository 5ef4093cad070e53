import HLS
import HTTPMessage
import Testing

@testable import Assets

/// The hosts of the lines of a playlist at http://a/x/media.m3u8.
@Suite struct MediaHostsTests {
    private func hosts(_ lines: String) throws -> MediaHosts {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-VERSION:7\n\(lines)\n#EXT-X-ENDLIST\n"
        guard case .media(let playlist) = try Playlist.parse(Array(text.utf8)) else { throw Unusable() }
        return MediaHosts(Rendition.Source(playlist: playlist, base: try WebURL("http://a/x/media.m3u8")))
    }

    private struct Unusable: Error {}

    private func segments(_ uris: [String]) -> String { uris.map { "#EXTINF:2,\n\($0)" }.joined(separator: "\n") }

    @Test func pathsAreOnThePlaylistsHost() throws {
        let found = try hosts(segments(["1.ts", "/y/2.ts", "../3.ts", "?4"]))
        #expect(found.origins.map(\.description) == ["http://a"])
        #expect((0..<4).allSatisfy { found.origin(ofSegment: $0)?.host == "a" })
    }

    @Test func segmentsSectionsAndKeysHaveHostsOfTheirOwn() throws {
        let found = try hosts(
            """
            #EXT-X-MAP:URI="http://m/init.mp4"
            #EXT-X-KEY:METHOD=AES-128,URI="https://k/1.key"
            \(segments(["1.m4s", "//b:81/2.m4s", "HTTP://B:81/3.m4s", "https://b:81/4.m4s"]))
            """)
        #expect(
            (0..<4).map { found.origin(ofSegment: $0)?.description }
                == ["http://a", "http://b:81", "http://b:81", "https://b:81"])
        #expect(found.origin(ofMap: 0)?.description == "http://m" && found.origin(ofKey: 0)?.description == "https://k")
    }

    @Test func aRangeHasFirstSegmentsOfItsOwn() throws {
        let found = try hosts(segments(["1.ts", "http://b/2.ts", "3.ts", "http://b/4.ts", "http://c/5.ts"]))
        #expect(found.firstSegments == [0, 1, 4])
        #expect(found.firstSegments(in: 2..<5) == [2, 3, 4] && found.firstSegments(in: 5..<5) == [])
        #expect(try hosts(segments(["1.ts", "2.ts"])).firstSegments(in: 1..<2) == [1])
    }

    @Test func foldersThatBeginAtDiscontinuitiesAreInsertions() throws {
        let film = segments(["1.ts", "2.ts"])
        let advertisement = segments(["/ads/1.ts?a=/b/", "/ads/2.ts"])
        let mark = "\n#EXT-X-DISCONTINUITY\n"
        #expect(try hosts([film, advertisement, film].joined(separator: mark)).insertions == [0, 2])
        #expect(try hosts([film, film].joined(separator: mark)).insertions == [])
        // Folders within a part say nothing.
        #expect(try hosts(segments(["a/1.ts", "b/2.ts"])).insertions == [])
        let many = (0..<20).map { segments(["/\($0)/1.ts"]) }.joined(separator: mark)
        #expect(try hosts(many).insertions.count == 8)
    }

    @Test func keysInThePlaylistHaveNoHost() throws {
        let key = "#EXT-X-KEY:METHOD=AES-128,URI=\"data:text/plain;base64,MDEyMzQ1Njc4OWFiY2RlZg==\"\n"
        let found = try hosts(key + segments(["1.ts"]))
        #expect(found.origins.map(\.description) == ["http://a"] && found.origin(ofKey: 0) == nil)
    }

    @Test func hostsWithoutEndAreNotToldApart() throws {
        let found = try hosts(segments((0..<1_000).map { "http://h\($0)/1.ts" }))
        #expect(found.origins.count == 64)
        #expect(found.origin(ofSegment: 0)?.host == "h0" && found.origin(ofSegment: 999) == nil)
    }
}
