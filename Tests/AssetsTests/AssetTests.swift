import EventLoop
import HLS
import HTTPMessage
import Store
import TestSupport
import Testing

@testable import Assets
@testable import Fetching

@Suite @LoopActor struct AssetTests {
    private func multivariant(_ lines: String...) throws -> MultivariantPlaylist {
        let text = (["#EXTM3U"] + lines).joined(separator: "\n") + "\n"
        guard case .multivariant(let playlist) = try Playlist.parse(Array(text.utf8)) else {
            throw TimedOut("a multivariant playlist")
        }
        return playlist
    }

    @Test func aRefreshKeepsTheStateOfRenditions() throws {
        let asset = try RenditionFixture().asset
        asset.adopt(
            try multivariant("#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=1x90", "a?token=1"), base: asset.origin)
        let rendition = try #require(asset.rendition("video-90p"))
        let fresh = try multivariant("#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=1x90", "a?token=2")
        asset.adopt(fresh, base: asset.origin)
        #expect(asset.rendition("video-90p") === rendition)
        #expect(asset.urls(of: rendition).map(\.text) == ["http://o/a/a?token=2"])
    }

    @Test func mirrorsShareTheNameOfTheFirst() throws {
        let asset = try RenditionFixture().asset
        let same = "#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=1280x720"
        let text = "#EXTM3U\n\(same)\na\n\(same)\n//b.example/a\n\(same.replacing("=1,", with: "=2,"))\nc\n"
        guard case .multivariant(let playlist) = try Playlist.parse(Array(text.utf8)) else { return }
        asset.adopt(playlist, base: asset.origin)
        #expect(asset.renditions.map(\.name.id) == ["video-720p", "video-720p-3"])
        #expect(asset.rendition("video-720p-2") === asset.renditions[0])
        #expect(asset.urls(of: asset.renditions[0]).map(\.text) == ["http://o/a/a", "http://b.example/a"])
        #expect(asset.rendition(reportedAs: "//b.example/a", base: asset.origin) === asset.renditions[0])
    }

    @Test func aMediaPlaylistAsEntryIsTheOnlyRendition() throws {
        let asset = try RenditionFixture().asset
        asset.adopt(
            try multivariant("#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=1x90", "a"), base: asset.origin)
        let former = try #require(asset.rendition("video-90p"))
        asset.adopt(try RenditionFixture.source("#EXTINF:2,\n0.ts\n#EXT-X-ENDLIST", base: "http://o/a/m.m3u8"))
        #expect(asset.renditions.map(\.name.id) == ["media"])
        #expect(asset.rendition("video-90p") == nil)
        #expect(former.source == nil)
        #expect(asset.duration == 2)
    }

    @Test func sessionKeysGetNumbersFromTheEntryPlaylist() throws {
        let asset = try RenditionFixture().asset
        asset.adopt(
            try multivariant(
                "#EXT-X-SESSION-KEY:METHOD=AES-128,URI=\"k\"", "#EXT-X-STREAM-INF:BANDWIDTH=1", "a"),
            base: asset.origin)
        #expect(asset.keys.resource(0)?.url.text == "http://o/a/k")
        #expect(!asset.keys.isSaved(0))
        #expect(asset.keys.unsaved(of: "a-id").map(\.number) == [0])
    }

    @Test func keysKeepTheirNumbersDespiteGaps() throws {
        let ring = try RenditionFixture().asset.keys
        ring.restore(try .init("http://o/k5"), number: 5)
        ring.restore(try .init("http://o/k2"), number: 2)
        #expect(ring.number(for: try .init("http://o/k5")) == 5)
        #expect(ring.resource(0) == nil)
        #expect(ring.add(try .init("http://o/new")) == 6)
        #expect(ring.isSaved(5) && !ring.isSaved(6))
    }
}
