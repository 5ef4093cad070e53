import Assets
import EventLoop
import Foundation
import HTTPMessage
import Orders
import Retention
import Store
import TestRooms
import TestSupport
import Testing

@testable import Playback

/// Responses to players for expired and renamed assets.
@Suite @LoopActor struct ExpiryTests {
    private let clock = TestClock()
    private let fixture: TestHouse

    init() async throws { fixture = try await TestHouse(.clock(clock), .playback()) }

    private var now: Int64 { clock.date }

    @Test func aWindowBeginsWithTheFirstPieceAndItsEndIsReported() async throws {
        let pieces = try await fixture.media(fixture.typed("/ts/master.m3u8"))
        let asset = try fixture.asset("ts")
        try await fixture.retention.setPolicy(StoragePolicy(afterFirstPlay: 3600), of: asset)
        #expect(asset.life.expiration == nil)
        #expect(try await fixture.get(pieces[0]).status == 200)
        #expect(asset.life.expiration == now + 3600)
        clock.advance(by: 3590)
        #expect(try await fixture.get(pieces[1]).status == 200)
        clock.advance(by: 20)
        // An earlier session plays to its end.
        #expect(try await fixture.get(pieces[2]).status == 200)
        for path in ["/ts.m3u8", "/offline/ts.m3u8", "/auto/ts.m3u8", fixture.typed("/ts/master.m3u8")] {
            let answer = try await fixture.get(path)
            #expect(answer.status == 410 && answer.text.contains("ts has expired"), "\(path): \(answer.text)")
            #expect(answer.text.contains("weir policy ts --after-first-play never"))
        }
        // Names in a session that does not exist or has ended.
        let parts = pieces[3].split(separator: "/", omittingEmptySubsequences: false)
        let stranger = (parts[..<3] + ["azzzzz"] + parts[4...]).joined(separator: "/")
        #expect(try await fixture.get(stranger).status == 410)
        let list = (stranger.split(separator: "/").dropLast() + ["media.m3u8"]).joined(separator: "/")
        #expect(try await fixture.get("/" + list).status == 410)
        try await fixture.retention.setPolicy(StoragePolicy(), of: asset)
        #expect(try await fixture.get("/ts.m3u8").status == 200)
        #expect(try await fixture.get(stranger).status == 200)
    }

    @Test func anExpiryDateAppliesWithoutPlayback() async throws {
        _ = try await fixture.entry(fixture.typed("/ts/master.m3u8"))
        let asset = try fixture.asset("ts")
        try await fixture.retention.setPolicy(StoragePolicy(expires: now + 10), of: asset)
        #expect(try await fixture.get("/ts.m3u8").status == 200)
        clock.advance(by: 10)
        #expect(try await fixture.get("/ts.m3u8").status == 410)
    }

    /// Stored media stands in for an entry that fails, but not beyond its time.
    @Test func anExpiredAssetDoesNotStandInForAnEntryThatFails() async throws {
        let pieces = try await fixture.media(fixture.typed("/ts/master.m3u8"))
        for path in pieces {
            #expect(try await fixture.get(path).status == 200)
        }
        let asset = try fixture.asset("ts")
        try await fixture.retention.setPolicy(StoragePolicy(expires: now + 10), of: asset)
        try await fixture.origin.add(OriginRule("*.m3u8") { $0.status = 500 })
        let entries = ["/ts.m3u8", "/auto/ts.m3u8", fixture.typed("/ts/master.m3u8")]
        for (seconds, status) in [(0.0, 200), (10, 410)] {
            clock.advance(by: seconds)
            for entry in entries {
                #expect(try await fixture.get(entry).status == status, "\(entry)")
            }
        }
    }

    @Test func aNewNameWorksAtOnceAndSessionsContinue() async throws {
        let pieces = try await fixture.media(fixture.typed("/ts/master.m3u8"))
        #expect(try await fixture.get(pieces[0]).status == 200)
        let asset = try fixture.asset("ts")
        try await fixture.library.rename(asset, to: "film")
        #expect(try await fixture.get("/film.m3u8").status == 200)
        #expect(try await fixture.get("/\(asset.id).m3u8").status == 200, "its id lasts")
        #expect(try await fixture.get(pieces[1]).status == 200)
        #expect(try await fixture.get("/ts.m3u8").status == 200)
        clock.advance(by: 3600)
        #expect(try await fixture.get("/ts.m3u8").status == 404)
        #expect(try await fixture.get("/film.m3u8").status == 200)
    }
}
