import EventLoop
import TestSupport
import Testing

@testable import Playback

/// Playlists that are loaded before libavformat asks for them.
@Suite @LoopActor struct PlaylistsAheadTests {
    private static let libavformat = ["User-Agent": "Lavf/59.27.100"]

    /// A playlist of so many variants with one and the same content, each at a URL of its own.
    private static func master(_ count: Int) -> String {
        "#EXTM3U\n" + (0..<count).map { "#EXT-X-STREAM-INF:BANDWIDTH=\($0 + 1)00000\n90p/media.m3u8?\($0)\n" }.joined()
    }

    /// The variants whose playlists the origin was asked for, in order of their numbers.
    private func requested(_ fixture: PlaybackFixture) async throws -> [Int] {
        try await fixture.origin.requests().compactMap { request in
            request.path.contains("media.m3u8") ? Int(request.path.split(separator: "?").last ?? "") : nil
        }.sorted()
    }

    private func fixture(variants: Int) async throws -> PlaybackFixture {
        let fixture = try await PlaybackFixture()
        let entry = Self.master(variants)
        try await fixture.origin.add(OriginRule("/ts/master.m3u8") { ($0.status, $0.body) = (200, entry) })
        return fixture
    }

    @Test(arguments: ["Lavf/59.27.100", "libmpv"])
    func aPlayerThatLoadsAllFindsTheNextOnesLoaded(_ client: String) async throws {
        let fixture = try await fixture(variants: 8)
        let fields = ["User-Agent": client]
        let entry = try await fixture.get(fixture.typed("/ts/master.m3u8"), fields)
        let paths = PlaybackFixture.paths(in: entry.text)
        #expect(paths.count == 8)
        try await waitUntil("the first ones") { try await requested(fixture) == [0, 1, 2] }
        for (place, path) in paths.enumerated() {
            let answer = try await fixture.get(path, fields)
            #expect(answer.status == 200 && answer.text.contains("#EXT-X-ENDLIST"))
            let loaded = Array(0..<min(place + 4, 8))
            try await waitUntil("the next ones") { try await requested(fixture) == loaded }
        }
    }

    @Test func theNextPlaylistsAreAskedForBeforeTheFirstHasCome() async throws {
        let fixture = try await fixture(variants: 3)
        try await fixture.origin.add(OriginRule("*media.m3u8?*") { $0.hold = true })
        _ = try await fixture.get(fixture.typed("/ts/master.m3u8"), Self.libavformat)
        try await waitUntil("all requests") { try await requested(fixture) == [0, 1, 2] }
        try await fixture.origin.release()
    }

    @Test(arguments: ["VLC/3.0.23 LibVLC/3.0.23", "Mozilla/5.0"])
    func aPlayerThatChoosesOneCausesNoOtherRequest(_ client: String) async throws {
        let fixture = try await fixture(variants: 3)
        let fields = ["User-Agent": client]
        let entry = try await fixture.get(fixture.typed("/ts/master.m3u8"), fields)
        let answer = try await fixture.get(PlaybackFixture.paths(in: entry.text)[1], fields)
        #expect(answer.status == 200)
        // What is loaded ahead is asked for before the answer to the next request.
        _ = try await fixture.get(PlaybackFixture.paths(in: answer.text)[0], fields)
        #expect(try await requested(fixture) == [1])
    }

    @Test func aPlaylistThatIsMissingIsMissingForItsPlayerAlone() async throws {
        let fixture = try await fixture(variants: 3)
        try await fixture.origin.add(OriginRule("*media.m3u8?1") { $0.status = 404 })
        let entry = try await fixture.get(fixture.typed("/ts/master.m3u8"), Self.libavformat)
        var statuses: [Int] = []
        for path in PlaybackFixture.paths(in: entry.text) {
            statuses.append(try await fixture.get(path, Self.libavformat).status)
        }
        #expect(statuses == [200, 404, 200])
    }
}
