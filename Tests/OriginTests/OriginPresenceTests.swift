import HTTPMessage
import Testing

@testable import Origin

/// An origin's presence, event by event, at seconds from the beginning; pauses are of 5 to 15 s, two failures in a row
/// make an origin absent, and it is probed for 60 s after somebody wanted something of it.
struct OriginPresenceTableTests {
    enum Event {
        case missed
        case doubted
        case reached
        case want
        case admit(OriginPresence.Admission)
        case isAbsent(Bool)
        /// `nextProbe`, in seconds from the beginning.
        case next(Int?)
        /// Probes of nobody's begin, so many.
        case probes(Int)
        /// A probe's end that nobody has judged yet.
        case ends(isInVain: Bool)
    }

    struct Story: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let events: [(at: Int, event: Event)]

        init(_ name: String, _ events: [(Int, Event)]) { (testDescription, self.events) = (name, events) }
    }

    static let stories = [
        Story(
            "one failure is none",
            [(0, .missed), (0, .isAbsent(false)), (0, .admit(.normal)), (0, .next(nil)), (0, .probes(0))]),
        Story(
            "two failures in a row are an absence, which a probe of nobody's ends",
            [
                (0, .missed), (1, .missed), (1, .isAbsent(true)), (2, .admit(.refused)), (2, .next(6)), (5, .probes(0)),
                (6, .probes(1)), (6, .isAbsent(true)), (6, .admit(.refused)), (6, .next(nil)), (6, .probes(0)),
                (7, .reached), (7, .isAbsent(false)), (7, .admit(.normal)), (7, .ends(isInVain: false)),
                (7, .admit(.normal)), (7, .missed), (7, .isAbsent(false)),
            ]),
        Story(
            "probes that miss come after ever longer pauses",
            [
                (0, .missed), (0, .missed), (5, .probes(1)), (5, .missed), (5, .next(15)), (15, .probes(1)),
                (15, .missed), (15, .next(30)), (30, .probes(1)), (30, .missed), (30, .next(45)),
            ]),
        Story(
            "a probe that is waited for in vain is one that missed",
            [
                (0, .missed), (0, .missed), (5, .probes(1)), (20, .ends(isInVain: true)), (20, .isAbsent(true)),
                (20, .admit(.refused)), (20, .next(30)),
            ]),
        Story(
            "a probe that was broken off leaves the next one",
            [(0, .missed), (0, .missed), (5, .probes(1)), (6, .ends(isInVain: false)), (6, .probes(1))]),
        Story(
            "who comes first after the pause is the probe, where nobody wanted anything for long",
            [
                (0, .missed), (0, .missed), (5, .probes(1)), (5, .missed), (15, .probes(1)), (15, .missed),
                (30, .probes(1)), (30, .missed), (45, .probes(1)), (45, .missed), (45, .next(60)), (60, .probes(1)),
                (60, .missed), (60, .next(nil)), (75, .probes(0)), (75, .isAbsent(false)), (75, .admit(.probe)),
                (75, .isAbsent(true)), (75, .admit(.refused)), (76, .missed), (76, .next(91)),
            ]),
        Story(
            "who does without keeps the probes going",
            [
                (0, .missed), (0, .missed), (5, .probes(1)), (5, .missed), (10, .want), (15, .probes(1)), (15, .missed),
                (30, .probes(1)), (30, .missed), (45, .probes(1)), (45, .missed), (60, .probes(1)), (60, .missed),
                (60, .next(nil)), (70, .want), (70, .next(75)),
            ]),
        Story(
            "a doubt spares who can do without, and refuses nobody",
            [
                (0, .doubted), (0, .isAbsent(true)), (1, .admit(.normal)), (1, .doubted), (1, .next(5)),
                (5, .probes(1)), (5, .isAbsent(true)), (5, .admit(.normal)), (20, .ends(isInVain: true)),
                (20, .next(30)),
                (21, .admit(.normal)), (21, .reached), (21, .isAbsent(false)), (21, .next(nil)),
            ]),
        Story(
            "a doubt is over with its pause where nobody wants anything",
            [(0, .doubted), (4, .isAbsent(true)), (5, .isAbsent(false)), (5, .admit(.normal))]),
        Story(
            "a doubted origin that cannot be reached is absent",
            [
                (0, .missed), (0, .doubted), (0, .admit(.normal)), (5, .probes(1)), (5, .missed), (5, .isAbsent(true)),
                (6, .admit(.refused)), (6, .next(15)),
            ]),
        Story(
            "what began before the pause is no news",
            [(0, .missed), (0, .missed), (1, .missed), (2, .doubted), (2, .next(5))]),
    ]

    @Test(arguments: stories)
    func storyHolds(story: Story) throws {
        let origin = try WebURL("http://h").origin
        let start = ContinuousClock.now
        var presence = OriginPresence(
            threshold: 2, pauses: .seconds(5)...Duration.seconds(15), interest: .seconds(60))
        for (number, (seconds, event)) in story.events.enumerated() {
            let now = start + .seconds(seconds)
            let place: Comment = "event \(number), at \(seconds) s"
            switch event {
            case .missed: presence.missed(origin, now: now)
            case .doubted: presence.doubted(origin, now: now)
            case .reached: presence.reached(origin)
            case .want: presence.want(origin, now: now)
            case .admit(let admission): #expect(presence.admit(origin, now: now) == admission, place)
            case .isAbsent(let isAbsent): #expect(presence.isAbsent(origin, now: now) == isAbsent, place)
            case .next(let next): #expect(presence.nextProbe(of: [origin]) == next.map { start + .seconds($0) }, place)
            case .probes(let count): #expect(presence.beginProbes(of: [origin], now: now).count == count, place)
            case .ends(let isInVain): presence.endProbe(origin, isInVain: isInVain, now: now)
            }
        }
    }

    @Test func eachSchemeHostAndPortIsAnOriginOfItsOwn() throws {
        let now = ContinuousClock.now
        var presence = OriginPresence(threshold: 1, pauses: .seconds(5)...Duration.seconds(5), interest: .seconds(60))
        presence.missed(try WebURL("http://h/a").origin, now: now)
        for (url, isAbsent) in [
            ("http://h/b?c", true), ("http://h:80/", true), ("https://h/", false), ("http://h:81/", false),
            ("http://i/", false),
        ] {
            #expect(presence.isAbsent(try WebURL(url).origin, now: now) == isAbsent, "\(url)")
        }
    }
}
