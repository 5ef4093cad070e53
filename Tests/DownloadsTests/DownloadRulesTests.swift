import Assets
import EventLoop
import Orders
import TestRooms
import TestSupport
import Testing

@testable import Downloads

/// Rules for when downloads run: the decision as a table, and downloads that wait and go on.
@Suite struct DownloadRulesTests {
    private struct Machine: Sendable {
        var minute = 720
        var isMetered = Conditions.Reading<Bool>.value(false)
        var power = Conditions.Reading<Conditions.Power>.value(.init(isOnBattery: false, percent: 80))
        var isIdle = Conditions.Reading<Bool>.value(true)

        var conditions: Conditions {
            var conditions = Conditions()
            conditions.minute = .value(minute)
            conditions.isMetered = isMetered
            conditions.power = power
            conditions.isIdle = isIdle
            return conditions
        }
    }

    private static func rules(_ body: (inout DownloadRules) -> Void) -> DownloadRules {
        var rules = DownloadRules()
        body(&rules)
        return rules
    }

    private static func battery(_ percent: Int?) -> Conditions.Reading<Conditions.Power> {
        .value(.init(isOnBattery: true, percent: percent))
    }

    private static let table: [(DownloadRules, Machine, [String])] = [
        (DownloadRules(), Machine(isMetered: .value(true), power: battery(1), isIdle: .value(false)), []),
        (rules { $0.hours = [DayHours("22:00-06:00")!] }, Machine(), ["downloads run at 22:00-06:00 only"]),
        (rules { $0.hours = [DayHours("22:00-06:00")!, DayHours("12:00-13:00")!] }, Machine(), []),
        (
            rules { $0.hours = [DayHours("22:00-06:00")!, DayHours("12:00-13:00")!] }, Machine(minute: 800),
            ["downloads run at 22:00-06:00 and 12:00-13:00 only"]
        ),
        (rules { $0.metered = .pause }, Machine(isMetered: .value(true)), ["the network is metered"]),
        (rules { $0.metered = .pause }, Machine(isMetered: .absent), []),
        (rules { $0.battery = .pause }, Machine(power: battery(90)), ["the machine runs on battery"]),
        (rules { $0.battery = .pause }, Machine(), []), (rules { $0.battery = .pause }, Machine(power: .absent), []),
        (
            rules { $0.battery = .pauseBelow(30) }, Machine(power: battery(29)),
            ["the machine runs on battery, which is at 29 %, below 30 %"]
        ),
        (rules { $0.battery = .pauseBelow(30) }, Machine(power: battery(30)), []),
        (rules { $0.battery = .pauseBelow(30) }, Machine(power: battery(nil)), []),
        (rules { $0.onlyIdle = true }, Machine(isIdle: .value(false)), ["somebody uses the machine"]),
        (rules { $0.onlyIdle = true }, Machine(isIdle: .absent), []),
        (
            rules { ($0.metered, $0.battery) = (.pause, .pause) },
            Machine(isMetered: .value(true), power: battery(5)),
            ["the network is metered", "the machine runs on battery"]
        ),
    ]

    @Test func rulesAndTheMachineMakeReasons() {
        for (rules, machine, reasons) in Self.table {
            #expect(rules.holds(under: machine.conditions).map(\.message) == reasons, "\(rules) \(machine)")
            #expect(!rules.awaitReading(of: machine.conditions))
        }
    }

    @Test func factsThatNobodyReadAreAwaited() {
        let rules = Self.rules { $0.metered = .pause }
        #expect(rules.facts == [.metering] && rules.awaitReading(of: Conditions()))
        #expect(!DownloadRules().awaitReading(of: Conditions()))
    }

    @Test func aChangeIsStoredWithItsTask() throws {
        var task = DownloadTask()
        task.add(.init(Selection(), renditions: ["m"]))
        task.rules.hours = [DayHours("22:00-06:00")!]
        task.rules.metered = .allow
        task.rules.onBattery = .pauseBelow(20)
        task.rules.onlyIdle = true
        task.pauseReason = "until tonight"
        #expect(try DownloadTask(stored: task.stored) == task)
        let rules = #"{"hours":["22:00-06:00"],"metered":"allow","onBattery":"20%","onlyIdle":true}"#
        #expect(task.stored.contains("\"rules\":\(rules)"))
        let first =
            #"{"items":[{"renditions":["m"],"selection":{}}],"pauseReason":"until tonight","rules":{"battery":"20%","#
            + #""hours":["22:00-06:00"],"onlyIdle":true,"pausesOnMetered":false},"version":1}"#
        #expect(try DownloadTask(stored: first) == task)
    }

    // MARK: Downloads

    @LoopActor private func fixture(
        _ body: @escaping @Sendable (inout DownloadRules) -> Void
    ) async throws -> TestHouse {
        try await TestHouse(.downloader { body(&$0.rules) })
    }

    @Test @LoopActor func aDownloadWaitsForItsHoursAndGoesOn() async throws {
        let fixture = try await fixture { $0.hours = [DayHours("22:00-06:00")!] }
        let download = try await fixture.start("/ts/master.m3u8")
        // Nobody has read the clock yet.
        #expect(download.state == .queued && fixture.downloader.neededFacts == [.time])
        fixture.downloader.apply(Machine().conditions)
        #expect(download.state == .waiting && download.need == .hours)
        #expect(download.failure?.message == "downloads run at 22:00-06:00 only")
        try await fixture.notes(.waiting)
        #expect(try await fixture.mediaRequests() == [])
        fixture.downloader.apply(Machine(minute: 1320).conditions)
        #expect(download.state == .running && download.holds == [])
        try await fixture.reaches(.complete, "ts")
        #expect(fixture.downloader.neededFacts == [])
    }

    @Test @LoopActor func aRunningDownloadStopsAndKeepsItsPieces() async throws {
        let fixture = try await fixture { $0.metered = .pause }
        try await fixture.origin.add(OriginRule("/ts/90p/[345].ts") { $0.hold = true })
        fixture.downloader.apply(Machine().conditions)
        let download = try await fixture.start("/ts/master.m3u8")
        try await waitUntil("the first half") { download.progress.loaded.duration == 6 }
        // A request that arrives after the stop would be counted with those that come later.
        try await waitUntil("the other half asked for") { try await fixture.origin.load().paused == 3 }
        fixture.downloader.apply(Machine(isMetered: .value(true)).conditions)
        #expect(download.state == .waiting && download.need == .metered)
        try await waitUntil("nobody waiting") { try await fixture.origin.load().paused == 0 }
        try await fixture.origin.clearRules()
        try await fixture.origin.clearRequests()
        fixture.downloader.apply(Machine().conditions)
        try await fixture.reaches(.complete, "ts")
        #expect(try await fixture.mediaRequests().sorted() == ["/ts/90p/3.ts", "/ts/90p/4.ts", "/ts/90p/5.ts"])
    }

    private nonisolated static let metering: [(Conditions.Reading<Bool>, Bool)] = [
        (.unread, false), (.value(true), false), (.value(false), true), (.absent, true),
    ]

    /// A live stream that nobody reads at the moment is kept at the user's cost only if that is known to be none.
    @Test(arguments: metering) @LoopActor
    func liveIsFetchedAheadUnlessTheNetworkMayBeMetered(
        _ isMetered: Conditions.Reading<Bool>, _ may: Bool
    ) async throws {
        for isRuled in [true, false] {
            let fixture = try await fixture {
                if isRuled {
                    $0.metered = .pause
                }
            }
            fixture.downloader.apply(Machine(isMetered: isMetered).conditions)
            #expect(fixture.downloader.mayFetchAhead == (may || !isRuled))
        }
    }

    @Test @LoopActor func oneDownloadMayHaveRulesOfItsOwn() async throws {
        let fixture = try await fixture { $0.metered = .pause }
        fixture.downloader.apply(Machine(isMetered: .value(true)).conditions)
        let download = try await fixture.start("/ts/master.m3u8")
        #expect(download.need == .metered)
        var order = DownloadOrder(Selection(quality: .worst))
        order.rules = DownloadRules.Change()
        order.rules?.metered = .allow
        _ = try await fixture.downloader.start(fixture.open("/ts/master.m3u8"), order)
        try await fixture.reaches(.complete, "ts")
    }

    /// The reader of the machine's state needs this event: no other may follow.
    @Test @LoopActor func otherRulesOfARunningDownloadAreReported() async throws {
        let fixture = try await fixture { _ in }
        try await fixture.origin.add(OriginRule("*.ts") { $0.hold = true })
        let download = try await fixture.start("/ts/master.m3u8")
        var reported = 0
        let subscription = fixture.downloader.changes.subscribe { change in
            if case .state = change.event, change.download === download {
                reported += 1
            }
        }
        defer { subscription.cancel() }
        var order = DownloadOrder(Selection(quality: .worst))
        order.rules = DownloadRules.Change()
        order.rules?.hours = [DayHours("22:00-06:00")!]
        for _ in 0..<2 {
            _ = try await fixture.downloader.start(download.asset, order)
        }
        #expect(reported == 1 && fixture.downloader.neededFacts == [.time])
        fixture.downloader.apply(Machine().conditions)
        #expect(download.state == .waiting)
    }

    @Test @LoopActor func theRuleIsKnownAfterARestart() async throws {
        let fixture = try await fixture { $0.onlyIdle = true }
        fixture.downloader.apply(Machine(isIdle: .value(false)).conditions)
        _ = try await fixture.start("/ts/master.m3u8")
        try await fixture.notes(.waiting)
        try await fixture.restart()
        fixture.downloader.resume()
        #expect(try fixture.download("ts").state == .queued)
        fixture.downloader.apply(Machine().conditions)
        try await fixture.reaches(.complete, "ts")
    }

    @Test @LoopActor func aPauseHasAReasonUntilItEnds() async throws {
        let fixture = try await fixture { _ in }
        try await fixture.origin.add(OriginRule("*.ts") { $0.hold = true })
        let download = try await fixture.start("/ts/master.m3u8")
        await fixture.downloader.pause(download, reason: "until tonight")
        #expect(download.state == .paused && download.task.pauseReason == "until tonight")
        await fixture.downloader.pause(download)
        #expect(download.task.pauseReason == "until tonight")
        await fixture.downloader.pause(download, reason: "for ever")
        try await fixture.notes(.paused)
        try await fixture.restart()
        let restored = try fixture.download("ts")
        #expect(restored.state == .paused && restored.task.pauseReason == "for ever")
        await fixture.downloader.resume(restored)
        #expect(restored.task.pauseReason == nil)
    }
}
