import AccessLog
import EventLoop
import Foundation
import SafeText
import Sessions
import TestRooms
import TestSupport
import Testing

@testable import Playback

/// Client data that a player posts, and a session that is found by the player's own id.
@Suite struct ClientDataTests {
    /// CMCD's event mode, version 2.
    @Test @LoopActor func aPlayerPostsItsEvents() async throws {
        let fixture = try await TestHouse(.playback())
        let path = try #require(
            try await fixture.media(fixture.typed("/ts/master.m3u8")).first { $0.hasSuffix(".ts") })
        _ = try await fixture.get(path, ["CMCD-Session": "sid=\"web-1\",v=2"])
        let post = { (lines: String) in
            try await HTTPProbe.fetch(fixture.players.url("/cmcd"), method: "POST", body: Data(lines.utf8)).status
        }
        let line = "e=ps,sid=\"web-1\",sta=r,pt=500,bsa=(2),bsda=(3500),dfa=4,v=2"
        #expect(try await post("e=t,sid=\"web-1\",pt=250,bsa=(1),v=2\n\(line)\n") == 204)
        let summary = try #require(fixture.playback.sessions.summaries.first)
        #expect(summary.stalls == 2 && summary.stallTime == 3.5 && summary.framesDropped == 4)
        #expect(summary.isStalled == true && summary.playhead == 0.5 && !summary.inferred.contains("watched"))
        #expect(try await post("e=t,sid=\"web-2\",pt=1") == 404)
        #expect(try await fixture.get("/cmcd").status == 405)
    }

    @Test @LoopActor func aSessionIsFoundByThePlayersIdAndLogged() async throws {
        let fixture = try await TestHouse(.playback())
        let path = try #require(
            try await fixture.media(fixture.typed("/ts/master.m3u8")).first { $0.hasSuffix(".ts") })
        _ = try await fixture.get(path, ["CMCD-Session": "sid=\"mpv-1\""])
        let sessions = fixture.playback.sessions
        let report = PlayerReport(playhead: 0.5, rate: 1, stalls: 1, stallTime: 0.75, framesDropped: 2, startup: 0.25)
        let summary = try #require(sessions.apply(report, to: "mpv-1"))
        #expect(summary.stalls == 1 && summary.framesDropped == 2 && summary.startup == 0.25)
        #expect(!summary.inferred.contains("stalls") && !summary.inferred.contains("startup"))
        #expect(
            sessions.apply(report, to: summary.id)?.stalls == 1 && sessions.apply(report, to: summary.guid)?.stalls == 1
        )
        #expect(sessions.apply(report, to: "mpv-2") == nil && sessions.apply(report, to: "") == nil)
        await sessions.close()
        let line = try #require(try fixture.logLines("access").last)
        #expect(line.contains(#""framesDropped":2"#) || line.contains(" 1 2 0.250 "), "\(line)")
    }
}
