import EventLoop
import HTTPMessage
import Testing

@testable import Origin

@LoopActor struct TrafficTallyTests {
    @Test("Each origin has its own count, in whatever order their requests and bytes come")
    func countsByOrigin() throws {
        let one = try WebURL("https://one.example/a").origin
        let two = try WebURL("https://two.example/a").origin
        let tally = TrafficTally()
        #expect(tally.counts.isEmpty)
        tally.recordRequest(to: one)
        tally.recordRequest(to: two)
        tally.record(bytes: 10, from: one)
        tally.record(bytes: 5, from: one)
        tally.record(bytes: 7, from: two)
        tally.recordRequest(to: one)
        let expected = [
            one: TrafficTally.Count(requests: 2, bytes: 15), two: TrafficTally.Count(requests: 1, bytes: 7),
        ]
        #expect(tally.counts == expected)
    }
}
