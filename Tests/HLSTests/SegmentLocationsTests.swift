import Testing

@testable import HLS

@Suite("W10: segments that list the same file or range") struct SegmentLocationsTests {
    private func playlist(_ lines: [String]) throws -> MediaPlaylist {
        let text =
            "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:2\n\(lines.joined(separator: "\n"))\n#EXT-X-ENDLIST\n"
        return try Fixtures.media(text)
    }

    private func segments(_ uris: [String]) throws -> MediaPlaylist {
        try playlist(uris.flatMap { ["#EXTINF:2,", $0] })
    }

    @Test("are found by the URI as it is written")
    func repeats() throws {
        let list = try segments(["a.ts", "slate.ts", "b.ts", "slate.ts", "x/slate.ts", "slate.ts"])
        let locations = SegmentLocations(list)
        #expect(locations.hasRepeats)
        #expect((0..<6).map { locations.first(of: $0) } == [nil, 1, nil, 1, nil, 1])
        #expect(locations.others(like: 3) == [1, 5] && locations.others(like: 0) == [])
        #expect(Array(locations.repeats) == [[1, 3, 5]])
    }

    @Test("are equal only with the same range, wherever that is written")
    func ranges() throws {
        let list = try playlist([
            "#EXTINF:2,", "#EXT-X-BYTERANGE:100@0", "f.mp4", "#EXTINF:2,", "#EXT-X-BYTERANGE:100", "f.mp4",
            "#EXTINF:2,", "#EXT-X-BYTERANGE:100@100", "f.mp4", "#EXTINF:2,", "f.mp4",
        ])
        let locations = SegmentLocations(list)
        #expect((0..<4).map { locations.first(of: $0) } == [nil, 1, 1, nil])
    }

    @Test("are no gaps")
    func gaps() throws {
        let list = try playlist(["#EXTINF:2,", "a.ts", "#EXTINF:2,", "#EXT-X-GAP", "a.ts"])
        #expect(!SegmentLocations(list).hasRepeats)
    }

    @Test("are candidates in another playlist by the last component, its query, and the range")
    func candidates() throws {
        let list = try segments(["../s/a.ts?k=1", "../s/a.ts?k=2", "b.ts", "/root/b.ts"])
        let locations = SegmentLocations(list)
        let other = try segments(["/s/a.ts?k=2", "c/b.ts", "a.ts"])
        #expect(other.segments.map { locations.candidates(like: $0) } == [[1], [2, 3], []])
    }

    @Test("are few of many: the first ones and the nearest")
    func many() throws {
        let list = try segments([String](repeating: "x.ts", count: 1_000))
        let locations = SegmentLocations(list)
        #expect(locations.others(like: 500) == [0, 1, 2, 3, 496, 497, 498, 499, 501, 502, 503, 504])
        #expect(locations.others(like: 0) == [1, 2, 3, 4])
        #expect(locations.candidates(like: list.segments[7]) == [0, 1, 2, 3])
    }
}
