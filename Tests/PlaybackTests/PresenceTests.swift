import Assets
import EventLoop
import Foundation
import Orders
import TestRooms
import TestSupport
import Testing

@testable import Playback

/// Playback with a present origin, an absent origin, and offline.
@Suite @LoopActor struct PresenceTests {
    /// Plays the entry's first rendition completely.
    private func watch(_ fixture: TestHouse, _ entry: String) async throws {
        for path in try await fixture.media(entry) {
            #expect(try await fixture.get(path).status == 200)
        }
    }

    @Test func watchedMediaPlaysWithoutTheOrigin() async throws {
        let fixture = try await TestHouse(.playback())
        try await watch(fixture, fixture.typed("/audio/master.m3u8"))
        let online = try await fixture.entry(fixture.typed("/audio/master.m3u8"))
        #expect(online.count == 2)
        try await fixture.stopOrigin()
        for entry in ["/audio.m3u8", "/offline/audio.m3u8", "/local/audio.m3u8"] {
            #expect(try await fixture.entry(entry).count == 1)
            try await watch(fixture, entry)
        }
    }

    @Test func anOfflineSessionMakesNoRequests() async throws {
        let fixture = try await TestHouse(.playback())
        try await watch(fixture, fixture.typed("/audio/master.m3u8"))
        // A complete rendition is compared with the origin's once more.
        try await waitUntil("the comparison") { try await fixture.origin.requests().contains(where: \.isComparison) }
        try await fixture.origin.clearRequests()
        let entry = try await fixture.entry("/offline/audio.m3u8")[0]
        try await watch(fixture, "/offline/audio.m3u8")
        let other = entry.replacing("/audio/", with: "/audio-2/")
        #expect(try await fixture.get(other).status == 404)
        #expect(try await fixture.get(other.replacing("media.m3u8", with: "0.aac")).status == 404)
        let id = try #require(fixture.library.asset(named: "audio")).id
        try FileManager.default.removeItem(atPath: fixture.folder.path("assets/\(id)/audio/0.aac"))
        #expect(try await fixture.get(entry.replacing("media.m3u8", with: "0.aac")).status == 404)
        #expect(try await fixture.origin.requests().isEmpty)
    }

    @Test func aChangeOfQualityWaitsForNoComparison() async throws {
        let fixture = try await TestHouse(.playback())
        let entry = fixture.typed("/ts/master.m3u8")
        /// Forgets the last comparison, and loads a playlist. Returns what the origin is asked for.
        func requests(_ playlist: String) async throws -> [String] {
            fixture.library.mode = .local
            fixture.library.mode = .auto
            try await fixture.origin.clearRequests()
            #expect(try await fixture.get(playlist).status == 200)
            return try await fixture.origin.requests().map(\.path)
        }
        try await fixture.play("ts", [("video-90p", [0])])
        // Another session, before it has media: the content is compared.
        let playlists = try await fixture.entry(entry)
        #expect(try await Set(requests(playlists[1])) == ["/ts/90p/0.ts", "/ts/180p/media.m3u8"])
        let first = try #require(try await fixture.paths(at: playlists[0]).first)
        #expect(try await fixture.get(first).status == 200)
        #expect(try await requests(playlists[2]) == ["/ts/270p/media.m3u8"])
        // A third session begins.
        let other = try await fixture.entry(entry)
        _ = try await requests(other[2])
        // The answer waits for no comparison, so that this may come after it.
        try await waitUntil("the comparison") {
            let paths = try await fixture.origin.requests().map(\.path)
            return paths.filter { !$0.hasSuffix(".m3u8") } == ["/ts/90p/0.ts"]
        }
    }

    @Test func anAssetWithoutPiecesIsReportedWithTheNextCommand() async throws {
        let fixture = try await TestHouse(.playback())
        _ = try await fixture.entry(fixture.typed("/audio/master.m3u8"))
        let answer = try await fixture.get("/offline/audio.m3u8")
        #expect(answer.status == 404)
        #expect(answer.text.contains("weir get"))
    }

    @Test func aLostPieceIsFetchedAgain() async throws {
        let fixture = try await TestHouse(.playback())
        let path = try await fixture.media(fixture.typed("/ts/master.m3u8"))[0]
        let bytes = try await fixture.get(path).body
        _ = try await fixture.get(path)
        let file = try #require(fixture.folder.files().first { $0.hasSuffix("/0.ts") })
        try FileManager.default.removeItem(atPath: fixture.folder.path(file))
        #expect(try await fixture.get(path).body == bytes)
        #expect(try await fixture.mediaPaths().count == 2)
    }

    @Test func aRemovedAssetIsNotFound() async throws {
        let fixture = try await TestHouse(.playback())
        let path = try await fixture.media(fixture.typed("/ts/master.m3u8"))[0]
        for _ in 0..<3 {
            _ = try await fixture.get(path)
        }
        _ = try await fixture.library.remove(try #require(fixture.library.asset(named: "ts")))
        #expect(try await fixture.get(path).status == 404)
        #expect(try await fixture.get("/ts.m3u8").status == 404)
    }

    // MARK: Live

    @Test func aLiveStreamPlaysAndIsNotStored() async throws {
        let fixture = try await TestHouse(.playback())
        let media = try await fixture.entry(fixture.typed("/_live/a/master.m3u8"))[0]
        let text = try await fixture.get(media).text
        #expect(!text.contains("ENDLIST"))
        let segments = PlaylistText.paths(in: text, at: media)
        #expect(segments.count == 4)
        for path in segments {
            for _ in 0..<2 {
                #expect(try await fixture.get(path).status == 200)
            }
        }
        #expect(try await fixture.mediaPaths().count == 4)
        #expect(!fixture.folder.files().contains { $0.hasSuffix(".ts") })

        try await fixture.origin.advance("a")
        try await waitUntil("the next segment") {
            try await fixture.paths(at: media).last?.hasSuffix("/4.ts") == true
        }
        // A segment that has just left the window is still served.
        #expect(try await fixture.get(segments[0]).status == 200)
    }

    @Test func aLoneLivePlaylistHasStableSegmentNames() async throws {
        let fixture = try await TestHouse(.playback())
        let url = fixture.typed("/_live/a/media.m3u8")
        let first = try await fixture.entry(url)
        try await fixture.origin.advance("a")
        try await waitUntil("the next segment") { try await fixture.entry(url).last?.hasSuffix("/4.ts") == true }
        let second = try await fixture.entry(url)
        #expect(Array(second.dropLast()) == Array(first.dropFirst()))
        #expect(try await fixture.get(second[0]).status == 200)
    }

    @Test func anEndedStreamIsStored() async throws {
        let fixture = try await TestHouse(.playback())
        let media = try await fixture.entry(fixture.typed("/_event/a/master.m3u8"))[0]
        #expect(try await !fixture.get(media).text.contains("ENDLIST"))
        try await fixture.origin.end("a")
        try await waitUntil("the end") { try await fixture.get(media).text.contains("ENDLIST") }
        for path in try await fixture.paths(at: media) {
            #expect(try await fixture.get(path).status == 200)
        }
        #expect(fixture.folder.files().count { $0.hasSuffix(".ts") } == 2)
    }
}
