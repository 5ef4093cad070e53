import Assets
import EventLoop
import HLS
import HTTPServer
import Retention
import TestRooms
import TestSupport
import Testing

@testable import Playback

/// A live stream of the origin that a player watches, with a time shift.
@LoopActor private struct WatchedStream {
    let fixture: TestHouse
    let clock: TestClock
    /// The path of the entry.
    let entry: String

    init(
        _ entry: String = "/_live/show/media.m3u8", seconds: Double = 1_000, cacheLimit: Int64? = nil, files: Int = 100
    ) async throws {
        clock = TestClock(isRunning: true)
        fixture = try await TestHouse(
            .playback { $0.timeShift = TimeShifts.Limits(seconds: seconds, files: files) }, .cacheLimit(cacheLimit),
            .clock(clock))
        try await fixture.origin.declareLiveSegments(seconds: 1)
        self.entry = fixture.typed(entry)
    }

    var rendition: Rendition { get throws { try #require(fixture.library.assets.first?.renditions.first) } }

    /// The text of the media playlist at a path.
    func text(_ path: String? = nil) async throws -> String { try await fixture.get(path ?? entry).text }

    /// The segments' paths in the media playlist at a path.
    func segments(_ path: String? = nil) async throws -> [String] {
        let path = path ?? entry
        return PlaylistText.paths(in: try await text(path), at: path).filter { $0.hasSuffix(".ts") }
    }

    /// Plays what the playlist lists.
    func play(_ path: String? = nil) async throws {
        for segment in try await segments(path) {
            #expect(try await fixture.get(segment).status == 200)
        }
    }

    /// Advances the origin by some segments, one at a time, and waits until the playlist at a path ends with the last one.
    func goOn(by count: Int, _ path: String? = nil, isPlayed: Bool) async throws {
        for _ in 0..<count {
            let number = try await last(path) + 1
            try await fixture.origin.advance("show")
            try await waitUntil("segment \(number)", within: .seconds(30)) {
                try await last(path) >= number && !timeShift.isBehind(number)
            }
            if isPlayed {
                try await play(path)
            }
        }
    }

    private func last(_ path: String?) async throws -> Int {
        let segments = try await segments(path)
        let name = try #require(segments.last?.split(separator: "/").last)
        return try #require(Int(name.prefix { $0 != "." }))
    }

    /// The first number that the playlist at a path lists.
    func first(_ path: String? = nil) async throws -> Int {
        let lines = try await text(path).split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("#EXT-X-MEDIA-SEQUENCE:") })
        return try #require(Int(line.drop { $0 != ":" }.dropFirst()))
    }

    private var timeShift: FollowedState { FollowedState(rendition: try? rendition) }

    /// True while what was kept for the stream stays.
    var isKept: Bool { (try? rendition.live?.timeShift) != nil }
}

/// The state of what is fetched for a rendition.
@LoopActor private struct FollowedState {
    let rendition: Rendition?

    /// True while a segment of the window before the given one is about to leave it, and is not there.
    func isBehind(_ number: Int) -> Bool {
        guard let rendition, let source = rendition.source, let timeShift = rendition.live?.timeShift else {
            return false
        }
        guard let oldest = source.playlist.segments.first else { return false }
        return Int(oldest.mediaSequenceNumber) > 0 && !timeShift.isKept(oldest, source, of: rendition)
    }
}

@Suite @LoopActor struct TimeShiftTests {
    @Test func whatWasPlayedStaysInTheWindowAndIsNotFetchedAgain() async throws {
        let stream = try await WatchedStream()
        try await stream.play()
        try await stream.goOn(by: 9, isPlayed: true)
        #expect(try await stream.first() == 0)
        let segments = try await stream.segments()
        #expect(segments.count == 13)
        for (number, path) in segments.enumerated() {
            let answer = try await stream.fixture.get(path)
            #expect(try answer.body == Repository.fixture("/ts/90p/\(number % 6).ts"), "\(number)")
        }
        let requests = try await stream.fixture.mediaPaths()
        #expect(Set(requests).count == requests.count && requests.count == 13, "\(requests)")
        // The discontinuity behind the sixth segment keeps its number.
        let text = try await stream.text()
        #expect(text.contains("#EXT-X-DISCONTINUITY-SEQUENCE:0\n"), "\(text)")
        #expect(text.split(separator: "#EXT-X-DISCONTINUITY\n").count == 3)
        // Nothing of it is stored.
        #expect(!stream.fixture.folder.files().contains { $0.hasSuffix(".ts") })
        #expect(stream.fixture.library.assets[0].bytes == 0)
    }

    @Test func whileThePlayerIsPausedTheStreamIsFetchedForIt() async throws {
        let stream = try await WatchedStream()
        try await stream.play()
        try await stream.goOn(by: 8, isPlayed: false)
        #expect(try await stream.first() == 0)
        try await waitUntil("all that is dropped") {
            try await stream.fixture.mediaPaths().contains("/_live/show/7.ts")
        }
        let requests = try await stream.fixture.mediaPaths()
        #expect(Set(requests).count == requests.count, "\(requests)")
        // It goes on where it was paused, long after the origin has dropped that.
        for (number, path) in try await stream.segments().enumerated() {
            #expect(try await stream.fixture.get(path).body == Repository.fixture("/ts/90p/\(number % 6).ts"))
        }
    }

    @Test func aPlayerThatOnlyOpensARenditionKeepsNothing() async throws {
        let stream = try await WatchedStream()
        for path in try await stream.segments().prefix(2) {
            #expect(try await stream.fixture.get(path).status == 200)
        }
        try await stream.fixture.origin.advance("show", by: 2)
        try await waitUntil("the origin's window", within: .seconds(30)) { try await stream.first() == 2 }
        #expect(!stream.isKept)
        #expect(try await stream.fixture.mediaPaths().count == 2)
    }

    @Test func allIsGoneAfterTheLastPlayerHasLeft() async throws {
        let stream = try await WatchedStream()
        try await stream.play()
        try await stream.goOn(by: 2, isPlayed: true)
        #expect(stream.isKept)
        try await waitUntil("the count of bytes") { stream.fixture.retention.cachedBytes > 0 }
        stream.clock.advance(by: 119)
        try await stream.goOn(by: 1, isPlayed: false)
        #expect(stream.isKept)
        stream.clock.advance(by: 121)
        try await waitUntil("the end", within: .seconds(30)) { !stream.isKept }
        #expect(stream.fixture.retention.cachedBytes == 0)
        #expect(try await stream.first() == 3)
    }

    @Test func aPauseIsAtMostAsLongAsWhatIsKept() async throws {
        let stream = try await WatchedStream(seconds: 100)
        try await stream.play()
        try await stream.goOn(by: 1, isPlayed: true)
        // The player goes on loading the playlist.
        stream.clock.advance(by: 60)
        try await stream.goOn(by: 1, isPlayed: false)
        #expect(stream.isKept)
        stream.clock.advance(by: 60)
        _ = try await stream.text()
        try await waitUntil("the end", within: .seconds(30)) { !stream.isKept }
    }

    @Test func theWindowIsNoLongerThanTheTime() async throws {
        let stream = try await WatchedStream(seconds: 7)
        try await stream.play()
        try await stream.goOn(by: 8, isPlayed: true)
        // The origin's four segments, and three before them, of a second each.
        #expect(try await stream.first() == 5)
        #expect(try await stream.segments().count == 7)
    }

    /// The origin lists four segments of a second each.
    @Test func anOriginThatListsAsMuchItselfNeedsNone() async throws {
        let stream = try await WatchedStream(seconds: 4)
        try await stream.play()
        try await stream.goOn(by: 3, isPlayed: true)
        #expect(!stream.isKept)
        #expect(try await stream.segments().count == 4)
    }

    @Test func thePlayCacheLimitsIt() async throws {
        let size = try Int64(Repository.fixture("/ts/90p/0.ts").count)
        let stream = try await WatchedStream(cacheLimit: 8 * size)
        try await stream.play()
        try await stream.goOn(by: 12, isPlayed: true)
        try await waitUntil("the limit", within: .seconds(30)) {
            stream.fixture.retention.cachedBytes <= 8 * size && stream.fixture.retention.cachedBytes > 0
        }
        let first = try await stream.first()
        #expect(first > 2 && first <= 12, "\(first)")
        try await stream.play()
    }

    @Test func theNumberOfFilesIsLimited() async throws {
        let stream = try await WatchedStream(files: 8)
        try await stream.play()
        try await stream.goOn(by: 10, isPlayed: true)
        try await waitUntil("the limit", within: .seconds(30)) {
            (try stream.rendition.live?.timeShift?.count ?? 0) <= 8
        }
        #expect(try await stream.first() >= 5)
    }

    @Test func aSecondPlayerHasTheWholeWindowAtOnce() async throws {
        let stream = try await WatchedStream("/_live/show/master.m3u8")
        let first = try #require(try await stream.fixture.entry(stream.entry).first)
        try await stream.play(first)
        try await stream.goOn(by: 6, first, isPlayed: true)
        let second = try #require(try await stream.fixture.entry(stream.entry).first)
        #expect(first != second)
        let requests = try await stream.fixture.mediaPaths()
        #expect(try await stream.first(second) == 0)
        try await stream.play(second)
        #expect(try await stream.fixture.mediaPaths() == requests)
    }

    @Test(arguments: ["master", "media"])
    func aPlayerThatIsBehindPlaysToTheEndOfTheBroadcast(_ entry: String) async throws {
        let stream = try await WatchedStream("/_live/show/\(entry).m3u8")
        let path = entry == "media" ? stream.entry : try #require(try await stream.fixture.entry(stream.entry).first)
        try await stream.play(path)
        try await stream.goOn(by: 6, path, isPlayed: false)
        try await stream.fixture.origin.end("show")
        var text = ""
        try await waitUntil("the end", within: .seconds(30)) {
            text = try await stream.text(path)
            return text.contains("#EXT-X-ENDLIST")
        }
        #expect(text.contains("#EXT-X-MEDIA-SEQUENCE:0\n"), "\(text)")
        let segments = try await stream.segments(path)
        #expect(segments.count == 10)
        for (number, path) in segments.enumerated() {
            #expect(try await stream.fixture.get(path).body == Repository.fixture("/ts/90p/\(number % 6).ts"))
        }
        // Whoever comes now gets what the origin has.
        let late = entry == "media" ? stream.entry : try #require(try await stream.fixture.entry(stream.entry).first)
        #expect(try await stream.first(late) == 6)
    }

    @Test func nothingIsFetchedAheadOnAMeteredNetwork() async throws {
        let stream = try await WatchedStream()
        stream.fixture.playback.timeShifts?.mayFetchAhead = { false }
        try await stream.play()
        try await stream.fixture.origin.advance("show", by: 4)
        try await waitUntil("the next window", within: .seconds(30)) { try await stream.segments().count == 8 }
        try await stream.fixture.origin.advance("show")
        try await waitUntil("the window after it", within: .seconds(30)) { try await stream.first() == 5 }
        #expect(try await stream.fixture.mediaPaths().count == 4)
    }

    /// Each fetch has a file from its start, and an origin may list thousands of segments at once.
    @Test func atMostEightSegmentsAreFetchedAtATime() async throws {
        let stream = try await WatchedStream()
        try await stream.play()
        try await stream.fixture.origin.add(OriginRule("/_vod/*.ts") { $0.hold = true })
        let names = (0..<4).map { "\($0).ts" } + (4..<40).map { "/_vod/40x3000/\($0).ts" }
        let lines = names.map { "#EXTINF:1,\n\($0)\n" }.joined()
        try await stream.fixture.put(
            "*/media.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:0\n" + lines)
        let count = { try stream.rendition.live?.timeShift?.count ?? 0 }
        try await waitUntil("eight fetches", within: .seconds(30)) { try count() >= 4 + 8 }
        // Further turns begin no more of them.
        let playlists = { try await stream.fixture.origin.requests(for: "/_live/show/media.m3u8").count }
        let known = try await playlists()
        try await waitUntil("two more turns", within: .seconds(30)) { try await playlists() >= known + 2 }
        #expect(try count() == 4 + 8)
        // As soon as some have ended, others begin. The last three are for players that do not pause.
        try await waitUntil("all that leaves", within: .seconds(30)) {
            try await stream.fixture.origin.release()
            return try count() == 40 - 3
        }
    }

    @Test func aRestartOfTheNumbersForgetsWhatWasKept() async throws {
        let stream = try await WatchedStream()
        try await stream.play()
        try await stream.goOn(by: 3, isPlayed: true)
        #expect(try await stream.first() == 0)
        let lines = (0..<2).map { "#EXTINF:1,\nnew-\($0).ts\n" }.joined()
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:0\n" + lines
        try await stream.fixture.put("*/media.m3u8", text)
        stream.clock.advance(by: 60)
        try await waitUntil("the new broadcast", within: .seconds(30)) { try await stream.segments().count == 2 }
        #expect(try await stream.first() == 0)
    }
}
