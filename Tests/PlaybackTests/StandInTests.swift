import AccessLog
import EventLoop
import Foundation
import Playheads
import SegmentFormat
import TestSupport
import Testing

@testable import Library
@testable import Playback

/// Substitution if the origin fails during a session.
@Suite @LoopActor struct StandInTests {
    @Test func substitutesWhenTheOriginBecomesAbsent() async throws {
        let fixture = try await PlaybackFixture()
        try await fixture.play("ts", [("video-180p", [0, 1, 2, 3, 4, 5])])
        let paths = try await fixture.paths(fixture.typed("/ts/master.m3u8"), "video-270p")
        for place in [0, 1] {
            #expect([UInt8](try await fixture.get(paths[place]).body) == (try Spliced.bytes("ts/270p/\(place).ts")))
        }
        try await fixture.origin.stop()
        for place in [2, 3] {
            let answer = try await fixture.get(paths[place])
            #expect(try answer.status == 200 && [UInt8](answer.body) == Spliced.transport("ts/180p/\(place).ts"))
            #expect(answer["cache-status"]?.hasPrefix("Weir; fwd=uri-miss; detail=\"video-180p stands in\"") == true)
        }
        try await waitUntil("the session's trail") {
            self.trail(fixture).last
                == PieceRun(
                    rendition: "video-270p", first: 2, last: 3, source: .store, substitute: "video-180p")
        }
        #expect(trail(fixture).first == PieceRun(rendition: "video-270p", first: 0, last: 1, source: .origin))
    }

    private func trail(_ fixture: PlaybackFixture) -> [PieceRun] {
        fixture.library.playheads.catchUp()
        return fixture.playback.sessions.summaries.last?.pieces ?? []
    }

    @Test func substitutesASegmentThatTheOriginRefuses() async throws {
        let fixture = try await PlaybackFixture()
        try await fixture.play("cmaf", [("video-180p", Array(0..<12)), ("video-270p", [0, 1])])
        try await fixture.origin.add(OriginRule("/cmaf/video-270p/2.m4s") { $0.status = 404 })
        let paths = try await fixture.paths(fixture.typed("/cmaf/master.m3u8"), "video-270p")
        let body = [UInt8](try await fixture.get(paths[3]).body)
        #expect(body == (try Spliced.fragment("cmaf", 2, of: "video-180p", behind: "video-270p")))
        // The next segment from the origin must be complete before it is sent.
        let next = try await fixture.get(paths[4])
        #expect([UInt8](next.body) == (try Spliced.fragment("cmaf", 3, of: "video-270p", behind: "video-270p")))
        #expect(next["cache-status"] == "Weir; fwd=uri-miss; stored")
        #expect(
            [UInt8](try await fixture.get(paths[2]).body)
                == (try Spliced.fragment("cmaf", 1, of: "video-270p", behind: "video-270p")))
    }

    @Test func substitutesSoonForASilentOrigin() async throws {
        let fixture = try await PlaybackFixture(playerTimeout: .milliseconds(200))
        try await fixture.play("ts", [("video-180p", [0, 1, 2, 3, 4, 5]), ("video-270p", [0])])
        try await fixture.origin.add(OriginRule("/ts/270p/3.ts") { $0.hold = true })
        let path = try await fixture.paths(fixture.typed("/ts/master.m3u8"), "video-270p")[3]
        let answer = try await fixture.get(path)
        #expect(try answer.status == 200 && [UInt8](answer.body) == Spliced.transport("ts/180p/3.ts"))
        try await fixture.origin.release()
    }

    @Test(arguments: [true, false])
    func aFailureInsideASegmentIsSubstitutedAfterAnEarlierSegment(_ isSilent: Bool) async throws {
        let fixture = try await PlaybackFixture(absence: .seconds(600))
        try await fixture.play("ts", [("video-180p", [0, 1, 2, 3, 4, 5]), ("video-270p", [0])])
        let paths = try await fixture.paths(fixture.typed("/ts/master.m3u8"), "video-270p")
        #expect(try await fixture.get(paths[0]).status == 200)
        try await fixture.origin.add(OriginRule("/ts/270p/1.ts") { $0.stallAfter = 2000 })
        let reply = Task { @LoopActor in try await fixture.get(paths[1]) }
        try await waitUntil("the beginning") {
            try await fixture.origin.requests().contains { $0.path == "/ts/270p/1.ts" && $0.bytes == 2000 }
        }
        if !isSilent { try await fixture.origin.stop() }
        let answer = try await reply.value
        #expect(try answer.status == 200 && [UInt8](answer.body) == Spliced.transport("ts/180p/1.ts"))
        guard isSilent else { return }
        // No reader waits for it any more.
        try await fixture.origin.clearRequests()
        let next = try await fixture.get(paths[2])
        #expect(try next.status == 200 && [UInt8](next.body) == Spliced.transport("ts/180p/2.ts"))
        #expect(try await fixture.mediaRequests().filter { $0.hasSuffix("/2.ts") } == [])
    }

    @Test func aStartedSegmentIsNotContinuedFromAnotherSource() async throws {
        let fixture = try await PlaybackFixture()
        try await fixture.play("ts", [("video-180p", [0, 1, 2, 3, 4, 5]), ("video-270p", [0])])
        let paths = try await fixture.paths(fixture.typed("/ts/master.m3u8"), "video-270p")
        try await fixture.origin.add(OriginRule("/ts/270p/3.ts") { $0.stallAfter = 2000 })
        let connection = try await fixture.ask(paths[3])
        _ = try await connection.receiveHead()
        #expect(try await connection.receive(count: 2000).end == .satisfied)
        try await fixture.origin.stop()
        #expect(try await connection.receive().end != .timedOut)
        let whole = try Spliced.transport("ts/180p/3.ts")
        // The first part came from the origin's own segment.
        let rest = try await fixture.get(paths[3], ["Range": "bytes=2000-"])
        #expect(rest.status == 200 && [UInt8](rest.body) == whole)
        let more = try await fixture.get(paths[3], ["Range": "bytes=1000-"])
        #expect(more.status == 206 && [UInt8](more.body) == Array(whole[1000...]))
    }
}
