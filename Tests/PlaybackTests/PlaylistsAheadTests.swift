import EventLoop
import TestRooms
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
    private func requested(_ fixture: TestHouse) async throws -> [Int] {
        try await fixture.origin.requests().compactMap { request in
            request.path.contains("media.m3u8") ? Int(request.path.split(separator: "?").last ?? "") : nil
        }.sorted()
    }

    private func fixture(variants: Int) async throws -> TestHouse {
        let fixture = try await TestHouse(.playback())
        let entry = Self.master(variants)
        try await fixture.origin.add(OriginRule("/ts/master.m3u8") { ($0.status, $0.body) = (200, entry) })
        return fixture
    }

    @Test(arguments: ["Lavf/59.27.100", "libmpv"])
    func aPlayerThatLoadsAllFindsThemLoaded(_ client: String) async throws {
        let fixture = try await fixture(variants: 30)
        let fields = ["User-Agent": client]
        let entry = try await fixture.get(fixture.typed("/ts/master.m3u8"), fields)
        let paths = PlaylistText.paths(in: entry.text, at: "/")
        #expect(paths.count == 30)
        // The rest waits for the player.
        try await waitUntil("the first ones") { try await requested(fixture) == Array(0..<24) }
        for path in paths {
            let answer = try await fixture.get(path, fields)
            #expect(answer.status == 200 && answer.text.contains("#EXT-X-ENDLIST"))
        }
        #expect(try await requested(fixture) == Array(0..<30))
    }

    @Test func threeAreLoadedAtATime() async throws {
        let fixture = try await fixture(variants: 8)
        try await fixture.origin.add(OriginRule("*media.m3u8?*") { $0.hold = true })
        _ = try await fixture.get(fixture.typed("/ts/master.m3u8"), Self.libavformat)
        for count in [3, 6, 8] {
            try await waitUntil("requests") { try await requested(fixture) == Array(0..<count) }
            try await fixture.origin.release()
        }
    }

    @Test func whatAnEntryDoesNotListIsNotLoaded() async throws {
        let fixture = try await fixture(variants: 3)
        let listed = try await fixture.paths(at: fixture.typed("/ts/master.m3u8"))
        let pieces = try await fixture.paths(at: listed[1])
        for piece in pieces {
            #expect(try await fixture.get(piece).status == 200)
        }
        for entry in ["/ts.m3u8", "/local/ts.m3u8", "/local" + fixture.typed("/ts/master.m3u8")] {
            try await waitUntil("the stored variant alone") {
                let entry = try await fixture.get(entry, Self.libavformat)
                return PlaylistText.paths(in: entry.text, at: "/").count == 1
            }
            let paths = try await fixture.paths(at: entry, Self.libavformat)
            #expect(try await fixture.get(paths[0], Self.libavformat).status == 200)
            #expect(try await fixture.get(pieces[0], Self.libavformat).status == 200)
        }
        #expect(try await requested(fixture) == [1])
    }

    @Test func subtitlesAreNotLoaded() async throws {
        let fixture = try await TestHouse(.playback())
        let entry = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="de",LANGUAGE="de",URI="90p/media.m3u8?7"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="de",LANGUAGE="de",URI="90p/media.m3u8?8"
            #EXT-X-STREAM-INF:BANDWIDTH=100000,SUBTITLES="s",AUDIO="a"
            90p/media.m3u8?9

            """
        try await fixture.origin.add(OriginRule("/ts/master.m3u8") { ($0.status, $0.body) = (200, entry) })
        let paths = try await fixture.paths(at: fixture.typed("/ts/master.m3u8"), Self.libavformat)
        #expect(paths.count == 3)
        try await waitUntil("sound and video") { try await requested(fixture) == [8, 9] }
        #expect(try await fixture.get(paths[2], Self.libavformat).status == 200)
        #expect(try await requested(fixture) == [8, 9])
    }

    @Test(arguments: ["VLC/3.0.23 LibVLC/3.0.23", "Mozilla/5.0"])
    func aPlayerThatChoosesOneCausesNoOtherRequest(_ client: String) async throws {
        let fixture = try await fixture(variants: 3)
        let fields = ["User-Agent": client]
        let entry = try await fixture.get(fixture.typed("/ts/master.m3u8"), fields)
        let media = PlaylistText.paths(in: entry.text, at: "/")[1]
        let answer = try await fixture.get(media, fields)
        #expect(answer.status == 200)
        // The segment comes from the origin: a request that Weir made by itself would have arrived before.
        _ = try await fixture.get(PlaylistText.paths(in: answer.text, at: media)[0], fields)
        #expect(try await requested(fixture) == [1])
    }

    @Test func aPlaylistThatIsMissingIsMissingForItsPlayerAlone() async throws {
        let fixture = try await fixture(variants: 3)
        try await fixture.origin.add(OriginRule("*media.m3u8?1") { $0.status = 404 })
        let entry = try await fixture.get(fixture.typed("/ts/master.m3u8"), Self.libavformat)
        var statuses: [Int] = []
        for path in PlaylistText.paths(in: entry.text, at: "/") {
            statuses.append(try await fixture.get(path, Self.libavformat).status)
        }
        #expect(statuses == [200, 404, 200])
    }
}
