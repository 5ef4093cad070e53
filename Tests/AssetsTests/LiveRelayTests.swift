import EventLoop
import Foundation
import HLS
import HTTPMessage
import Store
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching

/// A low-latency live playlist whose texts are given one by one, at one origin that holds responses back.
@LoopActor private struct LiveFixture {
    let house: TestHouse
    let asset: Asset
    let rendition: Rendition

    static let path = "/live.m3u8?token=a"

    /// Segments 0 to 7 and the first part of the next.
    static func text(first: Int = 0, end: Int = 8, _ more: String = "") -> String {
        let segments = (first..<end).map { "#EXTINF:1,\n\($0).m4s\n" }.joined()
        return """
            #EXTM3U
            #EXT-X-TARGETDURATION:1
            #EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=6,PART-HOLD-BACK=1
            #EXT-X-PART-INF:PART-TARGET=0.5
            #EXT-X-MEDIA-SEQUENCE:\(first)
            #EXT-X-MAP:URI="init.mp4"
            \(segments)#EXT-X-PART:DURATION=0.5,URI="\(end).0.m4s"
            \(more)
            """
    }

    init() async throws {
        house = try await TestHouse()
        try await house.origin.add(OriginRule(Self.path) { ($0.status, $0.body) = (200, Self.text()) })
        asset = try await house.open(Self.path)
        rendition = try #require(asset.renditions.first)
    }

    /// Adds the origin's response to directives; it is held until released.
    func answer(_ directives: String, _ text: String) async throws {
        try await house.origin.add(
            OriginRule(Self.path + "&" + directives) { ($0.status, $0.body, $0.hold) = (200, text, true) })
    }

    /// Loads the playlist as a player does.
    func ask(_ directives: String) async throws -> Rendition.Source {
        try await house.library.playlists.source(
            of: rendition, in: asset, DeliveryDirectives.split(directives).0)
    }

    func requests(_ directives: String) async throws -> Int {
        try await house.origin.requests(for: Self.path + (directives.isEmpty ? "" : "&" + directives)).count
    }
}

@Suite @LoopActor struct LiveRelayTests {
    /// With the directives of a player from whom the URL was copied, the origin would answer with a delta update, or wait.
    @Test func aURLWithDirectivesIsOpenedWithoutThem() async throws {
        let fixture = try await LiveFixture()
        let count = try await fixture.house.origin.requests().count
        let asset = try await fixture.house.open(LiveFixture.path + "&_HLS_msn=9&_HLS_part=x&_HLS_skip=YES")
        #expect(asset === fixture.asset)
        #expect(asset.origin.query == "token=a")
        #expect(try await fixture.house.origin.requests().count == count)
    }

    @Test func equalBlockingReloadsShareOneRequest() async throws {
        let fixture = try await LiveFixture()
        let directives = "_HLS_msn=8&_HLS_part=1"
        let next = LiveFixture.text("#EXT-X-PART:DURATION=0.5,URI=\"8.1.m4s\"")
        try await fixture.answer(directives, next)
        let players = (0..<10).map { _ in Task { @LoopActor in try await fixture.ask(directives) } }
        try await waitUntil("the request") { try await fixture.house.origin.load().paused == 1 }
        try await fixture.house.origin.release()
        for player in players {
            #expect(try await player.value.playlist.parts.count == 2)
        }
        #expect(try await fixture.requests(directives) == 1)
        // The full response becomes the current playlist, so a request for an older state needs no fetch.
        #expect(fixture.rendition.source?.playlist.parts.count == 2)
        #expect(try await fixture.ask("_HLS_msn=8&_HLS_part=0").playlist.parts.count == 2)
        #expect(try await fixture.requests("_HLS_msn=8&_HLS_part=0") == 0)
    }

    @Test func aDeltaUpdateIsForwardedAndNotAdopted() async throws {
        let fixture = try await LiveFixture()
        let directives = "_HLS_msn=8&_HLS_skip=YES"
        let delta = """
            #EXTM3U
            #EXT-X-TARGETDURATION:1
            #EXT-X-MEDIA-SEQUENCE:1
            #EXT-X-SKIP:SKIPPED-SEGMENTS=6
            #EXTINF:1,
            7.m4s
            #EXTINF:1,
            8.m4s
            """
        try await fixture.answer(directives, delta)
        let player = Task { @LoopActor in try await fixture.ask(directives) }
        try await waitUntil("the request") { try await fixture.house.origin.load().paused == 1 }
        try await fixture.house.origin.release()
        #expect(try await player.value.playlist.isDeltaUpdate)
        #expect(fixture.rendition.source?.playlist.segments.count == 8)
        #expect(fixture.rendition.resource(named: try #require(PieceName("8.m4s")))?.url.path == "/8.m4s")
        // A player that comes a moment later gets the same response; a request without a skip gets the full text.
        #expect(try await fixture.ask(directives).playlist.isDeltaUpdate)
        #expect(try await fixture.requests(directives) == 1)
        #expect(try await !fixture.ask("").playlist.isDeltaUpdate)
        #expect(!fixture.house.folder.files().contains { $0.hasPrefix("assets/") })
        try await fixture.house.restart()
        #expect(fixture.house.library.assets.isEmpty)
    }

    @Test func theOriginsRefusalIsForwarded() async throws {
        let fixture = try await LiveFixture()
        for (number, status) in [(99, 400), (8, 503), (9, 404)] {
            try await fixture.house.origin.add(
                OriginRule("*_HLS_msn=\(number)*") { $0.status = status })
            let result = await Task { @LoopActor in try await fixture.ask("_HLS_msn=\(number)") }.result
            #expect(throws: LibraryError.self) { try result.get() }
            if case .failure(let error as LibraryError) = result {
                #expect(error.originStatus == status)
            }
        }
    }

    @Test func aPlaylistStaysWhileTheOriginIsAbsent() async throws {
        let fixture = try await LiveFixture()
        let library = fixture.house.library
        let reloaded = { @LoopActor () async throws -> Int in
            try await library.playlists.source(of: fixture.rendition, in: fixture.asset).playlist.segments.count
        }
        // Loads until the next reload is due.
        try await waitUntil("a reload") { @LoopActor in
            #expect(try await reloaded() == 8)
            return try await fixture.requests("") == 2
        }
        try await fixture.house.origin.stop()
        for _ in 0..<3 {
            #expect(try await reloaded() == 8)
        }
        try await fixture.house.origin.restart()
        let next = LiveFixture.text(end: 9)
        try await fixture.house.origin.add(OriginRule(LiveFixture.path) { ($0.status, $0.body) = (200, next) })
        try await waitUntil("what is new") { @LoopActor in try await reloaded() == 9 }
        // A missing segment is reported at once.
        try await fixture.house.origin.clearRules()
        try await waitUntil("404") { @LoopActor in await code { _ = try await reloaded() } == .badOrigin }
    }

    @Test func anEndedStreamIsStoredWithItsListedSegmentsOnly() async throws {
        let fixture = try await LiveFixture()
        let origin = fixture.house.origin
        try await origin.add(OriginRule("*.m4s") { ($0.status, $0.body) = (200, OriginRule.media("media")) })
        let before = try fixture.house.fetch(1, of: fixture.rendition, in: fixture.asset)
        try await before.end()
        before.release()
        #expect(!before.isPiece)

        try await origin.clearRules()
        let last = LiveFixture.text(first: 2, "#EXT-X-ENDLIST")
        try await origin.add(
            OriginRule("*.m4s") { ($0.status, $0.body) = (200, OriginRule.media("media")) },
            OriginRule("/live.m3u8*") { ($0.status, $0.body) = (200, last) })
        try await waitUntil("the end") { @LoopActor in
            try await fixture.house.library.playlists.source(of: fixture.rendition, in: fixture.asset).isDurable
        }
        // Playback stores nothing of the end of a window: the stream may go on.
        let listed = try fixture.house.fetch(3, of: fixture.rendition, in: fixture.asset, urgency: .background)
        try await listed.end()
        listed.release()
        #expect(listed.isPiece)
        // A player that lags behind still gets segments and parts that left the window. None of them is stored.
        for name in ["0.m4s", "live-1.m4s"] {
            let resource = try #require(PieceName(name).flatMap { fixture.rendition.resource(named: $0) }, "\(name)")
            let fetch = try fixture.house.library.fetch(
                resource, in: fixture.rendition.folder, of: fixture.asset, urgency: .playback)
            try await fetch.end()
            fetch.release()
            #expect(!fetch.isPiece && fetch.keepFailure == nil)
        }
        #expect(fixture.rendition.folder.sizes.keys.sorted() == ["3.m4s"])
    }
}
