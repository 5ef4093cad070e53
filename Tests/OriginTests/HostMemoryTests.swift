import HTTPMessage
import Testing

@testable import Origin

/// Events of hosts and the decisions after them, as sequences at seconds from the beginning.
struct HostMemoryTests {
    enum Event {
        case replies(String)
        case fails(String, TransferState.Failure)
        case ends(String, OriginError.Code?)
        case probeEnds(String, OriginError.Code?)
        case timesOut(String)
        case redirects(String, to: String)
        case answersDirectly(String)
        case isSwitched
        case deadHostsAreDue
        case isOrdered(String)
        case admits(String, HostMemory.Admission, insisting: Bool = false)
        case isPresumedAbsent(String, Bool)
        case isDead(String, Bool)
        case hasDeadRedirects(Bool)
        case isFailing(String, Bool)
        case isAwaited(String, Bool)
    }

    struct Scenario: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let events: [(at: Int, event: Event)]

        init(_ name: String, _ events: [(Int, Event)]) {
            testDescription = name
            self.events = events
        }
    }

    private static let refusal = TransferState.Failure(code: .unreachable, underlying: "refused", hostFault: .refusal)
    private static let silence = TransferState.Failure(code: .timedOut)

    static let scenarios = [
        Scenario(
            "an unknown host is asked",
            [(0, .admits("a/1", .normal)), (0, .isPresumedAbsent("a/1", false)), (0, .isDead("a/1", false))]),
        Scenario(
            "an absent origin is refused, asked by a caller without an alternative, and probed after its pause",
            [
                (0, .ends("a/1", .unreachable)), (0, .admits("a/1", .normal)), (0, .ends("a/1", .unreachable)),
                (1, .admits("a/1", .refused(.unreachable))), (1, .admits("a/1", .insisting, insisting: true)),
                (1, .isPresumedAbsent("a/2", true)), (1, .admits("b/1", .normal)), (5, .admits("a/1", .probe)),
                (5, .admits("a/1", .refused(.unreachable))), (6, .replies("a/1")), (6, .admits("a/1", .normal)),
            ]),
        Scenario(
            "a host that is dead while another answers is refused for that reason",
            [
                (0, .replies("b/1")), (1, .fails("a/1", refusal)), (1, .isDead("a/1", true)),
                (1, .ends("a/1", .hostDead)), (2, .admits("a/1", .refused(.hostDead))),
                (2, .admits("a/1", .insisting, insisting: true)), (3, .deadHostsAreDue), (3, .admits("a/1", .probe)),
                (4, .replies("a/1")), (4, .isDead("a/1", false)), (4, .admits("a/1", .normal)),
            ]),
        Scenario(
            "a URL that leads to a dead or absent host counts as that host does",
            [
                (0, .replies("a/1")), (0, .redirects("a/ads/1", to: "b/")), (1, .fails("b/x", refusal)),
                (1, .isDead("a/ads/2", true)), (1, .isDead("a/1", false)), (1, .hasDeadRedirects(true)),
                (2, .ends("b/x", .hostDead)), (2, .isPresumedAbsent("a/ads/2", true)),
                (2, .isPresumedAbsent("a/1", false)), (3, .answersDirectly("a/ads/2")), (3, .isDead("a/ads/2", false)),
                (3, .isPresumedAbsent("a/ads/2", false)), (3, .hasDeadRedirects(false)),
            ]),
        Scenario(
            "an origin that is only slow is avoided by those who can, and asked by all others",
            [
                (0, .timesOut("a/1")), (0, .isPresumedAbsent("a/1", true)), (0, .admits("a/1", .normal)),
                (0, .isOrdered("a/1")), (0, .isPresumedAbsent("a/1", false)),
            ]),
        Scenario(
            "a probe that times out doubles the pause, and one that ends otherwise lets the next one decide",
            [
                (0, .ends("a/1", .unreachable)), (0, .ends("a/1", .unreachable)), (5, .admits("a/1", .probe)),
                (6, .probeEnds("a/1", .timedOut)), (15, .admits("a/1", .refused(.unreachable))),
                (16, .admits("a/1", .probe)), (17, .probeEnds("a/1", .cancelled)), (17, .admits("a/1", .probe)),
            ]),
        Scenario(
            "silence of a host takes its word for the network back",
            [
                (0, .replies("b/1")), (1, .fails("a/1", refusal)), (1, .isDead("a/1", true)),
                (2, .fails("b/1", silence)),
                (2, .isDead("a/1", false)), (2, .isAwaited("a/1", true)), (2, .isFailing("a/1", true)),
                (2, .isFailing("b/1", false)),
            ]),
        Scenario(
            "after offline mode no host is absent, and known redirects stay",
            [
                (0, .replies("c/1")), (0, .redirects("a/ads/1", to: "b/")), (1, .fails("b/1", refusal)),
                (1, .ends("b/1", .hostDead)), (2, .isSwitched), (2, .admits("b/1", .normal)),
                (2, .isDead("a/ads/1", false)), (3, .replies("c/1")), (3, .fails("b/1", refusal)),
                (3, .isDead("a/ads/1", true)),
            ]),
    ]

    @Test(arguments: scenarios)
    func sequenceHolds(scenario: Scenario) throws {
        let start = ContinuousClock.now
        var hosts = HostMemory(OriginPresence.rule)
        for (number, (seconds, event)) in scenario.events.enumerated() {
            try perform(event, on: &hosts, at: start + .seconds(seconds), "event \(number), at \(seconds) s")
        }
    }

    private func perform(
        _ event: Event, on hosts: inout HostMemory, at now: ContinuousClock.Instant, _ step: Comment
    ) throws {
        switch event {
        case .replies(let text): hosts.recordReply(from: try url(text).origin, now: now)
        case .fails(let text, let failure): hosts.record(failure, of: try url(text).origin, now: now)
        case .ends(let text, let code): hosts.recordEnd(code, at: try url(text).origin, probed: nil, now: now)
        case .probeEnds(let text, let code):
            let origin = try url(text).origin
            hosts.recordEnd(code, at: origin, probed: origin, now: now)
        case .timesOut(let text): hosts.recordTimeout(of: try url(text).origin, now: now)
        case .redirects(let text, let target):
            hosts.recordRedirect(of: try url(text), to: try url(target).origin, now: now)
        case .answersDirectly(let text): hosts.recordDirectReply(from: try url(text), now: now)
        case .isSwitched: hosts.recordSwitch(OriginPresence.rule)
        case .deadHostsAreDue: hosts.endPausesOfDeadHosts(now: now)
        case .isOrdered(let text): hosts.forgetAbsence(of: try url(text).origin)
        case .admits(let text, let admission, let isInsisting):
            #expect(hosts.admit(try url(text), ignoresAbsence: isInsisting, now: now) == admission, step)
        case .isPresumedAbsent(let text, let isAbsent):
            #expect(hosts.isPresumedAbsent(try url(text), now: now) == isAbsent, step)
        case .isDead(let text, let isDead): #expect(hosts.isDead(try url(text), now: now) == isDead, step)
        case .hasDeadRedirects(let isTrue): #expect(hosts.hasDeadRedirects(now: now) == isTrue, step)
        case .isFailing(let text, let isTrue): #expect(hosts.isFailing(try url(text).origin, now: now) == isTrue, step)
        case .isAwaited(let text, let isTrue): #expect(hosts.isAwaited(try url(text).origin, now: now) == isTrue, step)
        }
    }

    private func url(_ text: String) throws -> WebURL { try WebURL("http://\(text)") }

    @Test func theOriginThatAURLLeadsToIsProbedToo() throws {
        let now = ContinuousClock.now
        var hosts = HostMemory(OriginPresence.rule)
        let target = try url("b/").origin
        hosts.recordEnd(.unreachable, at: target, probed: nil, now: now)
        hosts.recordEnd(.unreachable, at: target, probed: nil, now: now)
        let later = now + .seconds(61)
        hosts.recordRedirect(of: try url("a/1"), to: target, now: later)
        // Nobody has asked for it for longer than it is probed.
        hosts.recordEnd(.unreachable, at: target, probed: nil, now: now)
        #expect(hosts.isDown(target))
        _ = hosts.isPresumedAbsent(try url("a/2"), now: later)
        #expect(hosts.beginProbes(of: [target], now: later) == [target])
        #expect(hosts.nextProbe(of: [target]) == nil)
        hosts.abandonProbe(target)
        #expect(hosts.nextProbe(of: [target]) != nil)
    }
}

extension OriginPresence {
    /// Absent after two failures, for 5 s at first and for 40 s at most.
    fileprivate static var rule: GiveUpRule {
        var rule = GiveUpRule()
        rule.absenceThreshold = 2
        rule.absencePauses = .seconds(5)...Duration.seconds(40)
        return rule
    }
}
