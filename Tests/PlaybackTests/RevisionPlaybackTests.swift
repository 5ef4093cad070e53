import EventLoop
import Fetching
import Foundation
import HTTPMessage
import Store
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Playback

/// Sessions whose origin changes its content under the same URLs.
@Suite @LoopActor struct RevisionPlaybackTests {
    private let fixture: TestHouse

    init() async throws { fixture = try await TestHouse(.playback()) }

    /// The segments of the lowest quality in a new session, of which two were played.
    private func played() async throws -> [String] {
        let sent = HTTPDate(secondsSinceEpoch: Int64(Date().timeIntervalSince1970)).description
        try await fixture.origin.add(OriginRule("*.ts") { ($0.noValidators, $0.headers) = (true, ["Date": sent]) })
        let master = fixture.typed("/ts/master.m3u8")
        let paths = try await fixture.media(master)
        for path in paths.prefix(2) {
            #expect(try await fixture.get(path).status == 200)
        }
        return paths
    }

    private static let new = OriginRule.media("new") + String(repeating: "new ", count: 4_000)

    /// From now on the origin has other content.
    /// - Parameter fields: besides the length.
    private func change(_ fields: [String: String] = [:], holds: String? = nil) async throws {
        try await fixture.origin.clearRules()
        if let holds {
            try await fixture.origin.add(
                OriginRule(holds) { rule in
                    rule.hold = true
                    rule.times = 1
                    rule.status = 200
                    rule.body = Self.new
                    rule.noValidators = true
                })
        }
        try await fixture.origin.add(
            OriginRule("*.ts") { rule in
                rule.status = 200
                rule.body = Self.new
                rule.noValidators = true
                rule.headers = fields
            })
        try await fixture.origin.clearRequests()
    }

    @Test func w8TheFirstNewPieceWaitsForTheLookAndStoredOnesDoNot() async throws {
        let paths = try await played()
        let asset = try fixture.asset("ts")
        let folder = try #require(asset.renditions.first { $0.folder.bytes > 0 }).folder
        try await change(holds: "*/0.ts")
        Task { await fixture.library.revisions.checkBeforeFetching(into: asset, isStart: true) }
        try await waitUntil("the look") { try await fixture.origin.load().paused > 0 }
        #expect(try await fixture.get(paths[0]).status == 200)
        let third = Task { try await fixture.get(paths[2]) }
        try await waitUntil("the request to wait") { @LoopActor in
            fixture.library.revisions.mustCheck(beforeFetching: try #require(PieceName("2.ts")), into: asset)
        }
        try await fixture.origin.release()
        let answer = try await third.value
        #expect(answer.status == 409 && folder.sizes.keys.sorted() == ["0.ts", "1.ts"])
        #expect(try await !fixture.mediaPaths().contains { $0.hasSuffix("/2.ts") })
    }

    @Test func w10APieceThatComesDuringTheLookIsNotFetchedAgain() async throws {
        let paths = try await fixture.media(fixture.typed("/ts/master.m3u8"))
        for path in paths.prefix(2) {
            #expect(try await fixture.get(path).status == 200)
        }
        let asset = try fixture.asset("ts")
        let played = try #require(asset.renditions.first { $0.folder.bytes > 0 }).name.id
        let answer = try await fixture.get(paths[2], duringComparisonOf: asset, while: 2, of: played)
        #expect(answer.status == 200 && answer["cache-status"] == "Weir; hit")
        #expect(try await fixture.mediaPaths().filter { $0.hasSuffix("/2.ts") }.count == 1)
    }

    @Test func w8AReplyThatIsLaterThanTheFirstOneIsComparedBeforeItIsSent() async throws {
        let paths = try await played()
        let now = Int64(Date().timeIntervalSince1970)
        let date = HTTPDate(secondsSinceEpoch: now + 20).description
        try await change(["Date": date, "Last-Modified": HTTPDate(secondsSinceEpoch: now + 10).description])
        let answer = try await fixture.get(paths[2])
        #expect(answer.status == 409)
        let asset = try fixture.asset("ts")
        #expect(asset.hasOtherSegments)
        let folder = try #require(asset.renditions.first { $0.folder.bytes > 0 }).folder
        try await waitUntil("the new piece to be gone") { folder.sizes.keys.sorted() == ["0.ts", "1.ts"] }
        #expect(try await fixture.get(paths[0]).status == 200, "the session goes on with what is stored")
    }

    @Test func w8AnotherSessionMovesWholeWhileTheFirstOneKeepsTheOldContent() async throws {
        let paths = try await played()
        try await change()
        let again = try await fixture.media(fixture.typed("/ts/master.m3u8"))
        let new = try await fixture.get(again[0])
        #expect(new.text == Self.new)
        #expect(try await fixture.get(paths[0]).text != Self.new)
        #expect(try await fixture.get(paths[3]).status == 409)
    }

    /// The URL shows the next broadcast although all of the past one is stored, and a session of it was there a moment ago.
    @Test(arguments: ["/live.m3u8", "/master.m3u8"])
    func aBroadcastThatIsStoredAndPlayedGivesWayToTheNext(_ path: String) async throws {
        func give(_ count: Int, _ segments: String, end: String = "") async throws {
            let text =
                "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:0\n"
                + (0..<count).map { "#EXTINF:1,\n\($0).ts\n" }.joined() + end
            let master = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=100000\nlive.m3u8\n"
            try await fixture.origin.replaceRules(
                with: OriginRule("/live.m3u8") { ($0.status, $0.body) = (200, text) },
                OriginRule("/master.m3u8") { ($0.status, $0.body) = (200, master) },
                OriginRule("/*.ts") { ($0.status, $0.body) = (200, OriginRule.media(segments)) })
        }
        /// Opens the URL as a player does, and returns the window and the segments in it.
        func window() async throws -> (text: String, segments: [String]) {
            var path = fixture.typed(path)
            var text = try await fixture.get(path).text
            if text.contains("STREAM-INF") {
                path = try #require(PlaylistText.paths(in: text, at: path).first)
                text = try await fixture.get(path).text
            }
            var segments: [String] = []
            for path in PlaylistText.paths(in: text, at: path) {
                segments.append(try await fixture.get(path).text)
            }
            return (text, segments)
        }
        try await give(2, "old")
        _ = try await window()
        try await give(2, "old", end: "#EXT-X-ENDLIST\n")
        try await waitUntil("the end") { try await window().text.contains("ENDLIST") }
        let asset = try #require(fixture.library.assets.first)
        #expect(asset.content.isEverythingComplete)

        try await give(3, "new")
        try await waitUntil("the new broadcast") {
            let (text, segments) = try await window()
            #expect(Set(segments).count == 1, "one window has one broadcast")
            return !text.contains("ENDLIST") && segments == Array(repeating: OriginRule.media("new"), count: 3)
        }
    }
}
