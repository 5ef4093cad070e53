import EventLoop
import Orders
import Testing

@testable import Downloads

/// Holes of renditions, in the plan.
@Suite @LoopActor struct TrackTests {
    /// Holes as text: `p0`, `3@4.0`.
    private func text(_ track: Plan.Track) -> [String] {
        (track.preliminaries + track.segments).map { hole in
            switch hole.item {
            case .preliminary(let place): "p\(place)"
            case .segment(let place): "\(place)@\(hole.time.lowerBound)"
            }
        }
    }

    @Test func aStoredResourceIsNoHole() throws {
        let stored = try StoredAsset("aes-noiv", "video-90p")
        for path in ["keys/0.key", "keys/2.key", "video-90p/8.ts", "video-90p/12.ts"] {
            try stored.put(path)
        }
        #expect(
            stored.download("video-90p").tracks.map(\.holes).map(text) == [["p1", "0@0.0", "2@4.0", "3@6.0", "4@8.0"]])
    }

    @Test func aKeyOfTwoRenditionsIsOneHole() throws {
        let stored = try StoredAsset("aes", "video-90p", "video-180p")
        let tracks = stored.download("video-90p", "video-180p").tracks.map(\.holes)
        #expect(tracks.map(\.preliminaries.count) == [3, 0])
        #expect(tracks.map(\.segments.count) == [6, 6])
    }

    @Test func aCompleteRenditionHasNoHoles() throws {
        let stored = try StoredAsset("ts", "video-90p")
        for number in 0..<6 {
            try stored.put("video-90p/\(number).ts")
        }
        #expect(stored.download("video-90p").tracks.map(\.holes).map(text) == [[]])
        #expect(stored.download("video-90p").isComplete)
    }

    @Test func aRangeSelectsItsSegmentsAndTheirKeysAndSections() throws {
        let stored = try StoredAsset("aes-noiv", "video-90p")
        // The second key applies from the third segment on.
        #expect(
            stored.download("video-90p", range: MediaRange(1..<4)).tracks.map(\.holes).map(text) == [
                ["p0", "0@0.0", "1@2.0"]
            ])
        #expect(
            stored.download("video-90p", range: MediaRange(4.0..<4.5)).tracks.map(\.holes).map(text) == [
                ["p1", "2@4.0"]
            ])
        let download = stored.download("video-90p", range: MediaRange(4.0..<4.5))
        for path in ["keys/1.key", "video-90p/9.ts"] {
            try stored.put(path)
        }
        #expect(download.isComplete)
        #expect(download.progress.fraction == 1)
        #expect(download.progress.expected.ranges == [4..<6])
        #expect(download.progress.loaded.ranges == [4..<6])
    }

    @Test func byteRangesKeepTheirFiles() throws {
        let stored = try StoredAsset(
            text: """
                #EXTM3U
                #EXT-X-TARGETDURATION:2
                #EXT-X-VERSION:4
                #EXT-X-BYTERANGE:100@0
                #EXTINF:2,
                a.ts
                #EXT-X-BYTERANGE:50
                #EXTINF:2,
                a.ts
                #EXT-X-BYTERANGE:50@0
                #EXTINF:2,
                b.ts
                #EXTINF:2,
                c.ts
                #EXT-X-ENDLIST
                """)
        let parts = stored.download("media").tracks.map(\.holes)[0].segments.map(\.part)
        #expect(parts[0]?.bytes == 0..<100 && parts[1]?.bytes == 100..<150 && parts[2]?.bytes == 0..<50)
        #expect(parts[0]?.file == parts[1]?.file && parts[1]?.file != parts[2]?.file && parts[3] == nil)
    }
}
