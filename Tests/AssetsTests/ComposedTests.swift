import EventLoop
import HLS
import HTTPMessage
import TestRooms
import TestSupport
import Testing

@testable import Assets

/// One asset of a video playlist and an audio playlist.
@Suite @LoopActor struct ComposedTests {
    private nonisolated static let pairs = [
        ("/cmaf/video-90p/media.m3u8", "/cmaf/audio-en/media.m3u8"), ("/ts/90p/media.m3u8", "/audio/low/media.m3u8"),
    ]

    private func open(_ fixture: TestHouse, _ one: String, _ other: String) async throws -> Asset {
        let urls = try [one, other].map { try WebURL(fixture.origin.url($0)) }
        return try await fixture.library.open(video: urls[0], audio: urls[1], fields: nil, cookies: [])
    }

    @Test(arguments: pairs, [false, true])
    func theMediaShowsWhichPlaylistHasVideo(pair: (video: String, audio: String), isReversed: Bool) async throws {
        let fixture = try await TestHouse()
        let (one, other) = isReversed ? (pair.audio, pair.video) : (pair.video, pair.audio)
        let asset = try await open(fixture, one, other)
        #expect(asset.origin.text == fixture.origin.url(one))
        #expect(asset.multivariant?.variants.map(\.uri) == [fixture.origin.url(pair.video)])
        #expect(asset.multivariant?.media.map(\.uri) == [fixture.origin.url(pair.audio)])
        // Opening it again asks for no media.
        try await fixture.origin.clearRequests()
        #expect(try await open(fixture, one, other) === asset)
        #expect(try await fixture.library.playlists.refresh(asset) == .answered)
        #expect(try await fixture.mediaRequests().isEmpty && asset.isComposed)

        for rendition in asset.renditions {
            try await fixture.fetch(rendition.name.id, of: asset)
        }
        #expect(asset.content.isEverythingComplete)
        try await fixture.restart(.offline)
        let stored = try #require(fixture.library.asset(at: WebURL(fixture.origin.url(one))))
        #expect(stored.isPlayableOffline && stored.content.completeRenditions == [0, 1] && stored.isComposed)
    }

    @Test func theOrderStaysWhereTheMediaCannotBeHad() async throws {
        let fixture = try await TestHouse()
        try await fixture.origin.add(OriginRule("*.mp4") { $0.status = 404 })
        let asset = try await open(fixture, Self.pairs[0].1, Self.pairs[0].0)
        #expect(asset.multivariant?.variants.map(\.uri) == [fixture.origin.url(Self.pairs[0].1)])
    }
}
