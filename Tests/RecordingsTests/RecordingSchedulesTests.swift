import Assets
import Downloads
import EventLoop
import FoundationEssentials
import Orders
import Store
import Synchronization
import TestRooms
import TestSupport
import Testing

@testable import Recordings

/// The file of planned recordings in memory.
private final class PlanFile: Sendable {
    private let stored = Mutex<String?>(nil)
    var text: String? { stored.withLock { $0 } }

    func write(_ text: String) -> String? {
        stored.withLock { $0 = text }
        return nil
    }
}

/// Planned recordings of a channel on a clock that the test moves; it begins at 2026-11-21 12:00, a Saturday, and clocks show UTC.
@LoopActor private final class PlanScene {
    let clock = TestClock(isRunning: true)
    let house: TestHouse
    let path = "/_live/news/media.m3u8"
    private(set) var schedules: RecordingSchedules
    let file = PlanFile()

    init() async throws {
        house = try await TestHouse(.clock(clock), .downloader())
        try await house.origin.declareLiveSegments(seconds: 1)
        schedules = RecordingSchedules(house.library, house.downloader, stored: nil, save: { _ in nil })
        schedules = make()
    }

    private func make() -> RecordingSchedules {
        RecordingSchedules(
            house.library, house.downloader, zone: { TimeZone(secondsFromGMT: 0)! }, stored: file.text,
            save: { [file] text in file.write(text) })
    }

    /// A new process after a kill.
    func restart() async throws {
        schedules.stop()
        await schedules.close()
        try await house.restart()
        schedules = make()
        house.downloader.resume()
        schedules.start()
    }

    @discardableResult func plan(
        _ at: String, every days: [String]? = nil, seconds: Int64? = 600, keep: String? = nil
    ) async throws -> PlannedRecording {
        let channel = house.library.expect(try house.url(path))
        if !channel.isPersistent {
            await house.library.records.saveNew(channel)
        }
        let schedule = try Schedule(
            at: at, days: days, seconds: seconds, until: nil, early: nil, late: nil, now: clock.date,
            in: TimeZone(secondsFromGMT: 0)!)
        let plan = PlannedRecording(
            name: schedules.freeName(for: channel, schedule), channel: channel.id, schedule: schedule,
            order: DownloadOrder(), keep: keep.flatMap { RecordingRetention($0) })
        #expect(await schedules.put(plan) == nil)
        return plan
    }

    /// Moves the clock to a time of a day.
    func move(to text: String) throws {
        let words = text.split(separator: " ")
        let day = try #require(LocalDate(words[0]))
        let time = try #require(LocalTime(words[1]))
        clock.advance(by: Double(day.time(at: time, in: TimeZone(secondsFromGMT: 0)!) - clock.date))
        schedules.look()
    }

    /// The time when clocks show it, in seconds since 1970.
    func time(_ day: String, _ clock: String) throws -> Int64 {
        try #require(LocalDate(day[...])).time(
            at: try #require(LocalTime(clock[...])), in: TimeZone(secondsFromGMT: 0)!)
    }

    /// The recordings, the oldest first.
    var recordings: [Asset] {
        house.library.assets.filter(\.isChannelRecording).sorted { ($0.created, $0.name) < ($1.created, $1.name) }
    }

    func records(_ count: Int) async throws {
        try await waitUntil("\(count) recordings", within: .seconds(20)) {
            recordings.count == count && (recordings.last?.bytes ?? 0) > 0
        }
    }

    func ends() async throws {
        try await waitUntil("the end", within: .seconds(20)) {
            recordings.allSatisfy { house.downloader.download(of: $0)?.state == .complete }
        }
    }
}

@Suite @LoopActor struct RecordingSchedulesTests {
    /// So that a machine that sleeps is woken in time.
    @Test func theTimeOfTheNextRecordingIsAnnounced() async throws {
        let scene = try await PlanScene()
        var begins: [Int64?] = []
        let subscription = scene.schedules.next.subscribe { next in
            if begins.last != next.begin {
                begins.append(next.begin)
            }
        }
        defer { withExtendedLifetime(subscription) {} }
        try await scene.plan("20:15", every: ["sat", "sun"])
        try await scene.plan("22:00")
        try scene.move(to: "2026-11-21 20:15")
        try await scene.records(1)
        try await waitUntil("it has begun") { scene.schedules["news-2015"]?.handled != nil }
        #expect(await scene.schedules.cancel("news-2200") == nil)
        #expect(await scene.schedules.cancel("news-2015") == nil)
        let expected: [Int64?] = [
            try scene.time("2026-11-21", "20:15"), try scene.time("2026-11-21", "22:00"),
            try scene.time("2026-11-22", "20:15"), nil,
        ]
        #expect(begins == expected)
    }

    @Test func aPlannedRecordingBeginsAtItsTimeAndEnds() async throws {
        let scene = try await PlanScene()
        let plan = try await scene.plan("20:15")
        #expect(plan.name == "news-2015" && scene.schedules.isWaiting)
        try scene.move(to: "2026-11-21 20:14")
        #expect(scene.recordings.isEmpty)
        try scene.move(to: "2026-11-21 20:15")
        try await scene.records(1)
        #expect(scene.recordings[0].name == "news-2026-11-21-2015")
        try await waitUntil("nothing planned") { scene.schedules.all.isEmpty }
        try scene.move(to: "2026-11-21 20:26")
        try await scene.ends()
        #expect(!scene.schedules.isWaiting)
    }

    @Test func aRepeatedOneMakesARecordingEachDayAcrossRestarts() async throws {
        let scene = try await PlanScene()
        try await scene.plan("20:15", every: ["sat", "sun"])
        for (count, day) in [(1, "2026-11-21"), (2, "2026-11-22")] {
            try scene.move(to: "\(day) 20:15")
            try await scene.records(count)
            try scene.move(to: "\(day) 20:26")
            try await scene.ends()
            try await scene.restart()
        }
        try scene.move(to: "2026-11-23 20:15")
        #expect(scene.recordings.map(\.name) == ["news-2026-11-21-2015", "news-2026-11-22-2015"])
        #expect(scene.schedules.isWaiting && scene.schedules.all.first?.recordings.count == 2)
    }

    @Test func aRecordingThatIsBeginningAtTheEndOfTheProcessIsNoted() async throws {
        let scene = try await PlanScene()
        try await scene.plan("20:15", every: ["sat", "sun"])
        try await scene.house.origin.add(OriginRule("*.m3u8") { $0.hold = true })
        try scene.move(to: "2026-11-21 20:15")
        try await waitUntil("the request") { try await scene.house.origin.load().paused == 1 }
        async let restart: Void = scene.restart()
        try await scene.house.origin.clearRules()
        try await scene.house.origin.release()
        try await restart
        #expect(scene.schedules.all.first?.recordings.count == 1)
    }

    @Test func aChannelThatDoesNotAnswerIsAskedAgainUntilTheEnd() async throws {
        let scene = try await PlanScene()
        try await scene.house.origin.add(OriginRule("*.m3u8") { $0.status = 404 })
        let plan = try await scene.plan("20:15", every: ["day"])
        try scene.move(to: "2026-11-21 20:15")
        try await waitUntil("the failure") { scene.schedules[plan.name]?.problem?.contains("404") ?? false }
        #expect(scene.recordings.isEmpty)
        try scene.move(to: "2026-11-21 20:30")
        try await waitUntil("the loss") {
            scene.schedules[plan.name]?.problem?.hasPrefix("the recording of 2026-11-21 was missed: ") ?? false
        }
        try await scene.house.origin.clearRules()
        try scene.move(to: "2026-11-22 20:17")
        try await scene.records(1)
        try await waitUntil("the words") {
            scene.schedules[plan.name]?.problem == "the recording of 2026-11-22 began 2 min late"
        }
    }

    @Test func whatIsCancelledDoesNotBegin() async throws {
        let scene = try await PlanScene()
        let plan = try await scene.plan("20:15")
        #expect(await scene.schedules.cancel(plan.name) == nil)
        try await scene.restart()
        try scene.move(to: "2026-11-21 20:15")
        #expect(scene.schedules.all.isEmpty && scene.recordings.isEmpty && !scene.schedules.isWaiting)
    }

    @Test func whatCannotBeWrittenDoesNotChange() async throws {
        let scene = try await PlanScene()
        let plan = try await scene.plan("20:15")
        let house = scene.house
        let schedules = RecordingSchedules(
            house.library, house.downloader, stored: scene.file.text, save: { _ in "the disk is full" })
        #expect(await schedules.cancel(plan.name) == "the disk is full" && schedules.all == [plan])
        var other = plan
        other.title = "Another"
        #expect(await schedules.put(other) == "the disk is full" && schedules.all == [plan])
    }

    @Test func aFileThatHasSomethingElseStaysAsItIs() async throws {
        let scene = try await PlanScene()
        let plan = try await scene.plan("20:15")
        let file = PlanFile()
        let schedules = RecordingSchedules(
            scene.house.library, scene.house.downloader, stored: "[{\"of\": \"a newer Weir\"}]",
            save: { file.write($0) })
        #expect(await schedules.put(plan) != nil && schedules.all.isEmpty && file.text == nil)
    }

    @Test func onlyWatchedRecordingsMakeWay() async throws {
        let scene = try await PlanScene()
        try await scene.plan("20:15", every: ["day"], keep: "1")
        for day in 21...24 {
            try scene.move(to: "2026-11-\(day) 20:15")
            try await waitUntil("the recording of \(day)", within: .seconds(20)) {
                scene.recordings.last?.name == "news-2026-11-\(day)-2015" && (scene.recordings.last?.bytes ?? 0) > 0
            }
            try scene.move(to: "2026-11-\(day) 20:26")
            try await scene.ends()
            if day == 22 {
                let watched = try #require(scene.recordings.last)
                watched.life.recordPlay(at: scene.clock.date)
            }
        }
        try await waitUntil("the removal") { scene.recordings.count == 3 }
        #expect(scene.recordings.map { $0.name.suffix(7) } == ["21-2015", "23-2015", "24-2015"])
    }

    @Test(
        arguments: [
            ("25:00", nil, "is not a time"), ("2026-11-21 11:00", nil, "is over"),
            ("2026-02-30 20:15", nil, "is not a date"),
            ("20:15", ["someday"], "is not one of the days"), ("20:15", [], "needs a day"),
            ("20 15 x", nil, "is not a time"),
        ] as [(String, [String]?, String)])
    func timesThatMakeNoSense(_ at: String, _ days: [String]?, _ sentence: String) throws {
        let zone = TimeZone(secondsFromGMT: 0)!
        let now: Int64 = 1_795_262_400
        do throws(ScheduleFault) {
            _ = try Schedule(at: at, days: days, seconds: 60, until: nil, early: nil, late: nil, now: now, in: zone)
            Issue.record("\(at) is read")
        } catch {
            #expect(error.sentence.contains(sentence), "\(error)")
        }
    }
}
