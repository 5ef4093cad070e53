import AccessLog
import Assets
import EventLoop
import Foundation
import HTTPMessage
import Playheads
import SafeText
import TestRooms
import TestSupport
import Testing

@testable import Playback
@testable import Sessions

@Suite @LoopActor struct SessionsTests {
    private func session(_ fixture: TestHouse) throws -> SessionSummary {
        let all = fixture.playback.sessions.summaries
        try #require(all.count == 1)
        return all[0]
    }

    private func access(_ fixture: TestHouse) async -> [AccessEvent] {
        await fixture.playback.sessions.accessEvents(LogQuery())
    }

    /// The segments of the entry's first rendition.
    private func segments(_ fixture: TestHouse, _ entry: String = "/ts/master.m3u8") async throws -> [String] {
        try await fixture.media(fixture.typed(entry)).filter { $0.hasSuffix(".ts") }
    }

    // MARK: Session reports

    @Test func anEntryWithoutSegmentRequestsIsNotLogged() async throws {
        let fixture = try await TestHouse(.playback())
        let paths = try await fixture.entry(fixture.typed("/ts/master.m3u8"))
        _ = try await fixture.entry(fixture.typed("/ts/master.m3u8"))
        _ = try await fixture.get(paths[0])
        #expect(fixture.playback.sessions.summaries.isEmpty)
        await fixture.playback.sessions.close()
        #expect(throws: (any Error).self) { try fixture.logLines("access") }
    }

    @Test func aSessionReportsAssetClientAndOrigin() async throws {
        let fixture = try await TestHouse(.playback())
        let typed = fixture.typed("/ts/master.m3u8")
        let entry = try await fixture.get(typed, ["User-Agent": "player/1 x"])
        let media = PlaylistText.paths(in: entry.text, at: typed)[0]
        let paths = try await fixture.paths(at: media)
        var sizes: [Int] = []
        for path in paths[0..<3] {
            sizes.append(try await fixture.get(path).body.count)
        }
        _ = try await fixture.get(paths[1])
        _ = try await fixture.get(paths[1], ["Range": "bytes=10-19"])
        let session = try session(fixture)
        #expect(session.client == "player/1 x" && session.asset == "ts" && session.ended == nil)
        #expect(session.uri == fixture.origin.url("/ts/90p/media.m3u8"))
        #expect(session.bytes.origin == sizes.reduce(0, +))
        #expect(session.bytes.store == sizes[1] + 10)
        #expect(session.pieces.first == PieceRun(rendition: "video-90p", first: 0, last: 2, source: .origin))
        #expect(session.pieces.dropFirst().allSatisfy { $0.source == .store && $0.first == 1 && $0.last == 1 })
        #expect(session.startup.map { $0 >= 0 && $0 < 30 } ?? false)
        #expect(session.stalls == 0 && session.switches == 0)
        let event = try #require(await access(fixture).last)
        #expect(event.serverAddress == "127.0.0.1" && event.indicated != nil && event.observed.count == 3)
        #expect(event.playbackType == .vod && event.ended == nil)
    }

    @Test func aJoinedFetchIsReportedAsJoined() async throws {
        let fixture = try await TestHouse(.playback())
        let path = try await segments(fixture)[0]
        try await fixture.origin.add(OriginRule("*.ts") { $0.pauseAfter = 5000 })
        let url = fixture.players.url(path)
        let first = Task { try await HTTPProbe.fetch(url) }
        try await waitUntil("the request") { try await fixture.origin.load().paused == 1 }
        let second = try await fixture.ask(path)
        let head = String(decoding: try await second.receiveHead().bytes, as: UTF8.self).lowercased()
        #expect(head.contains("\r\ncache-status: weir; fwd=uri-miss; stored; collapsed\r\n"))
        try await fixture.origin.release()
        let answer = try await first.value
        #expect(answer["cache-status"] == "Weir; fwd=uri-miss; stored")
        _ = try await second.receive(count: answer.body.count)
        try await waitUntil("both") { try session(fixture).bytes.all == 2 * answer.body.count }
        let bytes = try session(fixture).bytes
        #expect(bytes.joined == answer.body.count && bytes.origin == answer.body.count)
    }

    @Test func aResumedFetchIsReportedAsPartial() async throws {
        let fixture = try await TestHouse(.playback())
        let path = try await segments(fixture)[0]
        try await fixture.origin.add(
            OriginRule("*/90p/0.ts") { ($0.cutAfter, $0.times) = (5000, 1) },
            OriginRule("*/90p/0.ts") { ($0.status, $0.times) = (404, 2) })
        #expect(try await fixture.get(path).isComplete == false)
        let again = try await fixture.get(path)
        #expect(again.isComplete && again["cache-status"] == "Weir; fwd=partial; stored")
        #expect(try await fixture.get(path)["cache-status"] == "Weir; hit")
    }

    @Test func eachMediaResponseHasACacheStatus() async throws {
        let fixture = try await TestHouse(.playback())
        let typed = fixture.typed("/aes/master.m3u8")
        let entry = try await fixture.get(typed)
        #expect(entry["cache-status"] == "Weir; fwd=stale; stored")
        let media = PlaylistText.paths(in: entry.text, at: typed)[0]
        let first = try await fixture.get(media)
        #expect(first["cache-status"] == "Weir; fwd=uri-miss; stored")
        #expect(try await fixture.get(media)["cache-status"] == "Weir; hit")
        for path in Set(PlaylistText.paths(in: first.text, at: media)) {
            #expect(try await fixture.get(path)["cache-status"] == "Weir; fwd=uri-miss; stored")
            for fields in [[:], ["Range": "bytes=0-3"], ["If-None-Match": "*"]] {
                #expect(try await fixture.get(path, fields)["cache-status"] == "Weir; hit")
            }
        }
        try await fixture.origin.add(OriginRule("*/180p/0.ts") { $0.status = 410 })
        let other = try await fixture.media(typed, 1).filter { $0.hasSuffix(".ts") }[0]
        #expect(try await fixture.get(other)["cache-status"] == "Weir; fwd=uri-miss; fwd-status=410")
    }

    @Test func anUnknownSessionIdBeginsASession() async throws {
        let fixture = try await TestHouse(.playback())
        let path = try await segments(fixture)[0]
        let parts = path.split(separator: "/").map(String.init)
        let made = "/" + [parts[0], parts[1], "azzzzz", parts[3], parts[4]].joined(separator: "/")
        #expect(try await fixture.get(made).status == 200)
        let session = try session(fixture)
        #expect(session.id == "azzzzz" && session.startup == nil && session.bytes.all > 0)
        #expect(try await fixture.get("/a/none/azzzzz/video-90p/0.ts").status == 404)
        #expect(fixture.playback.sessions.summaries.count == 1)
    }

    @Test func aSeekEndsAnEventAndEventsAreWrittenInOrder() async throws {
        let fixture = try await TestHouse(.playback())
        let names = (0..<40).map { "#EXTINF:2,\n/ts/90p/\($0 % 3).ts?n=\($0)\n" }.joined()
        try await fixture.put(
            "/far/media.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:2\n" + names + "#EXT-X-ENDLIST\n")
        let paths = try await fixture.entry(fixture.typed("/far/media.m3u8"))
        for path in paths[0...3] + paths[30...31] {
            #expect(try await fixture.get(path).status == 200)
        }
        let open = await access(fixture)
        #expect(open.map(\.number) == [0, 1] && open.map(\.startOffset) == [0, 60])
        #expect(open.map(\.requests) == [4, 2] && open[0].ended != nil && open[1].ended == nil)
        await fixture.playback.sessions.close()
        let log = try ExtendedLog(fixture.logLines("access"))
        #expect(log.entries.map { $0["sc-count"] } == ["4", "2"])
        #expect(log.entries.map { $0["c-start-time"] } == ["0.000", "60.000"])
        #expect(Set(log.entries.map { $0["cs-guid"] }).count == 1)
        #expect(!(try fixture.logLines("access").joined()).contains("?n="))
        let kept = await access(fixture)
        #expect(kept.map(\.requests) == [4, 2] && kept.allSatisfy { $0.ended != nil })
    }

    /// A client that follows the log requests the events written since its last request.
    @Test func aDelayedEventIsFoundByItsWriteTime() async throws {
        let clock = TestClock()
        let fixture = try await TestHouse(.clock(clock), .playback())
        let first = try await segments(fixture)
        for path in first[0...1] {
            _ = try await fixture.get(path)
        }
        fixture.library.playheads.catchUp()
        clock.advance(by: 50)
        let second = try await segments(fixture)
        for path in [second[0], second[5]] {
            _ = try await fixture.get(path)
        }
        let sought = try #require(await access(fixture).first { $0.ended != nil })
        clock.advance(by: 50)
        fixture.playback.sessions.endIdle()
        let since = try #require(sought.written)
        let query = LogQuery(since: Moment(clamping: since))
        let found: [AccessEvent] = await fixture.playback.sessions.accessEvents(query)
        let idle = try #require(found.first { $0.ended.map { $0 < since } ?? false })
        #expect(idle.session == first[0].split(separator: "/")[2] && idle.logged == since + 50)
    }

    @Test func aFailureIsLoggedOnceWithoutSecrets() async throws {
        let fixture = try await TestHouse(.playback())
        try await fixture.put(
            "/signed/media.m3u8*",
            "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n/ts/none.ts?token=secret\n#EXT-X-ENDLIST\n")
        let path = try await fixture.entry(fixture.typed("/signed/media.m3u8?token=secret"))[0]
        for _ in 0..<3 {
            #expect(try await fixture.get(path).status == 404)
        }
        #expect(try await fixture.get(fixture.typed("/none/media.m3u8?token=secret")).status == 404)
        let events = await fixture.playback.sessions.errorEvents(LogQuery())
        #expect(events.map(\.status) == [404, 404])
        #expect(events.map(\.domain) == [.origin, .origin])
        #expect(events[0].uri == fixture.origin.url("/ts/none.ts") && events[0].asset == "signed")
        #expect(events[0].guid == fixture.playback.sessions.summaries.first?.guid)
        #expect(events[1].guid == nil && events[1].session == nil)
        let lines = try fixture.logLines("errors")
        _ = try ExtendedLog(lines)
        #expect(!lines.joined().contains("secret"))
        #expect(await fixture.playback.sessions.errorEvents(LogQuery(asset: "signed")).count == 1)
    }

    // MARK: CMCD

    @Test func playerDataReachesTheSessionAndNoOrigin() async throws {
        let fixture = try await TestHouse(.playback())
        let query = "CMCD=sid%3D%22secret%22%2Csu"
        let typed = fixture.typed("/ts/master.m3u8")
        let entry = try await fixture.entry(typed + "?" + query)
        #expect(try await fixture.entry(typed).count == entry.count)
        #expect(fixture.library.assets.count == 1)
        let paths = try await fixture.paths(at: entry[0] + "?" + query)
        _ = try await fixture.get(paths[0] + "?" + query)
        _ = try await fixture.get(paths[1], ["CMCD-Request": "bl=2000", "CMCD-Session": "sid=\"secret\""])
        _ = try await fixture.get(paths[2], ["CMCD-Status": "bs", "CMCD-Request": "bl=100"])
        _ = try await fixture.get(paths[2], ["CMCD-Status": "bs"])
        let session = try session(fixture)
        #expect(session.stalls == 1)
        #expect(!session.inferred.contains("stalls") && session.inferred.contains("stallTime"))
        for request in try await fixture.origin.requests() {
            #expect(!request.path.contains("CMCD") && !request.path.contains("secret"))
            #expect(request.headers.allSatisfy { !$0.key.contains("cmcd") && !$0.value.contains("secret") })
        }
        await fixture.playback.sessions.close()
        #expect(!(try fixture.logLines("access").joined()).contains("secret"))
    }

    @Test func anAssetListIsRequestedWithoutPlayerData() async throws {
        let fixture = try await TestHouse(.playback())
        try await fixture.putMaster("/ads")
        try await fixture.putMedia(
            "/ads/media.m3u8",
            "#EXT-X-DATERANGE:ID=\"a\",CLASS=\"com.apple.hls.interstitial\",START-DATE=\"2026-01-01T00:00:01Z\","
                + "X-ASSET-LIST=\"/list.json\"")
        try await fixture.put("/list.json*", "{\"ASSETS\":[]}", type: "application/json")
        let text = try await fixture.mediaText(fixture.typed("/ads/master.m3u8"))
        let list = try #require(PlaylistText.attribute("X-ASSET-LIST", in: text))
        _ = try await fixture.get(list + "?_HLS_primary_id=1&CMCD=bs")
        let asked = try await fixture.origin.requests().map(\.path).filter { $0.hasPrefix("/list.json") }
        #expect(asked == ["/list.json?_HLS_primary_id=1"])
    }
}
