import Assets
import EventLoop
import Substitution
import TestRooms
import Testing

@Suite @LoopActor struct SubstitutionsTests {
    @Test func substitutesAreKnownUntilAPlaylistChangesOrTheAssetIsRemoved() async throws {
        let fixture = try await TestHouse()
        let substitutions = fixture.substitutions
        let asset = try await fixture.open("/ts/master.m3u8")
        let rendition = try await fixture.rendition("video-90p", of: asset)
        _ = try await fixture.rendition("video-180p", of: asset)
        weak let first = substitutions.substitutes(of: rendition, in: asset)
        #expect(first != nil && substitutions.substitutes(of: rendition, in: asset) === first)

        _ = try await fixture.rendition("video-270p", of: asset)
        weak let second = substitutions.substitutes(of: rendition, in: asset)
        #expect(first == nil && second != nil)

        _ = try await fixture.library.remove(asset)
        #expect(second == nil)
    }

    @Test func previewsWithOneIDShareNothing() async throws {
        let fixture = try await TestHouse()
        var found: [SegmentSubstitutes] = []
        for _ in 0..<2 {
            let asset = try await fixture.library.preview(fixture.url("/ts/master.m3u8"))
            #expect(asset.id == "ts")
            for rendition in asset.renditions {
                _ = try await fixture.library.playlists.source(of: rendition, in: asset)
            }
            let rendition = try #require(asset.rendition("video-90p"))
            found.append(try #require(fixture.substitutions.substitutes(of: rendition, in: asset)))
        }
        #expect(found[0] !== found[1])
    }
}
