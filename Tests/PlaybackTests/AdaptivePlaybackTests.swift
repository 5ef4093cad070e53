import AccessLog
import EventLoop
import Fetching
import Foundation
import HTTPMessage
import Orders
import SegmentFormat
import Sessions
import Substitution
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Playback
@testable import Playheads

/// Playback of one listed variant, whose quality Weir chooses segment by segment.
@Suite @LoopActor struct AdaptivePlaybackTests {
    /// A fixture without its lowest variant, whose media begins two frames before that of the others.
    private func fixture(_ name: String = "ts", playerTimeout: Duration = .seconds(8)) async throws -> TestHouse {
        let fixture = try await TestHouse(.playback { $0.playerTimeout = playerTimeout })
        var lines = String(decoding: try Spliced.bytes("\(name)/master.m3u8"), as: UTF8.self).split(separator: "\n")
        let lowest = try #require(lines.firstIndex { $0.contains("EXT-X-STREAM-INF") })
        lines.removeSubrange(lowest...lowest + 1)
        let text = lines.joined(separator: "\n") + "\n"
        try await fixture.origin.add(
            OriginRule("/\(name)/master.m3u8") {
                ($0.status, $0.body, $0.contentType) = (200, text, "application/vnd.apple.mpegurl")
            })
        return fixture
    }

    /// The paths in the playlist of an entry's only variant.
    private func paths(_ fixture: TestHouse, _ entry: String) async throws -> [String] {
        let lists = try await fixture.entry(entry).filter { $0.contains("/video-") }
        #expect(lists.count == 1)
        return try await fixture.paths(at: try #require(lists.last))
    }

    private func auto(_ fixture: TestHouse, _ name: String = "ts") -> String {
        "/auto" + fixture.typed("/\(name)/master.m3u8")
    }

    /// Plays segments of renditions, so that they are stored.
    private func store(_ fixture: TestHouse, _ name: String, _ parts: [(id: String, places: [Int])]) async throws {
        for (id, places) in parts {
            let lists = try await fixture.entry(fixture.typed("/\(name)/master.m3u8"))
            let list = try #require(lists.first { $0.contains("/\(id)/") })
            let all = try await fixture.paths(at: list)
            let segments = all.filter { !$0.contains("init") }
            for path in all.filter({ $0.contains("init") }) + places.map({ segments[$0] }) {
                #expect(try await fixture.get(path).status == 200)
            }
        }
    }

    private func body(_ fixture: TestHouse, _ path: String) async throws -> [UInt8] {
        let answer = try await fixture.get(path)
        #expect(answer.status == 200)
        return [UInt8](answer.body)
    }

    // MARK: The entry

    @Test func whatIsStoredPlaysWhileThePlaylistsOfOtherQualitiesAreAwaited() async throws {
        let fixture = try await fixture()
        try await store(fixture, "ts", [("video-180p", [0, 1])])
        try await fixture.origin.clearRequests()
        try await fixture.origin.add(OriginRule("*/270p/media.m3u8*") { $0.hold = true })
        let paths = try await paths(fixture, auto(fixture))
        for path in paths[..<2] {
            let answer = try await fixture.get(path)
            #expect(answer.status == 200 && answer["cache-status"]?.hasPrefix("Weir; hit") ?? false)
        }
        #expect(try await fixture.mediaPaths().isEmpty)
        try await fixture.origin.clearRules()
        try await fixture.origin.release()
    }

    @Test func aStoredBeginningOfAnyQualityComesFirst() async throws {
        let fixture = try await fixture()
        try await store(fixture, "ts", [("video-270p", [0, 1])])
        try await fixture.origin.clearRequests()
        let paths = try await paths(fixture, auto(fixture))
        #expect(paths[0].contains("/video-270p/"))
        // Lower qualities are to be expected, and a URL keeps its form.
        for index in 0..<2 {
            #expect(try await body(fixture, paths[index]) == Spliced.transport("ts/270p/\(index).ts"))
        }
        #expect(try await fixture.mediaPaths().isEmpty)
        // Nothing is known of the link: the lowest quality comes next, although the playlist is that of the best.
        #expect(try await body(fixture, paths[2]) == Spliced.transport("ts/180p/2.ts"))
        #expect(try await fixture.mediaPaths() == ["/ts/180p/2.ts"])
    }

    @Test func listsOneVariantWithTheBestAttributesAndTheLowestPlaylist() async throws {
        let fixture = try await fixture()
        let text = try await fixture.get(auto(fixture)).text
        let asset = try fixture.asset("ts")
        let lines = text.split(separator: "\n").map(String.init)
        let attributes =
            "BANDWIDTH=184992,AVERAGE-BANDWIDTH=171707,CODECS=\"avc1.640015,mp4a.40.2\",RESOLUTION=480x270,FRAME-RATE=10.000"
        let expected = [
            "#EXTM3U", "#EXT-X-VERSION:4", "#EXT-X-INDEPENDENT-SEGMENTS", "#EXT-X-STREAM-INF:" + attributes,
        ]
        #expect(Array(lines.dropLast()) == expected)
        #expect(lines.last?.hasPrefix("/a/\(asset.id)/v") == true)
        #expect(lines.last?.hasSuffix("/video-180p/media.m3u8") == true)
        let named = try await fixture.get("/auto/ts.m3u8").text
        let linesOfNamed = named.split(separator: "\n").map(String.init)
        #expect(Array(linesOfNamed.dropLast()) == expected)
    }

    @Test func listsAudioAndSubtitlesOfTheVariant() async throws {
        let fixture = try await fixture("cmaf")
        let text = try await fixture.get(auto(fixture, "cmaf")).text
        let kinds = text.split(separator: "\n").filter { $0.hasPrefix("#EXT-X-MEDIA") || $0.contains("INF:") }
            .map { $0.prefix { $0 != "," } }
        #expect(
            kinds == [
                "#EXT-X-MEDIA:TYPE=AUDIO", "#EXT-X-MEDIA:TYPE=AUDIO", "#EXT-X-MEDIA:TYPE=SUBTITLES",
                "#EXT-X-STREAM-INF:BANDWIDTH=173272",
            ])
    }

    @Test func variantsWithoutAChoiceAreListedUnchanged() async throws {
        let fixture = try await fixture()
        // Segments with other boundaries match no segment of the other variants.
        let other = "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n0.ts\n#EXT-X-ENDLIST\n"
        try await fixture.origin.add(OriginRule("/ts/270p/media.m3u8") { ($0.status, $0.body) = (200, other) })
        let lists = try await fixture.entry(auto(fixture))
        #expect(lists.count == 2 && lists.allSatisfy { $0.split(separator: "/")[2].first == "a" })
    }

    // MARK: Segments

    @Test func startsWithTheLowestQualityAndThenUsesTheLink() async throws {
        let fixture = try await fixture()
        let paths = try await paths(fixture, auto(fixture))
        #expect(paths.count == 6)
        #expect(try await body(fixture, paths[0]) == Spliced.bytes("ts/180p/0.ts"))
        for place in 1..<6 {
            let answer = try await fixture.get(paths[place])
            #expect(try answer.status == 200 && [UInt8](answer.body) == Spliced.transport("ts/270p/\(place).ts"))
            #expect(answer["cache-status"] == "Weir; fwd=uri-miss; stored; detail=\"video-270p stands in\"")
        }
        let asked = try await fixture.mediaPaths()
        #expect(asked == ["/ts/180p/0.ts"] + (1..<6).map { "/ts/270p/\($0).ts" })
        let again = try await fixture.get(paths[5])
        #expect(again["cache-status"] == "Weir; hit; detail=\"video-270p stands in\"")
        let part = try await fixture.get(paths[5], ["Range": "bytes=1000-"])
        #expect(try part.status == 206 && [UInt8](part.body) == Array(Spliced.transport("ts/270p/5.ts")[1000...]))
    }

    @Test func w10ASegmentOfTheChosenQualityThatComesDuringTheLookIsNotFetchedAgain() async throws {
        let fixture = try await fixture()
        let paths = try await paths(fixture, auto(fixture))
        for path in paths.prefix(2) {
            _ = try await body(fixture, path)
        }
        let asset = try fixture.asset("ts")
        let answer = try await fixture.get(paths[2], duringComparisonOf: asset, while: 2, of: "video-270p")
        #expect(try answer.status == 200 && [UInt8](answer.body) == Spliced.transport("ts/270p/2.ts"))
        #expect(try await fixture.mediaPaths().filter { $0.hasSuffix("/2.ts") } == ["/ts/270p/2.ts"])
    }

    /// Its reply is dated later than the ones before, so that the content is compared before it is sent.
    @Test func w10ASegmentThatIsComparedBeforeItIsSentIsNotFetchedAgain() async throws {
        let fixture = try await fixture()
        let now = Int64(Date().timeIntervalSince1970)
        let later = now + 20
        try await fixture.origin.add(OriginRule("*/[01].ts") { $0.headers = ["Date": Self.date(now)] })
        let paths = try await paths(fixture, auto(fixture))
        for path in paths.prefix(2) {
            _ = try await body(fixture, path)
        }
        try await fixture.origin.add(
            OriginRule("*/2.ts") { $0.headers = ["Date": Self.date(later), "Last-Modified": Self.date(later - 10)] })
        #expect(try await body(fixture, paths[2]) == Spliced.transport("ts/270p/2.ts"))
        #expect(try await fixture.origin.requests().filter(\.isComparison).count > 0)
        #expect(try await fixture.mediaPaths().filter { $0.hasSuffix("/2.ts") } == ["/ts/270p/2.ts"])
    }

    nonisolated private static func date(_ seconds: Int64) -> String {
        HTTPDate(secondsSinceEpoch: seconds).description
    }

    @Test func theLogNamesTheShownQualities() async throws {
        let fixture = try await fixture()
        let paths = try await paths(fixture, auto(fixture))
        for path in paths {
            _ = try await body(fixture, path)
        }
        try await waitUntil("all segments in the log") {
            fixture.playback.sessions.summaries.last?.pieces.last?.last == 5
        }
        let summary = try #require(fixture.playback.sessions.summaries.last)
        #expect(
            summary.pieces == [
                PieceRun(rendition: "video-180p", first: 0, last: 0, source: .origin),
                PieceRun(rendition: "video-180p", first: 1, last: 5, source: .origin, substitute: "video-270p"),
            ])
        #expect(summary.switches == 1)
        #expect(summary.uri?.hasSuffix("/ts/270p/media.m3u8") == true)
        #expect(summary.bytes.store == 0 && summary.bytes.origin > 0)
        let events = await fixture.playback.sessions.accessEvents(LogQuery())
        #expect(events.map(\.indicated) == [133_104, 184_992])
        #expect(events.map(\.requests) == [1, 5])
    }

    @Test func fragmentsHaveInBandParameterSets() async throws {
        let fixture = try await fixture("cmaf")
        let paths = try await paths(fixture, auto(fixture, "cmaf"))
        #expect(try await body(fixture, paths[0]) == Spliced.bytes("cmaf/video-180p/init.mp4"))
        // The own segment, too: after a seek back it follows others.
        for place in 0..<6 {
            let source = place == 0 ? "video-180p" : "video-270p"
            let expected = try Spliced.fragment("cmaf", place, of: source, behind: "video-180p")
            #expect(try await body(fixture, paths[1 + place]) == expected, "\(place)")
        }
        #expect(try await fixture.mediaPaths().filter { $0.contains("init") }.count == 2)
    }

    @Test func audioThatComesFirstDoesNotPreventTheAlignmentCheck() async throws {
        let fixture = try await fixture("cmaf")
        let lists = try await fixture.entry(auto(fixture, "cmaf"))
        for path in try await fixture.paths(at: lists[0]).prefix(3) {
            _ = try await body(fixture, path)
        }
        let video = try #require(lists.first { $0.contains("/video-") })
        let paths = try await fixture.paths(at: video)
        _ = try await body(fixture, paths[0])
        for (place, source) in [(0, "video-180p"), (1, "video-270p")] {
            let expected = try Spliced.fragment("cmaf", place, of: source, behind: "video-180p")
            #expect(try await body(fixture, paths[1 + place]) == expected)
        }
    }

    // MARK: Failures

    @Test func anUnalignedRenditionIsNotUsedAgainAndLeadsTheNextSession() async throws {
        let fixture = try await TestHouse(.playback())
        let paths = try await paths(fixture, auto(fixture, "cmaf"))
        #expect(paths[0].contains("/video-90p/"))
        for (place, path) in paths.dropFirst().enumerated() where place < 5 {
            let raw = try Spliced.bytes("cmaf/video-90p/\(place).m4s")
            let joined = try Spliced.fragment("cmaf", place, of: "video-90p", behind: "video-90p")
            let answer = try await body(fixture, path)
            #expect(answer == raw || answer == joined, "\(place)")
            if place == 0 {
                _ = try await body(fixture, paths[0])
            }
        }
        let better = try await fixture.mediaPaths().filter { $0.hasSuffix("m4s") && !$0.contains("90p") }
        #expect(better.count == 2)
        let next = try await self.paths(fixture, auto(fixture, "cmaf"))
        #expect(next[0].contains("/video-180p/"))
    }

    @Test func aSegmentMissingInTheBetterRenditionComesFromItsOwn() async throws {
        let fixture = try await fixture()
        try await fixture.origin.add(OriginRule("/ts/270p/2.ts") { $0.status = 404 })
        let paths = try await paths(fixture, auto(fixture))
        _ = try await body(fixture, paths[0])
        #expect(try await body(fixture, paths[1]) == Spliced.transport("ts/270p/1.ts"))
        // The player's own segments can be sent while they arrive; substitutes must be complete first.
        #expect(try await body(fixture, paths[2]) == Spliced.bytes("ts/180p/2.ts"))
        #expect(try await body(fixture, paths[3]) == Spliced.transport("ts/270p/3.ts"))
        try await waitUntil("a note") {
            let events = await fixture.playback.sessions.errorEvents(LogQuery())
            return events.contains { $0.uri?.hasSuffix("/ts/270p/2.ts") == true && $0.status == 200 }
        }
    }

    @Test func aSlowFetchIsAbandonedForAStoredSegment() async throws {
        let fixture = try await fixture()
        try await store(fixture, "ts", [("video-180p", [2])])
        try await fixture.origin.add(OriginRule("/ts/270p/2.ts") { $0.throttle = 1000 })
        let paths = try await paths(fixture, auto(fixture))
        for place in 0..<2 {
            _ = try await body(fixture, paths[place])
        }
        let answer = try await fixture.get(paths[2])
        #expect(try [UInt8](answer.body) == Spliced.transport("ts/180p/2.ts"))
        #expect(answer["cache-status"]?.hasPrefix("Weir; hit") == true)
    }

    @Test func anAbandonedQualityIsNotChosenAgain() async throws {
        let fixture = try await fixture()
        try await store(fixture, "ts", [("video-180p", [0]), ("video-270p", [0, 2])])
        let asset = try fixture.asset("ts")
        let own = try #require(asset.rendition("video-180p"))
        let substitutes = try #require(fixture.substitutions.substitutes(of: own, in: asset))
        let qualities = substitutes.qualities(of: try #require(PieceName("2.ts")))
        var situation = Adapter.Situation(buffer: 4, playerTimeout: 8, mayAsk: true)
        #expect(Adapter().choose(from: qualities, situation)?.rendition.name.id == "video-270p")
        situation.ceiling = "video-270p"
        #expect(Adapter().choose(from: qualities, situation)?.rendition.name.id == "video-180p")
    }

    @Test func aLeavingPlayerReleasesItsFetch() async throws {
        let fixture = try await fixture()
        try await fixture.origin.add(OriginRule("/ts/270p/1.ts") { ($0.hold, $0.times) = (true, 1) })
        let paths = try await paths(fixture, auto(fixture))
        _ = try await body(fixture, paths[0])
        var connection: RawConnection? = try await fixture.ask(paths[1])
        try await waitUntil("the request") {
            try await fixture.mediaPaths().contains("/ts/270p/1.ts")
        }
        // The end of the object's lifetime closes the connection.
        withExtendedLifetime(connection) {}
        connection = nil
        let session = String(paths[1].split(separator: "/")[2])
        let tracked = try #require(fixture.library.playheads.sessions[session])
        try await waitUntil("nobody waits") { tracked.awaited == 0 }
        try await fixture.origin.release()
        #expect(try await body(fixture, paths[1]) == Spliced.transport("ts/270p/1.ts"))
    }

    // MARK: Without the origin

    @Test func withoutTheOriginTheBestStoredQualityPlays() async throws {
        let fixture = try await fixture()
        try await store(fixture, "ts", [("video-180p", Array(0..<6)), ("video-270p", [0, 1, 4])])
        try await fixture.stopOrigin()
        fixture.library.mode = .offline
        let paths = try await paths(fixture, "/auto/ts.m3u8")
        #expect(paths[0].contains("/video-180p/"))
        for place in 0..<6 {
            let source = [0, 1, 4].contains(place) ? "270p" : "180p"
            #expect(try await body(fixture, paths[place]) == Spliced.transport("ts/\(source)/\(place).ts"), "\(place)")
        }
    }

    @Test func aStoredBestQualityIsPlayedUnchanged() async throws {
        let fixture = try await fixture()
        try await store(fixture, "ts", [("video-180p", [0]), ("video-270p", Array(0..<6))])
        let paths = try await paths(fixture, auto(fixture))
        for place in 0..<6 {
            #expect(try await body(fixture, paths[place]) == Spliced.bytes("ts/270p/\(place).ts"))
        }
    }
}
