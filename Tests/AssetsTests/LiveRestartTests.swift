import EventLoop
import Foundation
import HLS
import HTTPMessage
import Playheads
import Store
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching

/// A live origin that begins anew, under the same names and under others.
@Suite @LoopActor struct LiveRestartTests {
    private let clock = TestClock(isRunning: true)
    private let fixture: TestHouse

    init() async throws { fixture = try await TestHouse(.clock(clock)) }

    private func text(_ numbers: Range<Int>, names: String = "", end: String = "") -> String {
        "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:\(numbers.lowerBound)\n"
            + numbers.map { "#EXTINF:1,\n\(names)\($0).ts\n" }.joined() + end
    }

    /// From now on the origin gives this playlist, and this body for all segments.
    /// - Parameter age: the playlist's age in seconds.
    private func give(_ text: String, segments: String, age: Int = 0) async throws {
        try await fixture.origin.replaceRules(
            with: OriginRule("/live.m3u8") { ($0.status, $0.body, $0.headers) = (200, text, ["Age": "\(age)"]) },
            OriginRule("/*.ts") { ($0.status, $0.body) = (200, OriginRule.media(segments)) })
    }

    private func bytes(_ number: Int, of rendition: Rendition, in asset: Asset) async throws -> String {
        let segments = try #require(rendition.source?.playlist.segments)
        let segment = try #require(segments.first { Int($0.mediaSequenceNumber) == number })
        let resource = try #require(rendition.resource(of: segment))
        #expect(rendition.resource(named: resource.name) == resource)
        let fetch = try fixture.library.fetch(resource, in: rendition.folder, of: asset, urgency: .playback)
        defer { fetch.release() }
        try await fetch.end()
        return String(decoding: fetch.bytes, as: UTF8.self)
    }

    @Test func aRestartUnderTheSameNamesMixesNothing() async throws {
        try await give(text(5..<8), segments: "old")
        let asset = try await fixture.open("/live.m3u8")
        let rendition = try #require(asset.renditions.first)
        let old = try #require(rendition.source.flatMap { rendition.resource(of: $0.playlist.segments[2]) })
        #expect(try await bytes(7, of: rendition, in: asset) == OriginRule.media("old"))

        try await give(text(0..<3), segments: "new")
        _ = try await fixture.library.playlists.nextSource(of: rendition, in: asset)
        #expect(rendition.source?.playlist.firstSequenceNumber == 5, "an old text is not shown")
        #expect(
            try await bytes(7, of: rendition, in: asset) == OriginRule.media("old"), "what is shown stays what it was")
        try await give(text(1..<4), segments: "new")
        _ = try await fixture.library.playlists.nextSource(of: rendition, in: asset)
        try await give(text(5..<8), segments: "new")
        _ = try await fixture.library.playlists.nextSource(of: rendition, in: asset)
        #expect(try await bytes(7, of: rendition, in: asset) == OriginRule.media("new"))
        let new = try #require(rendition.source.flatMap { rendition.resource(of: $0.playlist.segments[2]) })
        #expect(new.url == old.url && new.name != old.name)
        #expect(rendition.resource(named: old.name) == old, "players may ask for it for a while")
    }

    @Test func aListUnderOtherNamesIsShownAfterTwoLoads() async throws {
        try await give(text(5..<8), segments: "old")
        let asset = try await fixture.open("/live.m3u8")
        let rendition = try #require(asset.renditions.first)
        for end in 3...4 {
            try await give(text(0..<end, names: "b"), segments: "new")
            _ = try await fixture.library.playlists.nextSource(of: rendition, in: asset)
        }
        let again = try await fixture.open("/live.m3u8")
        #expect(again === asset && rendition.source?.playlist.segments.first?.uri == "b0.ts")
        #expect(try await bytes(3, of: rendition, in: asset) == OriginRule.media("new"))
    }

    @Test func anotherBroadcastBeginsAfterTheEnd() async throws {
        let master = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=100000\nlive.m3u8\n"
        try await give(text(5..<8), segments: "old")
        try await fixture.origin.add(OriginRule("/master.m3u8") { ($0.status, $0.body) = (200, master) })
        let asset = try await fixture.open("/master.m3u8")
        let rendition = try #require(asset.renditions.first)
        _ = try await fixture.library.playlists.source(of: rendition, in: asset)
        let last = try #require(rendition.source.flatMap { rendition.resource(of: $0.playlist.segments[2]) })
        try await give(text(5..<8, end: "#EXT-X-ENDLIST\n"), segments: "old")
        _ = try await fixture.library.playlists.nextSource(of: rendition, in: asset)
        #expect(!rendition.isLive)

        try await give(text(0..<3), segments: "new")
        let new = try await fixture.library.playlists.nextSource(of: rendition, in: asset)
        #expect(new.playlist.isLive && rendition.isLive)
        #expect(try await bytes(0, of: rendition, in: asset) == OriginRule.media("new"))
        #expect(rendition.resource(named: last.name) == last, "players of the first one may ask for its last segment")
        let names = new.playlist.segments.map { rendition.name(of: $0).description }
        #expect(names == ["8.ts", "9.ts", "10.ts"], "not the names of the first one")
    }

    /// A broadcast that began at 0 is complete when it ends, so that its segments are stored.
    @Test("another broadcast replaces a stored one, after a restart of Weir too", arguments: [false, true])
    func anotherBroadcastReplacesAStoredOne(isRestarted: Bool) async throws {
        let master = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=100000\nlive.m3u8\n"
        func broadcast(_ numbers: Range<Int>, _ segments: String, end: String = "") async throws {
            try await give(text(numbers, end: end), segments: segments)
            try await fixture.origin.add(OriginRule("/master.m3u8") { ($0.status, $0.body) = (200, master) })
        }
        try await broadcast(0..<3, "old")
        let asset = try await fixture.open("/master.m3u8")
        let rendition = try #require(asset.renditions.first)
        _ = try await fixture.library.playlists.source(of: rendition, in: asset)
        try await broadcast(0..<3, "old", end: "#EXT-X-ENDLIST\n")
        _ = try await fixture.library.playlists.nextSource(of: rendition, in: asset)
        #expect(try await bytes(0, of: rendition, in: asset) == OriginRule.media("old"))
        #expect(!rendition.isLive && rendition.folder.bytes > 0)
        #expect(await fixture.library.revisions.current(asset) === asset, "nothing has changed")
        try await broadcast(1..<3, "old", end: "#EXT-X-ENDLIST\n")
        for _ in 0..<2 {
            try await fixture.origin.clearRequests()
            try await waitUntil("a look") { @LoopActor in
                #expect(await fixture.library.revisions.current(asset) === asset, "the origin has pruned its list")
                return try await fixture.origin.requests().contains { $0.path == "/live.m3u8" }
            }
        }
        if isRestarted {
            await fixture.flush()
            try await fixture.restart()
        }

        try await broadcast(0..<2, "new")
        let restored = try #require(fixture.library.assets.first)
        try await waitUntil("the new broadcast") { @LoopActor in
            await fixture.library.revisions.current(restored) !== restored
        }
        let new = try #require(fixture.library.assets.first)
        let again = try await fixture.rendition("video", of: new)
        #expect(again.isLive && again.folder.bytes == 0)
        #expect(try await bytes(0, of: again, in: new) == OriginRule.media("new"))
    }

    /// The state of the daemon between two broadcasts.
    enum Pause: String, CaseIterable { case short, idle, asleep, restarted }

    struct Course: CustomStringConvertible {
        let isMaster: Bool
        let isFetchedAfterTheEnd: Bool
        let isPlayed: Bool
        let pause: Pause
        let names: String
        let numbers: Range<Int>

        var description: String {
            let words = [
                isMaster ? "master" : "lone", isFetchedAfterTheEnd ? "fetched after the end" : "",
                isPlayed ? "played" : "", pause.rawValue, names.isEmpty ? "same names" : "other names", "\(numbers)",
            ]
            return words.filter { !$0.isEmpty }.joined(separator: ", ")
        }

        /// Each of the courses with each of the new broadcasts.
        static let all = [false, true].flatMap { isMaster in Pause.allCases.flatMap { all(isMaster, $0) } }

        private static func all(_ isMaster: Bool, _ pause: Pause) -> [Course] {
            let broadcasts = [("", 0..<3), ("b", 0..<3), ("", 7..<10)]
            return [(false, false), (false, true), (true, false), (true, true)].flatMap { isFetched, isPlayed in
                broadcasts.map { names, numbers in
                    Course(
                        isMaster: isMaster, isFetchedAfterTheEnd: isFetched, isPlayed: isPlayed, pause: pause,
                        names: names,
                        numbers: numbers)
                }
            }
        }
    }

    /// Opens the URL as a player does, and returns what it is shown.
    private func enter(
        _ course: Course
    ) async throws -> (asset: Asset, rendition: Rendition, source: Rendition.Source) {
        let asset = try await fixture.open(course.isMaster ? "/master.m3u8" : "/live.m3u8")
        _ = try await fixture.library.playlists.refresh(asset)
        let current = await fixture.library.revisions.current(asset)
        let rendition = try #require(current.renditions.first)
        return (current, rendition, try await fixture.library.playlists.source(of: rendition, in: current))
    }

    /// As `give`, with a multivariant playlist.
    private func giveWithMaster(_ text: String, segments: String) async throws {
        try await give(text, segments: segments)
        let master = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=100000\nlive.m3u8\n"
        try await fixture.origin.add(OriginRule("/master.m3u8") { ($0.status, $0.body) = (200, master) })
    }

    /// Enters the first broadcast, and sees its end.
    private func seeTheEnd(_ course: Course) async throws -> (asset: Asset, rendition: Rendition) {
        try await giveWithMaster(text(0..<3), segments: "old")
        let (asset, rendition, _) = try await enter(course)
        #expect(try await bytes(1, of: rendition, in: asset) == OriginRule.media("old"))

        try await giveWithMaster(text(0..<3, end: "#EXT-X-ENDLIST\n"), segments: "old")
        clock.advance(by: 1)
        _ = try await fixture.library.playlists.source(of: rendition, in: asset)
        #expect(!rendition.isLive)

        if course.isFetchedAfterTheEnd {
            for number in 0..<3 {
                _ = try await bytes(number, of: rendition, in: asset)
            }
            #expect(rendition.folder.bytes > 0)
        }
        return (asset, rendition)
    }

    /// Lets the time between the broadcasts pass.
    private func pass(_ course: Course, after asset: Asset, _ rendition: Rendition) async throws {
        switch course.pause {
        case .short: break
        case .idle: clock.advance(by: 3600)
        case .asleep:
            fixture.library.sleeping.limit = 0
            fixture.library.sleeping.recordUse(of: asset)
        case .restarted:
            await fixture.flush()
            try await fixture.restart()
        }
        if course.isPlayed {
            let asset = try await fixture.open(course.isMaster ? "/master.m3u8" : "/live.m3u8")
            fixture.library.playheads.cursor(of: "a session", in: asset, rendition.name.id)?.served("0.ts")
        }
    }

    @Test("a new broadcast is shown within two target durations, and mixed with nothing", arguments: Course.all)
    func aNewBroadcastIsShown(_ course: Course) async throws {
        let (old, rendition) = try await seeTheEnd(course)
        try await pass(course, after: old, rendition)
        try await giveWithMaster(text(course.numbers, names: course.names), segments: "new")
        for _ in 0..<4 {
            clock.advance(by: 0.5)
            let (asset, rendition, source) = try await enter(course)
            if rendition.isLive {
                #expect(source.playlist.segments.map(\.uri) == course.numbers.map { "\(course.names)\($0).ts" })
                for number in course.numbers {
                    #expect(try await bytes(number, of: rendition, in: asset) == OriginRule.media("new"))
                }
                return
            }
            #expect(asset === old || course.pause == .restarted)
        }
        Issue.record("the new broadcast is not shown")
    }

    /// The numbers in names differ from the origin's after a restart, in a mirror's list as well.
    @Test func afterARestartAMirrorGivesTheSameSegment() async throws {
        let lines = ["x", "y"].map { "#EXT-X-STREAM-INF:BANDWIDTH=1,PATHWAY-ID=\"\($0)\"\n/\($0).m3u8\n" }
        func give(_ numbers: Range<Int>) async throws {
            try await fixture.origin.replaceRules(
                with: OriginRule("/master.m3u8") { ($0.status, $0.body) = (200, "#EXTM3U\n" + lines.joined()) },
                OriginRule("/x-*") { $0.status = 404 })
            for mirror in ["x", "y"] {
                let text = text(numbers, names: mirror + "-")
                try await fixture.origin.add(OriginRule("/\(mirror).m3u8") { ($0.status, $0.body) = (200, text) })
            }
            for number in numbers {
                try await fixture.origin.add(
                    OriginRule("/y-\(number).ts") {
                        ($0.status, $0.body) = (200, OriginRule.media("segment \(number)"))
                    })
            }
        }
        try await give(5..<8)
        let asset = try await fixture.open("/master.m3u8")
        let rendition = try await fixture.rendition("video", of: asset)
        for numbers in [0..<3, 1..<4, 2..<12] {
            try await give(numbers)
            _ = try await fixture.library.playlists.nextSource(of: rendition, in: asset)
        }
        #expect(rendition.source?.shift == 7)
        #expect(try await bytes(2, of: rendition, in: asset) == OriginRule.media("segment 2"))
    }

    @Test func aRestartWhileNobodyLookedMixesNothing() async throws {
        try await give(text(5..<8), segments: "old", age: 60)
        let asset = try await fixture.open("/live.m3u8")
        let rendition = try #require(asset.renditions.first)
        #expect(try await bytes(7, of: rendition, in: asset) == OriginRule.media("old"))
        try await give(text(5..<8), segments: "new")
        _ = try await fixture.library.playlists.nextSource(of: rendition, in: asset)
        #expect(try await bytes(7, of: rendition, in: asset) == OriginRule.media("new"))
    }

    @Test func anEndThatGoesAwayAgainFreezesNothing() async throws {
        try await give(text(5..<8), segments: "old")
        let asset = try await fixture.open("/live.m3u8")
        let rendition = try #require(asset.renditions.first)
        try await give(text(5..<8, end: "#EXT-X-ENDLIST\n"), segments: "old")
        _ = try await fixture.library.playlists.nextSource(of: rendition, in: asset)
        #expect(!rendition.isLive)
        #expect(try await bytes(7, of: rendition, in: asset) == OriginRule.media("old"))
        #expect(rendition.folder.sizes.isEmpty, "the end of a window is not stored")
        try await give(text(6..<9), segments: "new")
        _ = try await fixture.library.playlists.nextSource(of: rendition, in: asset)
        #expect(rendition.isLive)
        #expect(try await bytes(8, of: rendition, in: asset) == OriginRule.media("new"))
    }
}

/// A live stream with keys and parts at two mirrors, of which the first loses files.
@Suite @LoopActor struct LiveMirrorTests {
    /// The window at a mirror, which names its files in a manner of its own.
    private func window(_ mirror: String) -> String {
        let segments = (3..<6).map { number in
            "#EXT-X-KEY:METHOD=AES-128,URI=\"\(mirror)-key\(number / 4).key\"\n"
                + "#EXTINF:1,\n\(mirror)-\(number).mp4\n"
        }
        let parts = (0..<2).map { "#EXT-X-PART:DURATION=0.5,URI=\"\(mirror)-6-\($0).mp4\"\n" }
        return "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-PART-INF:PART-TARGET=0.5\n#EXT-X-MEDIA-SEQUENCE:3\n"
            + "#EXT-X-MAP:URI=\"\(mirror)-init.mp4\"\n" + segments.joined() + parts.joined()
    }

    private func start() async throws -> (TestHouse, Asset, Rendition, Rendition.Source) {
        let fixture = try await TestHouse()
        let lines = ["x", "y"].map { "#EXT-X-STREAM-INF:BANDWIDTH=1,PATHWAY-ID=\"\($0)\"\n/\($0).m3u8\n" }
        try await fixture.origin.add(
            OriginRule("/master.m3u8") { ($0.status, $0.body) = (200, "#EXTM3U\n" + lines.joined()) })
        for mirror in ["x", "y"] {
            let text = window(mirror)
            try await fixture.origin.add(OriginRule("/\(mirror).m3u8") { ($0.status, $0.body) = (200, text) })
        }
        try await fixture.origin.add(
            OriginRule("/x-*") { $0.status = 404 },
            OriginRule("/y-key1.key") { ($0.status, $0.body) = (200, "0123456789abcdef") },
            OriginRule("/y-*") { ($0.status, $0.body) = (200, OriginRule.media("of the mirror")) })
        let asset = try await fixture.open("/master.m3u8")
        let rendition = try await fixture.rendition("video", of: asset)
        return (fixture, asset, rendition, try #require(rendition.source))
    }

    private func text(_ resource: Resource?, in folder: PieceFolder, of asset: Asset, _ fixture: TestHouse)
        async throws
        -> String
    {
        let fetch = try fixture.library.fetch(try #require(resource), in: folder, of: asset, urgency: .playback)
        defer { fetch.release() }
        try await fetch.end()
        return String(decoding: fetch.bytes, as: UTF8.self)
    }

    @Test func aPartComesFromTheMirror() async throws {
        let (fixture, asset, rendition, source) = try await start()
        let part = try #require(source.playlist.parts.last)
        let name = try #require(rendition.name(of: part, in: source))
        let got = try await text(rendition.resource(named: name), in: rendition.folder, of: asset, fixture)
        #expect(got == OriginRule.media("of the mirror"))
        #expect(try await fixture.mediaRequests() == ["/x-6-1.mp4", "/y-6-1.mp4"])
    }

    @Test func aHintOfUnknownLengthIsServedToTheEndOfTheFile() async throws {
        let fixture = try await TestHouse()
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-PART-INF:PART-TARGET=0.5\n#EXTINF:1,\n/ts/90p/0.ts\n"
            + "#EXT-X-PART:DURATION=0.5,URI=\"/ts/90p/1.ts\",BYTERANGE=\"376@0\"\n"
            + "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"/ts/90p/1.ts\",BYTERANGE-START=376\n"
        try await fixture.origin.add(OriginRule("/live.m3u8") { ($0.status, $0.body) = (200, text) })
        let asset = try await fixture.open("/live.m3u8")
        let rendition = try await fixture.rendition("media", of: asset)
        let source = try #require(rendition.source)
        let hint = try #require(source.playlist.preloadHints.first)
        let name = try #require(rendition.name(of: hint, in: source))
        let resource = try #require(rendition.resource(named: name))
        let fetch = try fixture.library.fetch(resource, in: rendition.folder, of: asset, urgency: .playback)
        try await fetch.end()
        #expect(fetch.bytes == Array(try Repository.fixture("/ts/90p/1.ts").dropFirst(376)))
        #expect(try await fixture.origin.requests().last?.headers["range"] == "bytes=376-")
    }

    @Test func aKeyComesFromTheMirror() async throws {
        let (fixture, asset, rendition, source) = try await start()
        let key = try #require(source.playlist.segments.last?.keys.first)
        let number = try #require(rendition.number(of: key, in: source))
        let got = try await text(asset.keys.resource(number), in: asset.keys.folder, of: asset, fixture)
        #expect(got == "0123456789abcdef")
        #expect(try await fixture.mediaRequests() == ["/x-key1.key", "/y-key1.key"])
    }

    @Test func aSectionComesFromTheMirror() async throws {
        let (fixture, asset, rendition, source) = try await start()
        let map = try #require(source.playlist.maps.first.flatMap { rendition.resource(of: $0, in: source) })
        #expect(try await text(map, in: rendition.folder, of: asset, fixture) == OriginRule.media("of the mirror"))
        #expect(rendition.folder.sizes.isEmpty, "nothing of a live stream is stored")
    }
}
