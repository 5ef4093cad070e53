import HTTPMessage
import Testing

@testable import Origin

/// Replies and failures of hosts as sequences of events, at seconds from the beginning.
struct HostReachTests {
    enum Event {
        case replies(String)
        case fails(String, HostReach.Fault)
        case isSilent(String)
        case networkChanges
        case verdict(String, HostReach.Verdict)
        case answered(String, Bool)
        case look(String, Bool)
    }

    struct Scenario: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let events: [(at: Int, event: Event)]

        init(_ name: String, _ events: [(Int, Event)]) { (testDescription, self.events) = (name, events) }
    }

    static let scenarios = [
        Scenario("a host without a failure is reachable", [(0, .verdict("a", .reachable))]),
        Scenario(
            "the only host that fails is waited for: the network may be lost",
            [(0, .fails("a", .refusal)), (60, .fails("a", .refusal)), (600, .verdict("a", .awaited))]),
        Scenario(
            "a host that refuses is dead while another answers, and alive with its first reply",
            [
                (0, .replies("a")), (1, .fails("b", .refusal)), (1, .verdict("b", .dead)),
                (1, .verdict("a", .reachable)),
                (600, .verdict("b", .dead)), (601, .replies("b")), (601, .verdict("b", .reachable)),
            ]),
        Scenario(
            "a host that answered a moment ago may be restarting",
            [
                (0, .replies("a")), (0, .replies("b")), (2, .fails("b", .refusal)), (2, .verdict("b", .awaited)),
                (7, .verdict("b", .awaited)), (8, .verdict("b", .dead)),
            ]),
        Scenario(
            "a host that answered long ago is not restarting",
            [(0, .replies("a")), (0, .replies("b")), (60, .fails("b", .refusal)), (60, .verdict("b", .dead))]),
        Scenario(
            "if the other host fails too, the network is lost",
            [
                (0, .replies("a")), (1, .fails("b", .refusal)), (1, .verdict("b", .dead)), (2, .fails("a", .refusal)),
                (2, .verdict("b", .awaited)), (100, .verdict("a", .awaited)), (101, .replies("a")),
                (101, .verdict("b", .dead)),
            ]),
        Scenario(
            "a host that falls silent shows nothing any more",
            [
                (0, .replies("a")), (1, .fails("b", .refusal)), (2, .isSilent("a")), (2, .verdict("b", .awaited)),
                (2, .verdict("a", .reachable)), (3, .replies("a")), (3, .verdict("b", .dead)),
            ]),
        Scenario(
            "replies from before a change of the network do not count",
            [
                (0, .replies("a")), (1, .networkChanges), (2, .fails("b", .refusal)), (2, .verdict("b", .awaited)),
                (3, .replies("a")), (3, .verdict("b", .dead)), (4, .networkChanges), (4, .verdict("b", .reachable)),
            ]),
        Scenario(
            "without a route, or an answer of the DNS, only later replies of others count",
            [
                (0, .replies("a")), (1, .fails("b", .noWay)), (1, .verdict("b", .awaited)), (2, .replies("a")),
                (2, .verdict("b", .dead)),
            ]),
        Scenario(
            "a host is no evidence against itself",
            [(0, .replies("a")), (61, .fails("a", .refusal)), (61, .verdict("a", .awaited))]),
        Scenario(
            "a host that answered lately is not looked at, and one that is silent only once",
            [
                (0, .look("a", true)), (1, .look("a", false)), (29, .look("a", false)), (30, .look("a", true)),
                (31, .replies("a")), (31, .answered("a", true)), (90, .look("a", false)), (91, .answered("a", false)),
                (91, .look("a", true)), (92, .networkChanges), (92, .look("a", true)),
            ]),
    ]

    @Test(arguments: scenarios)
    func sequenceHolds(scenario: Scenario) throws {
        let start = ContinuousClock.now
        var reach = HostReach()
        for (number, (seconds, event)) in scenario.events.enumerated() {
            let now = start + .seconds(seconds)
            let place: Comment = "event \(number), at \(seconds) s"
            switch event {
            case .replies(let host): reach.recordReply(try origin(host), now: now)
            case .fails(let host, let fault): reach.recordFault(fault, of: try origin(host), now: now)
            case .isSilent(let host): reach.recordSilence(of: try origin(host))
            case .networkChanges: reach.recordNetworkChange()
            case .verdict(let host, let verdict):
                #expect(reach.verdict(on: try origin(host), now: now) == verdict, place)
            case .answered(let host, let hasAnswered):
                #expect(reach.hasAnswered(try origin(host), now: now) == hasAnswered, place)
            case .look(let host, let isNeeded):
                #expect(reach.beginLook(at: try origin(host), now: now) == isNeeded, place)
            }
        }
    }

    private func origin(_ host: String) throws -> WebURL.Origin { try WebURL("http://\(host)/").origin }

    @Test func memoryIsBounded() throws {
        var reach = HostReach()
        let now = ContinuousClock.now
        for number in 0..<5_000 {
            reach.recordFault(.refusal, of: try origin("dead\(number)"), now: now)
            reach.recordReply(try origin("live\(number)"), now: now)
            _ = reach.beginLook(at: try origin("new\(number)"), now: now)
        }
        #expect(reach.isDead(try origin("dead4999"), now: now))
        #expect(!reach.isDead(try origin("dead0"), now: now))
    }
}
