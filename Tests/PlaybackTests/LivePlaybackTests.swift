import Assets
import EventLoop
import Foundation
import HTTPServer
import Orders
import TestRooms
import TestSupport
import Testing

@testable import Playback

/// A low-latency presentation with given playlists and media.
@LoopActor private struct LiveStream {
    let fixture: TestHouse
    /// The path of its rendition's playlist, with a session.
    let media: String

    private static let playlist = "/low/media.m3u8?token=secret"
    private static let text = """
        #EXTM3U
        #EXT-X-TARGETDURATION:1
        #EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=6,PART-HOLD-BACK=1
        #EXT-X-PART-INF:PART-TARGET=0.5
        #EXT-X-MEDIA-SEQUENCE:0
        #EXTINF:1,
        0.ts
        #EXTINF:1,
        1.ts
        #EXT-X-PART:DURATION=0.5,URI="2.0.ts"
        #EXT-X-PRELOAD-HINT:TYPE=PART,URI="2.1.ts"
        #EXT-X-RENDITION-REPORT:URI="../high/media.m3u8",LAST-MSN=2,LAST-PART=0
        """

    init() async throws {
        fixture = try await TestHouse(.playback())
        let master =
            "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=1x90\nlow/media.m3u8?token=secret\n"
            + "#EXT-X-STREAM-INF:BANDWIDTH=2,RESOLUTION=1x180\nhigh/media.m3u8?token=secret\n"
        try await fixture.origin.add(
            OriginRule("/master.m3u8") { ($0.status, $0.body) = (200, master) },
            OriginRule(Self.playlist) { ($0.status, $0.body) = (200, Self.text) })
        media = try await fixture.entry(fixture.typed("/master.m3u8"))[0]
    }

    func answer(_ directives: String, _ change: (inout OriginRule) -> Void) async throws {
        try await fixture.origin.add(OriginRule(Self.playlist + (directives.isEmpty ? "" : "&" + directives), change))
    }

    /// The path of a line's URI in our playlist.
    func uri(of tag: String) async throws -> String {
        let lines = try await fixture.get(media).text.split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix(tag) }, "\(lines)")
        return try #require(PlaylistText.paths(in: String(line), at: media).first)
    }

    func requests(_ directives: String) async throws -> [TestOrigin.Request] {
        try await fixture.origin.requests(for: Self.playlist + (directives.isEmpty ? "" : "&" + directives))
    }
}

@Suite @LoopActor struct LivePlaybackTests {
    @Test func offlineItIsSaidToBeLive() async throws {
        let stream = try await LiveStream()
        #expect(try await stream.fixture.get(stream.media).status == 200)
        stream.fixture.library.mode = .offline
        for path in [stream.fixture.typed("/master.m3u8"), stream.media] {
            let answer = try await stream.fixture.get(path)
            #expect(answer.status == 404)
            #expect(answer.text.contains("is live, so that it plays only online"), "\(answer.text)")
        }
    }

    @Test func directivesAreForwardedAfterTheOriginsQuery() async throws {
        let stream = try await LiveStream()
        let update =
            "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-SKIP:SKIPPED-SEGMENTS=1\n#EXTINF:1,\n1.ts\n#EXTINF:1,\n2.ts\n"
        try await stream.answer("_HLS_msn=2&_HLS_skip=YES") { ($0.status, $0.body) = (200, update) }
        #expect(try await stream.fixture.get(stream.media).status == 200)
        let answer = try await stream.fixture.get(stream.media + "?_HLS_skip=YES&_HLS_msn=2")
        #expect(answer.status == 200)
        #expect(answer["cache-control"] == "no-cache" && answer["age"] == "0")
        #expect(answer.text == update)
        // A plain playlist request still gets the whole playlist.
        #expect(try await !stream.fixture.get(stream.media).text.contains("#EXT-X-SKIP"))
    }

    @Test func directivesWorkOnALiveEntryPlaylist() async throws {
        let stream = try await LiveStream()
        let more = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n0.ts\n#EXTINF:1,\n1.ts\n#EXTINF:1,\n2.ts\n"
        try await stream.answer("_HLS_msn=2") { ($0.status, $0.body) = (200, more) }
        let typed = stream.fixture.typed("/low/media.m3u8?token=secret")
        let first = try await stream.fixture.get(typed)
        let second = try await stream.fixture.get(typed + "&_HLS_msn=2")
        #expect(first.status == 200 && second.status == 200)
        #expect(stream.fixture.library.assets.count == 2)
        // Both playlists use the same names, so that the player recognises its segments.
        let names = PlaylistText.paths(in: first.text, at: typed).filter {
            !$0.contains("live-") && $0.hasSuffix(".ts")
        }
        #expect(Array(PlaylistText.paths(in: second.text, at: typed).prefix(2)) == names && names.count == 2)
    }

    @Test func aPartIsServedWhileItArrivesWithOneRequest() async throws {
        let stream = try await LiveStream()
        try await stream.fixture.origin.add(
            OriginRule("/low/2.*.ts") { ($0.status, $0.body, $0.pauseAfter) = (200, OriginRule.media("456789"), 4) })
        for tag in ["#EXT-X-PART:", "#EXT-X-PRELOAD-HINT"] {
            let path = try await stream.uri(of: tag)
            var players: [RawConnection] = []
            for _ in 0..<5 {
                players.append(try await stream.fixture.ask(path, "Connection: close"))
            }
            for player in players {
                let head = try await player.receiveHead(within: .seconds(10))
                #expect(String(decoding: head.bytes, as: UTF8.self).hasPrefix("HTTP/1.1 200 OK"))
                #expect(try await player.receive(count: 4, within: .seconds(10)).bytes == Data("ID3\u{4}".utf8))
            }
            try await stream.fixture.origin.release()
            for player in players {
                #expect(try await player.receive(within: .seconds(10)).bytes == Data("456789".utf8))
            }
        }
        #expect(try await stream.fixture.mediaPaths() == ["/low/2.0.ts", "/low/2.1.ts"])
        #expect(!stream.fixture.folder.files().contains { $0.hasSuffix(".ts") })
    }

    /// A low-latency player names segments by the origin's numbers, which are others behind an omitted segment.
    @Test func aDeadHostsSegmentMakesALowLatencyPlaylistAPlainOne() async throws {
        let stream = try await LiveStream()
        #expect(try await stream.fixture.get(stream.media).text.contains("#EXT-X-PART"))
        func window(_ first: Int) -> String {
            let lines = (first..<4).map { number in
                let host = number == 2 ? "http://ads.invalid/" : ""
                return "#EXTINF:1,\n\(host)\(number).ts\n"
            }
            return "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1\n"
                + "#EXT-X-PART-INF:PART-TARGET=0.5\n#EXT-X-MEDIA-SEQUENCE:\(first)\n" + lines.joined()
                + "#EXT-X-PART:DURATION=0.5,URI=\"4.0.ts\"\n"
        }
        try await stream.fixture.origin.clearRules()
        try await stream.answer("") { ($0.status, $0.body) = (200, window(0)) }
        try await stream.answer("_HLS_msn=4") { ($0.status, $0.body) = (200, window(1)) }
        var text = ""
        try await waitUntil("the next list") {
            text = try await stream.fixture.get(stream.media).text
            return text.contains("\n3.ts\n")
        }
        #expect(!text.contains("\n2.ts\n") && text.contains("\n1.ts\n#EXT-X-DISCONTINUITY\n#EXTINF:1,\n"), "\(text)")
        #expect(!text.contains("#EXT-X-PART") && !text.contains("SERVER-CONTROL"))
        // Directives are not passed on any more.
        #expect(try await stream.fixture.get(stream.media + "?_HLS_msn=4").status == 200)
        #expect(try await stream.requests("_HLS_msn=4").isEmpty)
    }

    /// A player that has seen the broadcast finds its segments under the same numbers when it has ended.
    @Test func theEndOfABroadcastKeepsItsNumbers() async throws {
        let stream = try await LiveStream()
        func list(_ range: Range<Int>, _ end: String = "") -> String {
            let lines = range.map { "#EXTINF:1,\n\($0 == 1 ? "http://ads.invalid/" : "")\($0).ts\n" }
            return "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:\(range.lowerBound)\n" + lines.joined()
                + end
        }
        let segment = OriginRule("/low/?.ts") { ($0.status, $0.body) = (200, OriginRule.media("0123")) }
        try await stream.fixture.origin.replaceRules(with: segment)
        try await stream.answer("") { ($0.status, $0.body) = (200, list(0..<3)) }
        let first = try await stream.fixture.get(stream.media).text
        let names = PlaylistText.paths(in: first, at: stream.media)
        #expect(names.map { $0.split(separator: "/").last } == ["0.ts", "2.ts"], "\(first)")
        #expect(try await stream.fixture.get(names[0]).status == 200)
        try await stream.fixture.origin.clearRules()
        try await stream.answer("") { ($0.status, $0.body) = (200, list(2..<5, "#EXT-X-ENDLIST\n")) }
        var text = ""
        try await waitUntil("the end") {
            text = try await stream.fixture.get(stream.media).text
            return text.contains("#EXT-X-ENDLIST")
        }
        #expect(
            text.contains("#EXT-X-MEDIA-SEQUENCE:1\n") && text.contains("\n2.ts\n") && text.contains("\n4.ts\n"),
            "\(text)")
    }

    /// The end of a live stream is not final: a later text may go on without it.
    @Test func anEndThatGoesAwayAgainIsNotFinal() async throws {
        let stream = try await LiveStream()
        #expect(try await stream.fixture.get(stream.media).status == 200)
        let start = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:1\n#EXTINF:1,\n1.ts\n#EXTINF:1,\n2.ts\n"
        for (more, isEnded) in [("#EXT-X-ENDLIST\n", true), ("#EXTINF:1,\n3.ts\n", false)] {
            try await stream.fixture.origin.clearRules()
            try await stream.answer("") { ($0.status, $0.body) = (200, start + more) }
            try await waitUntil("the next text") {
                let text = try await stream.fixture.get(stream.media).text
                return text.contains("\n2.ts\n") && text.contains("#EXT-X-ENDLIST") == isEnded
            }
        }
        // The numbers go on: it is the same broadcast.
        let text = try await stream.fixture.get(stream.media).text
        #expect(text.contains("#EXT-X-MEDIA-SEQUENCE:1\n") && text.contains("\n3.ts\n"))
    }

    /// Players that are a few seconds late ask for it when the broadcast has ended. A whole one is stored from then on, its tail
    /// is not.
    @Test(arguments: [(first: 1, isStored: false), (0, true)])
    func aSegmentFromBeforeTheEndIsRequestedAgainOnlyToStoreIt(first: Int, isStored: Bool) async throws {
        let stream = try await LiveStream()
        let segment = OriginRule("/low/1.ts") { ($0.status, $0.body) = (200, OriginRule.media("0123")) }
        try await stream.fixture.origin.add(segment)
        let path = try #require(try await stream.fixture.paths(at: stream.media).last { $0.hasSuffix("/1.ts") })
        let early = try await stream.fixture.get(path)
        let list = (first...1).map { "#EXTINF:1,\n\($0).ts\n" }.joined()
        let end = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:\(first)\n\(list)#EXT-X-ENDLIST\n"
        try await stream.fixture.origin.replaceRules(with: segment)
        try await stream.answer("") { ($0.status, $0.body) = (200, end) }
        try await waitUntil("the end") { try await stream.fixture.get(stream.media).text.contains("#EXT-X-ENDLIST") }
        let late = try await stream.fixture.get(path)
        #expect((early.status, late.status) == (200, 200) && early.text == late.text)
        #expect(try await stream.fixture.mediaPaths().count { $0 == "/low/1.ts" } == (isStored ? 2 : 1))
        if isStored {
            try await waitUntil("the piece") { @LoopActor in
                stream.fixture.folder.files().contains { $0.hasSuffix("1.ts") }
            }
        }
        #expect(stream.fixture.folder.files().contains { $0.hasSuffix("1.ts") } == isStored)
    }

    @Test func aRenditionReportLeadsToTheOtherRendition() async throws {
        let stream = try await LiveStream()
        let report = try await stream.uri(of: "#EXT-X-RENDITION-REPORT")
        #expect(report == stream.media.replacing("/video-90p/", with: "/video-180p/"))
    }

    @Test(arguments: [(400, 400), (404, 404), (410, 410), (503, 503), (500, 502), (403, 403)])
    func theOriginsResponseToDirectivesIsForwarded(_ status: Int, _ expected: Int) async throws {
        let stream = try await LiveStream()
        try await stream.answer("_HLS_msn=2") { $0.status = status }
        #expect(try await stream.fixture.get(stream.media).status == 200)
        let answer = try await stream.fixture.get(stream.media + "?_HLS_msn=2")
        #expect(answer.status == expected && answer.text.contains(".\n"))
        #expect(!answer.text.contains("secret"))
        #expect(try await stream.requests("_HLS_msn=2").count == 1)
    }

    @Test func anAbsentOriginIsAGatewayTimeoutForBlockingReloadsOnly() async throws {
        let stream = try await LiveStream()
        let text = try await stream.fixture.get(stream.media).text
        try await stream.fixture.stopOrigin()
        let blocked = try await stream.fixture.get(stream.media + "?_HLS_msn=2")
        #expect(blocked.status == 504 && blocked.text.hasSuffix(".\n"))
        #expect(try await stream.fixture.get(stream.media).text == text)
    }

    @Test(arguments: ["_HLS_msn=x", "_HLS_part=1", "_HLS_msn=-1"])
    func invalidDirectivesAreABadRequest(_ query: String) async throws {
        let stream = try await LiveStream()
        for path in [stream.media, stream.fixture.typed("/low/media.m3u8")] {
            let answer = try await stream.fixture.get(path + "?" + query)
            #expect(answer.status == 400 && answer.text.hasSuffix(".\n"))
        }
    }

    @Test func unnamedResourcesAreNotFound() async throws {
        let stream = try await LiveStream()
        _ = try await stream.fixture.get(stream.media)
        for name in ["none", "live-9.ts", "live-0.m4s"] {
            #expect(try await stream.fixture.get(stream.media.replacing("media.m3u8", with: name)).status == 404)
        }
    }
}
