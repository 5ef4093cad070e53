import EventLoop
import Foundation
import HTTPMessage
import Playlist
import TestSupport
import Testing

@testable import Fetching
@testable import Library

/// A live origin that begins anew, under the same names and under others.
@Suite @LoopActor struct LiveRestartTests {
    private let fixture: LibraryFixture

    init() async throws { fixture = try await LibraryFixture() }

    private func text(_ numbers: Range<Int>, names: String = "", end: String = "") -> String {
        "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:\(numbers.lowerBound)\n"
            + numbers.map { "#EXTINF:1,\n\(names)\($0).ts\n" }.joined() + end
    }

    /// From now on the origin gives this playlist, and this body for all segments.
    private func give(_ text: String, segments: String) async throws {
        try await fixture.origin.clearRules()
        try await fixture.origin.add(
            OriginRule("/live.m3u8") { ($0.status, $0.body) = (200, text) },
            OriginRule("/*.ts") { ($0.status, $0.body) = (200, segments) })
    }

    private func bytes(_ number: Int, of rendition: Rendition, in asset: Asset) async throws -> String {
        let segments = try #require(rendition.source?.playlist.segments)
        let segment = try #require(segments.first { $0.mediaSequenceNumber == number })
        let resource = try #require(rendition.resource(of: segment))
        #expect(rendition.resource(named: resource.name) == resource)
        let fetch = try fixture.library.fetch(resource, in: rendition.folder, of: asset, urgency: .playback)
        defer { fetch.release() }
        try await fetch.end()
        return String(decoding: fetch.bytes, as: UTF8.self)
    }

    @Test func aRestartUnderTheSameNamesMixesNothing() async throws {
        try await give(text(5..<8), segments: "old")
        let asset = try await fixture.open("/live.m3u8")
        let rendition = try #require(asset.renditions.first)
        let old = try #require(rendition.source.flatMap { rendition.resource(of: $0.playlist.segments[2]) })
        #expect(try await bytes(7, of: rendition, in: asset) == "old")

        try await give(text(0..<3), segments: "new")
        _ = try await fixture.library.playlists.nextSource(of: rendition, in: asset)
        #expect(rendition.source?.playlist.firstSequenceNumber == 5, "an old text is not shown")
        try await give(text(1..<4), segments: "new")
        _ = try await fixture.library.playlists.nextSource(of: rendition, in: asset)
        try await give(text(5..<8), segments: "new")
        _ = try await fixture.library.playlists.nextSource(of: rendition, in: asset)
        #expect(try await bytes(7, of: rendition, in: asset) == "new")
        let new = try #require(rendition.source.flatMap { rendition.resource(of: $0.playlist.segments[2]) })
        #expect(new.url == old.url && new.name != old.name)
        #expect(rendition.resource(named: old.name) == old, "players may ask for it for a while")
    }

    @Test func aListUnderOtherNamesIsShownAfterTwoLoads() async throws {
        try await give(text(5..<8), segments: "old")
        let asset = try await fixture.open("/live.m3u8")
        let rendition = try #require(asset.renditions.first)
        for end in 3...4 {
            try await give(text(0..<end, names: "b"), segments: "new")
            _ = try await fixture.library.playlists.nextSource(of: rendition, in: asset)
        }
        let again = try await fixture.open("/live.m3u8")
        #expect(again === asset && rendition.source?.playlist.segments.first?.uri == "b0.ts")
        #expect(try await bytes(3, of: rendition, in: asset) == "new")
    }

    @Test func anotherBroadcastBeginsAfterTheEnd() async throws {
        let master = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=100000\nlive.m3u8\n"
        try await give(text(5..<8), segments: "old")
        try await fixture.origin.add(OriginRule("/master.m3u8") { ($0.status, $0.body) = (200, master) })
        let asset = try await fixture.open("/master.m3u8")
        let rendition = try #require(asset.renditions.first)
        _ = try await fixture.library.playlists.source(of: rendition, in: asset)
        let last = try #require(rendition.source.flatMap { rendition.resource(of: $0.playlist.segments[2]) })
        try await give(text(5..<8, end: "#EXT-X-ENDLIST\n"), segments: "old")
        _ = try await fixture.library.playlists.nextSource(of: rendition, in: asset)
        #expect(!rendition.isLive)

        try await give(text(0..<3), segments: "new")
        let new = try await fixture.library.playlists.nextSource(of: rendition, in: asset)
        #expect(new.playlist.isLive && rendition.isLive)
        #expect(try await bytes(0, of: rendition, in: asset) == "new")
        #expect(rendition.resource(named: last.name) == last, "players of the first one may ask for its last segment")
        let names = new.playlist.segments.map { rendition.name(of: $0).description }
        #expect(names == ["8.ts", "9.ts", "10.ts"], "not the names of the first one")
    }
}
