import Assets
import Downloads
import EventLoop
import Fetching
import Foundation
import HLS
import Orders
import Store
import TestRooms
import TestSupport
import Testing

@testable import Recordings

/// A channel of the origin, with recordings that begin when the test says so.
@LoopActor private final class ChannelScene {
    let house: TestHouse
    let path: String
    private(set) var channel: Asset
    private(set) var recorder: ChannelRecorder

    init(_ path: String = "/_live/news/master.m3u8", _ parts: TestHouse.Part...) async throws {
        house = try await TestHouse(.downloader(), .all(parts))
        self.path = path
        try await house.origin.declareLiveSegments(seconds: 1)
        channel = try await house.open(path)
        recorder = ChannelRecorder(house.library, house.downloader)
    }

    func restart(_ changes: TestHouse.Part...) async throws {
        try await house.restart(.all(changes))
        recorder = ChannelRecorder(house.library, house.downloader)
        channel = try #require(house.library.asset(at: try house.url(path)))
    }

    func record(name: String? = nil) async throws -> Asset {
        try await recorder.record(channel, DownloadOrder(), name: name).asset
    }

    func download(of recording: Asset) throws -> Download {
        try #require(house.downloader.download(of: recording))
    }

    /// Waits until a recording lists a number of segments.
    func records(_ count: Int, in recording: Asset) async throws {
        try await waitUntil("\(count) segments of \(recording.name)", within: .seconds(30)) {
            recording.renditions.contains { ($0.recording?.count ?? 0) >= count }
        }
    }

    /// The numbers of the recorded segments.
    func numbers(of recording: Asset) async -> [Int] {
        for rendition in recording.renditions {
            if let source = await rendition.recording?.current() {
                return source.playlist.segments.map { Int($0.mediaSequenceNumber) }
            }
        }
        return []
    }
}

@Suite @LoopActor struct ChannelRecorderTests {
    /// More than any disk has: an hour of ten terabits a second.
    @Test func aRecordingWithAKnownEndReservesItsRoom() async throws {
        let house = try await TestHouse(.downloader())
        let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=10000000000000\nmedia.m3u8\n"
        try await house.origin.add(OriginRule("/_live/huge/master.m3u8") { ($0.status, $0.body) = (200, text) })
        try await house.origin.add(OriginRule("/ts/*.ts") { $0.hold = true })
        let worst = DownloadOrder(Selection(quality: .worst))
        let film = try await house.downloader.start(house.open("/ts/master.m3u8"), worst)
        try await waitUntil("the film") { film.state == .running }

        let channel = try await house.open("/_live/huge/master.m3u8")
        let recorder = ChannelRecorder(house.library, house.downloader)
        var order = DownloadOrder()
        order.recordSeconds = 3_600
        let recording = try await recorder.record(channel, order)
        try await waitUntil("the film leaves room", within: .seconds(20)) { film.state == .waiting }
        #expect(film.need == .space && film.failure?.message.contains("for recordings in progress") ?? false)
        let other = try await house.open("/cmaf/master.m3u8")
        await #expect {
            _ = try await house.downloader.start(other, worst)
        } throws: { error in
            guard case Downloader.Refusal.noRoom(_, _, 0, true) = error else { return false }
            return true
        }
        try await waitUntil("a recorded segment", within: .seconds(20)) { recording.asset.bytes > 0 }

        await house.downloader.pause(recording)
        house.downloader.retry(.space)
        try await waitUntil("the film goes on") { film.state == .running }
        _ = try await house.downloader.start(other, worst)
    }

    /// Its end waits for a segment in front of one that is there, and not for long.
    @Test(arguments: [true, false]) func aSegmentThatIsOnItsWayAtTheEndIsNoHole(comes: Bool) async throws {
        let clock = TestClock(isRunning: true)
        let scene = try await ChannelScene("/_live/news/media.m3u8", .clock(clock))
        var order = DownloadOrder()
        order.recordSeconds = 60
        let recording = try await scene.recorder.record(scene.channel, order)
        try await scene.records(4, in: recording.asset)
        try await scene.house.origin.add(OriginRule("/_live/news/4.ts") { $0.hold = true })
        try await scene.house.origin.advance("news", by: 2)
        try await waitUntil("the segment behind it", within: .seconds(20)) {
            let requests = try await scene.house.origin.requests(for: "/_live/news/5.ts")
            return requests.contains { $0.state == "done" }
        }
        clock.advance(by: 61)
        let playlists = { try await scene.house.origin.requests(for: "/_live/news/media.m3u8").count }
        let known = try await playlists()
        try await waitUntil("two more turns", within: .seconds(20)) {
            try await playlists() >= known + 2 || recording.state == .complete
        }
        if comes {
            try await scene.house.origin.release()
        } else {
            clock.advance(by: 10)
        }
        try await waitUntil("the end", within: .seconds(20)) { recording.state == .complete }
        #expect((recording.shortfall == nil) == comes)
    }

    /// One without an end may be ended at any time.
    @Test func aRecordingWithoutAnEndReservesNothing() async throws {
        let scene = try await ChannelScene()
        _ = try await scene.record()
        let order = DownloadOrder(Selection(quality: .worst))
        let film = try await scene.house.downloader.start(scene.house.open("/ts/master.m3u8"), order)
        try await waitUntil("the film") { film.state == .complete }
    }

    @Test(arguments: ["master", "media"])
    func twoRecordingsOfAChannelAskTheOriginOnce(_ entry: String) async throws {
        let scene = try await ChannelScene("/_live/news/\(entry).m3u8")
        let first = try await scene.record()
        try await scene.records(4, in: first)
        try await scene.house.origin.advance("news", by: 2)
        try await scene.records(6, in: first)
        let second = try await scene.record()
        try await scene.records(4, in: second)
        for _ in 0..<3 {
            try await scene.house.origin.advance("news")
            try await scene.records(await scene.numbers(of: first).count + 1, in: first)
        }
        try await scene.records(7, in: second)
        #expect(first !== second && first.name != second.name)
        #expect(await scene.numbers(of: first) == Array(0...8))
        #expect(await scene.numbers(of: second) == Array(2...8))
        let requests = try await scene.house.mediaRequests()
        #expect(requests.sorted() == (0...8).map { "/_live/news/\($0).ts" })
        for asset in [first, second] {
            let folder = try #require(asset.renditions.first { $0.recording != nil }).folder
            for number in 2...8 {
                let path = scene.house.folder.path("assets/\(asset.id)/\(folder.id)/\(number).ts")
                let bytes = try Data(contentsOf: URL(filePath: path))
                #expect(try bytes == Repository.fixture("/ts/90p/\(number % 6).ts"), "\(asset.name) \(number)")
            }
        }
    }

    @Test func twoRecordingsLoadOnePlaylist() async throws {
        let scene = try await ChannelScene("/_live/news/media.m3u8")
        let first = try await scene.record()
        try await scene.records(4, in: first)
        let second = try await scene.record()
        try await scene.records(4, in: second)
        try await scene.house.origin.clearRequests()
        for count in 5...8 {
            try await scene.house.origin.advance("news")
            try await scene.records(count, in: first)
            try await scene.records(count, in: second)
        }
        // A recording of its own loads it at least once for each segment; two would load it eight times.
        #expect(try await scene.house.origin.requests(for: "/_live/news/media.m3u8").count <= 7)
    }

    @Test func aRecordingIsFoundByItsNameAndItsChannelByTheURL() async throws {
        let scene = try await ChannelScene()
        let recording = try await scene.record()
        try await scene.records(4, in: recording)
        let library = scene.house.library
        #expect(recording.name.wholeMatch(of: /news-\d{4}-\d\d-\d\d-\d{4}/) != nil, "\(recording.name)")
        #expect(recording.title?.wholeMatch(of: /news \d{4}-\d\d-\d\d \d\d:\d\d/) != nil)
        #expect(library.asset(at: recording.origin) === scene.channel)
        #expect(library.channel(of: recording) === scene.channel)
        #expect(library.recordings(of: scene.channel).map(\.id) == [recording.id])
        #expect(scene.channel.bytes == 0 && !scene.channel.isRecording)
        // A kill changes none of that.
        try await scene.restart()
        let same = try #require(scene.house.library.asset(named: recording.name))
        #expect(same.id == recording.id && same.isRecording)
        #expect(scene.channel.id != same.id && scene.house.library.channel(of: same) === scene.channel)
    }

    @Test func aRecordingGoesOnAfterAKillThroughItsChannel() async throws {
        let scene = try await ChannelScene("/_live/news/media.m3u8")
        let recording = try await scene.record()
        try await scene.records(4, in: recording)
        try await scene.restart()
        try await scene.house.origin.clearRequests()
        let same = try #require(scene.house.library.asset(named: recording.name))
        scene.house.downloader.resume()
        try await waitUntil("the window") { !(same.renditions.first?.recording?.window.isEmpty ?? true) }
        let other = try await scene.record()
        try await scene.records(4, in: other)
        try await scene.house.origin.advance("news", by: 2)
        try await scene.records(6, in: same)
        try await scene.records(6, in: other)
        // The window of the second recording is in the first one.
        #expect(try await scene.house.mediaRequests().sorted() == ["/_live/news/4.ts", "/_live/news/5.ts"])
    }

    @Test func aRecordingStaysWhenItsChannelIsRemoved() async throws {
        let scene = try await ChannelScene()
        let recording = try await scene.record()
        try await scene.records(4, in: recording)
        _ = try await scene.house.library.remove(scene.channel)
        try await scene.house.origin.advance("news")
        try await scene.records(5, in: recording)
        // The channel comes back under its URL.
        let channel = try await scene.house.open(scene.path)
        #expect(scene.house.library.channel(of: recording) === channel)
        try await scene.house.origin.advance("news")
        try await scene.records(6, in: recording)
    }

    @Test func aNameThatARecordingHasGetsANumber() async throws {
        let scene = try await ChannelScene()
        #expect(try await scene.record(name: "evening").name == "evening")
        #expect(try await scene.record(name: "evening").name == "evening-2")
        await #expect(throws: Downloader.Refusal.self) { try await scene.record(name: scene.channel.name) }
    }

    @Test func nothingIsLeftOfARefusedRecording() async throws {
        let scene = try await ChannelScene()
        try await scene.house.origin.add(OriginRule("*/media.m3u8") { $0.status = 404 })
        await #expect(throws: Downloader.Refusal.self) { try await scene.record() }
        #expect(scene.house.library.assets.map(\.id) == [scene.channel.id])
        #expect(scene.house.downloader.downloads.isEmpty)
    }

    /// An earlier Weir had one asset for the channel and its recording.
    @Test func aRecordingOfAnEarlierStoreKeepsItsNameAndFreesItsURL() async throws {
        let scene = try await ChannelScene("/_live/news/media.m3u8")
        let former = scene.channel
        let rendition = former.renditions[0]
        let recording = try #require(try await scene.house.library.recordings.start(rendition, of: former))
        for item in recording.items {
            for need in item.needed {
                let fetch = try scene.house.library.fetch(
                    need.resource, in: need.folder, of: former, urgency: .background)
                try await fetch.end()
                fetch.release()
            }
        }
        try recording.advance()
        try await scene.house.restart()
        for isKnown in [false, true] {
            let library = scene.house.library
            let same = try #require(library.asset(named: former.name))
            #expect(same.id == former.id && same.isRecording && same.bytes > 0)
            let channel = try await scene.house.open(scene.path)
            #expect(channel !== same && channel.isLive != isKnown && channel.bytes == 0)
            #expect(library.channel(of: same) === channel)
            await library.records.saveNew(channel)
            try await scene.house.restart()
        }
        #expect(scene.house.library.assets.count == 2)
    }
}

/// When a recording runs, beside downloads, rules and a full disk.
@Suite @LoopActor struct RecordingTimeTests {
    private static func machine(minute: Int, isMetered: Bool = false) -> Conditions {
        var conditions = Conditions()
        conditions.minute = .value(minute)
        conditions.isMetered = .value(isMetered)
        return conditions
    }

    @Test("a recording runs beside all downloads") func itRunsBesideAllDownloads() async throws {
        let scene = try await ChannelScene("/_live/news/media.m3u8", .downloader { $0.running = 1 })
        try await scene.house.origin.add(OriginRule("/ts/*.ts") { $0.hold = true })
        let film = try await scene.house.downloader.start(scene.house.open("/ts/master.m3u8"), DownloadOrder())
        #expect(film.state == .running)
        for _ in 0..<2 {
            try await scene.records(4, in: try await scene.record())
        }
        #expect(film.state == .running)
    }

    @Test func aRuleStopsItAndSaysSo() async throws {
        let scene = try await ChannelScene(
            "/_live/news/media.m3u8",
            .downloader {
                $0.rules.hours = [DayHours("22:00-06:00")!]
                $0.rules.onlyIdle = true
            })
        scene.house.downloader.apply(Self.machine(minute: 720))
        let held = try scene.download(of: try await scene.record())
        #expect(held.state == .waiting && held.need == .hours)
        let sentence = try #require(held.holds.first?.message)
        #expect(sentence.hasPrefix("downloads run at 22:00-06:00 only: ") && sentence.contains("--ignore-rules"))
        #expect(try await scene.house.mediaRequests() == [])

        var order = DownloadOrder()
        order.rules = .ignoringAll
        let free = try await scene.recorder.record(scene.channel, order).asset
        try await scene.records(4, in: free)
        scene.house.downloader.apply(Self.machine(minute: 1_380))
        try await scene.records(4, in: held.asset)
    }

    @Test func aRecordingThatARuleHeldUntilItsEndFails() async throws {
        let clock = TestClock(isRunning: true)
        let scene = try await ChannelScene(
            "/_live/news/media.m3u8", .clock(clock), .downloader { $0.rules.hours = [DayHours("22:00-06:00")!] })
        scene.house.downloader.apply(Self.machine(minute: 720))
        var order = DownloadOrder()
        order.recordSeconds = 600
        let held = try await scene.recorder.record(scene.channel, order)
        #expect(held.state == .waiting)
        clock.advance(by: 601)
        await scene.house.downloader.resume(held)
        #expect(held.state == .failed && held.failure?.message.contains("its time was over") ?? false)
        #expect(try await scene.house.mediaRequests() == [])
    }

    @Test func aRecordingWhoseEndPassedWhileNothingRanEndsWithWhatItHas() async throws {
        let clock = TestClock(isRunning: true)
        let scene = try await ChannelScene("/_live/news/media.m3u8", .clock(clock), .downloader())
        var order = DownloadOrder()
        order.recordSeconds = 600
        let recording = try await scene.recorder.record(scene.channel, order).asset
        try await scene.records(4, in: recording)
        try await scene.restart()
        try await scene.house.origin.advance("news", by: 2)
        clock.advance(by: 601)
        scene.house.downloader.resume()
        let same = try #require(scene.house.library.asset(named: recording.name))
        try await waitUntil("the end") { try scene.download(of: same).state == .complete }
        #expect(same.duration == 4 && same.isPlayableOffline && !same.isLive)
    }

    /// The bundle says that it has ended before the catalogue does.
    @Test(arguments: [nil, 600]) func aRecordingWhoseEndWasNotNotedBeforeAKillIsComplete(seconds: Int64?) async throws {
        let clock = TestClock(isRunning: true)
        let scene = try await ChannelScene("/_live/news/media.m3u8", .clock(clock), .downloader())
        var order = DownloadOrder()
        order.recordSeconds = seconds
        let recording = try await scene.recorder.record(scene.channel, order).asset
        try await scene.records(4, in: recording)
        let renditions = try scene.download(of: recording).renditions
        #expect(try scene.house.library.recordings.close(renditions, of: recording))
        try await scene.restart()
        clock.advance(by: 601)
        scene.house.downloader.resume()
        let same = try #require(scene.house.library.asset(named: recording.name))
        try await waitUntil("the end") { try scene.download(of: same).state.isFinal }
        #expect(try scene.download(of: same).state == .complete)
        #expect(same.duration == 4 && same.isPlayableOffline && !same.isLive)
    }

    @Test func onAFullDiskItEndsAndPlays() async throws {
        let scene = try await ChannelScene("/_live/news/media.m3u8")
        let recording = try await scene.record()
        try await scene.records(4, in: recording)
        try await scene.restart(.reserve(.max))
        scene.house.downloader.resume()
        try await scene.house.origin.advance("news")
        let same = try #require(scene.house.library.asset(named: recording.name))
        let download = try scene.download(of: same)
        try await waitUntil("the end") { download.state == .failed }
        #expect(download.failure?.code == .store(.diskFull))
        #expect(same.isPlayableOffline && same.duration == 4 && !same.isRecording)
        let other = try await scene.record()
        #expect(other !== same)
    }
}
