import HTTPMessage
import Testing

@testable import Origin

/// An origin's presence as sequences of events, at seconds from the beginning. Pauses are 5 to 15 s, two consecutive
/// failures make an origin absent, and it is probed for 60 s after its last request.
struct OriginPresenceTableTests {
    enum Event {
        case unreachable
        case timedOut
        case died
        /// Its pause ends before its time.
        case pauseEnds
        case replied
        case requested
        case admit(OriginPresence.Admission)
        case isAbsent(Bool)
        /// `nextProbe`, in seconds from the beginning.
        case next(Int?)
        /// Background probes begin; their number.
        case probes(Int)
        /// The end of a probe whose meaning is not recorded yet.
        case ends(isTimeout: Bool)
    }

    struct Scenario: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let events: [(at: Int, event: Event)]

        init(_ name: String, _ events: [(Int, Event)]) { (testDescription, self.events) = (name, events) }
    }

    static let scenarios = [
        Scenario(
            "one failure has no effect",
            [(0, .unreachable), (0, .isAbsent(false)), (0, .admit(.normal)), (0, .next(nil)), (0, .probes(0))]),
        Scenario(
            "two consecutive failures make an origin absent until a background probe succeeds",
            [
                (0, .unreachable), (1, .unreachable), (1, .isAbsent(true)), (2, .admit(.refused)), (2, .next(6)),
                (5, .probes(0)),
                (6, .probes(1)), (6, .isAbsent(true)), (6, .admit(.refused)), (6, .next(nil)), (6, .probes(0)),
                (7, .replied), (7, .isAbsent(false)), (7, .admit(.normal)), (7, .ends(isTimeout: false)),
                (7, .admit(.normal)), (7, .unreachable), (7, .isAbsent(false)),
            ]),
        Scenario(
            "failed probes lengthen the pause",
            [
                (0, .unreachable), (0, .unreachable), (5, .probes(1)), (5, .unreachable), (5, .next(15)),
                (15, .probes(1)),
                (15, .unreachable), (15, .next(30)), (30, .probes(1)), (30, .unreachable), (30, .next(45)),
            ]),
        Scenario(
            "a probe that times out counts as a failure",
            [
                (0, .unreachable), (0, .unreachable), (5, .probes(1)), (20, .ends(isTimeout: true)),
                (20, .isAbsent(true)),
                (20, .admit(.refused)), (20, .next(30)),
            ]),
        Scenario(
            "an aborted probe is followed by another",
            [(0, .unreachable), (0, .unreachable), (5, .probes(1)), (6, .ends(isTimeout: false)), (6, .probes(1))]),
        Scenario(
            "the first transfer after the pause is the probe, if there were no requests for long",
            [
                (0, .unreachable), (0, .unreachable), (5, .probes(1)), (5, .unreachable), (15, .probes(1)),
                (15, .unreachable),
                (30, .probes(1)), (30, .unreachable), (45, .probes(1)), (45, .unreachable), (45, .next(60)),
                (60, .probes(1)),
                (60, .unreachable), (60, .next(nil)), (75, .probes(0)), (75, .isAbsent(false)), (75, .admit(.probe)),
                (75, .isAbsent(true)), (75, .admit(.refused)), (76, .unreachable), (76, .next(91)),
            ]),
        Scenario(
            "a caller that uses an alternative keeps the probes going",
            [
                (0, .unreachable), (0, .unreachable), (5, .probes(1)), (5, .unreachable), (10, .requested),
                (15, .probes(1)), (15, .unreachable),
                (30, .probes(1)), (30, .unreachable), (45, .probes(1)), (45, .unreachable), (60, .probes(1)),
                (60, .unreachable),
                (60, .next(nil)), (70, .requested), (70, .next(75)),
            ]),
        Scenario(
            "a suspect origin is avoided by callers with an alternative and refuses no request",
            [
                (0, .timedOut), (0, .isAbsent(true)), (1, .admit(.normal)), (1, .timedOut), (1, .next(5)),
                (5, .probes(1)), (5, .isAbsent(true)), (5, .admit(.normal)), (20, .ends(isTimeout: true)),
                (20, .next(30)),
                (21, .admit(.normal)), (21, .replied), (21, .isAbsent(false)), (21, .next(nil)),
            ]),
        Scenario(
            "without requests, suspicion ends with its pause",
            [(0, .timedOut), (4, .isAbsent(true)), (5, .isAbsent(false)), (5, .admit(.normal))]),
        Scenario(
            "a suspect origin that cannot be reached is absent",
            [
                (0, .unreachable), (0, .timedOut), (0, .admit(.normal)), (5, .probes(1)), (5, .unreachable),
                (5, .isAbsent(true)),
                (6, .admit(.refused)), (6, .next(15)),
            ]),
        Scenario(
            "failures of transfers from before the pause are ignored",
            [(0, .unreachable), (0, .unreachable), (1, .unreachable), (2, .timedOut), (2, .next(5))]),
        Scenario(
            "a dead host is absent at once, and looked at each 30 s",
            [
                (0, .died), (0, .isAbsent(true)), (1, .admit(.refused)), (1, .next(30)), (29, .probes(0)),
                (30, .probes(1)),
                (30, .died), (30, .next(60)), (59, .requested), (60, .probes(1)), (60, .died), (60, .next(90)),
                (61, .replied),
                (61, .admit(.normal)),
            ]),
        Scenario(
            "a dead host is looked at sooner where a caller orders it",
            [
                (0, .died), (1, .admit(.refused)), (2, .pauseEnds), (2, .admit(.probe)), (2, .admit(.refused)),
                (3, .died),
                (3, .next(33)),
            ]),
    ]

    @Test(arguments: scenarios)
    func sequenceHolds(scenario: Scenario) throws {
        let origin = try WebURL("http://h").origin
        let start = ContinuousClock.now
        var presence = OriginPresence(absentAfter: 2, longestPause: 15, interest: 60)
        for (number, (seconds, event)) in scenario.events.enumerated() {
            let now = start + .seconds(seconds)
            let place: Comment = "event \(number), at \(seconds) s"
            switch event {
            case .unreachable: presence.recordUnreachable(origin, now: now)
            case .timedOut: presence.recordTimeout(origin, now: now)
            case .died: presence.recordDeath(origin, now: now)
            case .pauseEnds: presence.endPauses(of: { $0 == origin }, now: now)
            case .replied: presence.recordReply(origin)
            case .requested: presence.recordInterest(origin, now: now)
            case .admit(let admission): #expect(presence.admit(origin, now: now) == admission, place)
            case .isAbsent(let isAbsent): #expect(presence.isAbsent(origin, now: now) == isAbsent, place)
            case .next(let next): #expect(presence.nextProbe(of: [origin]) == next.map { start + .seconds($0) }, place)
            case .probes(let count): #expect(presence.beginProbes(of: [origin], now: now).count == count, place)
            case .ends(let isTimeout): presence.endProbe(origin, isTimeout: isTimeout, now: now)
            }
        }
    }

    @Test func eachSchemeHostAndPortIsASeparateOrigin() throws {
        let now = ContinuousClock.now
        var presence = OriginPresence(absentAfter: 1, longestPause: 5, interest: 60)
        presence.recordUnreachable(try WebURL("http://h/a").origin, now: now)
        for (url, isAbsent) in [
            ("http://h/b?c", true), ("http://h:80/", true), ("https://h/", false), ("http://h:81/", false),
            ("http://i/", false),
        ] {
            #expect(presence.isAbsent(try WebURL(url).origin, now: now) == isAbsent, "\(url)")
        }
    }
}

extension OriginPresence {
    /// A first pause of 5 s; all times in seconds.
    init(absentAfter threshold: Int, longestPause: Int, interest: Int = 0) {
        var rule = GiveUpRule()
        rule.absenceThreshold = threshold
        rule.absenceInterest = .seconds(interest)
        rule.absencePauses = .seconds(5)...Duration.seconds(longestPause)
        self.init(rule)
    }
}

struct StaleConnectionsTests {
    @Test func connectionFromBeforeATimeoutIsNotReused() throws {
        let silent = try WebURL("http://a/x").origin
        let other = try WebURL("http://b/x").origin
        let start = ContinuousClock.now
        var staleConnections = StaleConnections()
        #expect(staleConnections.maximumAge(silent, now: start) == nil)
        staleConnections.recordTimeout(silent, now: start)
        #expect(staleConnections.maximumAge(other, now: start) == nil)
        for (seconds, age) in [(0.0, 0), (0.9, 0), (1, 1), (30.5, 30), (117, 117)] {
            #expect(staleConnections.maximumAge(silent, now: start + .seconds(seconds)) == age)
        }
        #expect(staleConnections.maximumAge(silent, now: start + .seconds(119)) == nil)
        staleConnections.recordTimeout(silent, now: start + .seconds(20))
        #expect(staleConnections.maximumAge(silent, now: start + .seconds(25)) == 5)
    }
}
