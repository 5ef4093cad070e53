import FoundationEssentials
import Testing

@testable import Recordings

/// A schedule on a wall clock that the test moves.
private struct Wall {
    let zone: TimeZone
    let schedule: Schedule
    var handled: LocalDate?
    /// Its history, as `began DAY TIME` or `missed DAY`.
    var events: [String] = []

    init(_ schedule: Schedule, in zone: String = "Europe/Berlin") {
        self.schedule = schedule
        self.zone = TimeZone(identifier: zone)!
    }

    /// Looks at the clock, as the timer does.
    mutating func look(at now: Int64) {
        let plan = schedule.plan(at: now, in: zone, handled: handled)
        for missed in plan.missed {
            events.append("missed \(missed.day)")
            handled = missed.day
        }
        if let due = plan.due {
            events.append("began \(due.day) at \(LocalTime(at: now, in: zone))")
            handled = due.day
        }
    }

    /// Looks once a minute.
    mutating func pass(from begin: Int64, minutes: Int64) {
        for minute in 0..<minutes {
            look(at: begin + minute * 60)
        }
    }
}

@Suite struct ScheduleTests {
    /// 2026-11-28 (a Saturday) 00:00 in Berlin.
    private static let saturday: Int64 = 1_795_820_400
    private static let day: Int64 = 86_400

    private static func daily(_ time: String, _ days: Set<Weekday>? = Set(Weekday.allCases)) -> Schedule {
        Schedule(first: LocalDate("2026-11-28")!, time: LocalTime(time)!, days: days, end: .after(2_700))
    }

    @Test func aWeek() {
        var wall = Wall(Self.daily("20:15", [.monday, .friday]))
        wall.pass(from: Self.saturday, minutes: 7 * 1_440)
        #expect(wall.events == ["began 2026-11-30 at 20:15", "began 2026-12-04 at 20:15"])
        var every = Wall(Self.daily("00:00"))
        every.pass(from: Self.saturday, minutes: 7 * 1_440)
        #expect(every.events.count == 7 && every.events.allSatisfy { $0.hasSuffix("at 00:00") })
    }

    struct Ending: Sendable {
        let end: Schedule.End?
        var early: Int64 = 0
        var late: Int64 = 0
        var days: Set<Weekday>?
        /// Seconds from 20:15.
        let begin: Int64
        let last: Int64?
    }

    static let endings = [
        Ending(end: .after(2_700), begin: 0, last: 2_700),
        Ending(end: .after(2_700), early: 120, late: 600, begin: -120, last: 3_300),
        Ending(end: .at(LocalTime("21:00")!), begin: 0, last: 2_700),
        Ending(end: .at(LocalTime("01:15")!), begin: 0, last: 5 * 3_600),
        Ending(end: .at(LocalTime("20:15")!), begin: 0, last: 86_400),
        Ending(end: nil, begin: 0, last: nil),
        Ending(end: nil, early: 60, days: Set(Weekday.allCases), begin: -60, last: 86_340),
    ]

    @Test(arguments: endings) func theEnd(_ example: Ending) {
        var schedule = Schedule(
            first: LocalDate("2026-11-28")!, time: LocalTime("20:15")!, days: example.days, end: example.end)
        schedule.early = example.early
        schedule.late = example.late
        let zone = TimeZone(identifier: "Europe/Berlin")!
        let time = Self.saturday + 20 * 3_600 + 15 * 60
        let next = schedule.plan(at: Self.saturday, in: zone, handled: nil).next
        #expect(next?.begin == time + example.begin && next?.end == example.last.map { time + $0 })
    }

    struct Night: Sendable {
        let zone: String
        let date: String
        let time: String
        let end: Schedule.End
        /// In seconds since 1970.
        let begin: Int64
        let last: Int64
    }

    /// 2026-03-29 01:00 UTC: from 02:00 to 03:00. 2026-10-25 01:00 UTC: from 03:00 to 02:00. In New York at 2:00 of its own time.
    static let nights = [
        Night(
            zone: "Europe/Berlin", date: "2026-03-29", time: "02:30", end: .after(600), begin: 1_774_746_000,
            last: 1_774_746_600),
        Night(
            zone: "Europe/Berlin", date: "2026-03-29", time: "01:50", end: .at(LocalTime("02:45")!),
            begin: 1_774_745_400, last: 1_774_746_000),
        Night(
            zone: "Europe/Berlin", date: "2026-03-29", time: "01:30", end: .at(LocalTime("03:30")!),
            begin: 1_774_744_200, last: 1_774_747_800),
        Night(
            zone: "Europe/Berlin", date: "2026-10-25", time: "02:30", end: .after(3_600), begin: 1_792_888_200,
            last: 1_792_891_800),
        Night(
            zone: "Europe/Berlin", date: "2026-10-25", time: "02:30", end: .at(LocalTime("03:00")!),
            begin: 1_792_888_200, last: 1_792_893_600),
        Night(
            zone: "America/New_York", date: "2026-11-01", time: "01:30", end: .at(LocalTime("02:00")!),
            begin: 1_793_511_000, last: 1_793_516_400),
        Night(
            zone: "Asia/Kolkata", date: "2026-03-29", time: "20:15", end: .after(60), begin: 1_774_795_500,
            last: 1_774_795_560),
    ]

    @Test(arguments: nights) func theNightsInWhichClocksAreSet(_ night: Night) {
        let schedule = Schedule(first: LocalDate(night.date)!, time: LocalTime(night.time)!, end: night.end)
        let zone = TimeZone(identifier: night.zone)!
        let next = schedule.plan(at: night.begin - 3 * Self.day, in: zone, handled: nil).next
        #expect(next?.begin == night.begin && next?.end == night.last)
    }

    @Test func inTheDoubledHourItBeginsOnce() {
        var wall = Wall(
            Schedule(first: LocalDate("2026-10-25")!, time: LocalTime("02:30")!, days: [.sunday], end: .after(60)))
        wall.pass(from: 1_792_879_200, minutes: 1_440)
        #expect(wall.events == ["began 2026-10-25 at 02:30"])
    }

    @Test func aClockThatIsSetBackRepeatsNothing() {
        var wall = Wall(Self.daily("20:15"))
        let evening = Self.saturday + 20 * 3_600
        wall.pass(from: evening, minutes: 30)
        wall.pass(from: evening, minutes: 30)
        wall.pass(from: evening - 2 * Self.day, minutes: 1_440)
        #expect(wall.events == ["began 2026-11-28 at 20:15"])
    }

    @Test func aLateStartRecordsTheRestAndAMissedOneIsSaid() {
        var wall = Wall(Self.daily("20:15"))
        // The machine sleeps from Saturday noon to Monday, 20:30.
        wall.look(at: Self.saturday + Self.day / 2)
        wall.look(at: Self.saturday + 2 * Self.day + 20 * 3_600 + 30 * 60)
        #expect(wall.events == ["missed 2026-11-28", "missed 2026-11-29", "began 2026-11-30 at 20:30"])
        // At the last second nothing is left.
        wall.look(at: Self.saturday + 3 * Self.day + 21 * 3_600)
        #expect(wall.events.last == "missed 2026-12-01")
    }

    @Test func onceIsOnce() {
        var wall = Wall(Self.daily("20:15", nil))
        wall.pass(from: Self.saturday, minutes: 3 * 1_440)
        #expect(wall.events == ["began 2026-11-28 at 20:15"])
        #expect(wall.schedule.plan(at: Self.saturday, in: wall.zone, handled: wall.handled) == Schedule.Plan())
    }

    @Test(arguments: [
        ("1970-01-01", 0), ("2000-02-29", 11_016), ("2026-11-28", 20_785), ("2100-03-01", 47_541),
        ("9999-12-31", 2_932_896),
    ])
    func days(_ text: String, _ number: Int) throws {
        let date = try #require(LocalDate(text))
        #expect(date.number == number && "\(date)" == text)
    }

    @Test(arguments: ["2026-02-29", "2100-02-29", "2026-13-01", "2026-00-10", "26-01-01", "2026-1-1", "", "2026-01-32"])
    func noDays(_ text: String) {
        #expect(LocalDate(text) == nil)
    }

    @Test(arguments: [
        ("20:15", true), ("0:05", true), ("24:00", false), ("20:60", false), ("2015", false), (":", false),
        ("8:5", false),
    ])
    func times(_ text: String, _ isTime: Bool) {
        #expect((LocalTime(text) != nil) == isTime)
    }

    @Test func whatIsKept() {
        typealias Candidate = RecordingRetention.Candidate
        let all = (1...5).map { Candidate(id: "\($0)", begin: Int64($0) * Self.day, mayGo: $0 != 2) }
        let now = 5 * Self.day + 60
        #expect(RecordingRetention.latest(2).removable(of: all, at: now).map(\.id) == ["1", "3"])
        #expect(RecordingRetention.latest(5).removable(of: all, at: now).isEmpty)
        #expect(RecordingRetention.days(3).removable(of: all.reversed(), at: now).map(\.id) == ["1"])
    }
}
