import HTTPMessage
import Testing

@testable import Origin

struct ConnectionTrustTests {
    @Test func whatStoodBeforeASilenceIsNotUsedAfterIt() throws {
        let (silent, other) = (try WebURL("http://a/x").origin, try WebURL("http://b/x").origin)
        let start = ContinuousClock.now
        var trust = ConnectionTrust()
        #expect(trust.oldest(silent, now: start) == nil)
        trust.silent(silent, now: start)
        #expect(trust.oldest(other, now: start) == nil)
        for (seconds, oldest) in [(0.0, 0), (0.9, 0), (1, 1), (30.5, 30), (117, 117)] {
            #expect(trust.oldest(silent, now: start + .seconds(seconds)) == oldest)
        }
        #expect(trust.oldest(silent, now: start + .seconds(119)) == nil)
        trust.silent(silent, now: start + .seconds(20))
        #expect(trust.oldest(silent, now: start + .seconds(25)) == 5)
    }
}
