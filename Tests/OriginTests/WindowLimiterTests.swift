import Testing

@testable import Origin

struct WindowLimiterTests {
    private let start = ContinuousClock.now

    /// The window after `halves` half seconds at `rate` bytes per second, with a round trip of `way` milliseconds.
    private func window(rate: Int64, halves: Int = 6, way: Int?) -> Int64? {
        var limiter = WindowLimiter()
        if let way {
            limiter.connected(in: .milliseconds(way))
        }
        for half in 0...halves {
            _ = limiter.record(rate * Int64(half) / 2, at: start + .milliseconds(500 * half))
        }
        return limiter.window
    }

    @Test func slowLinkWithAShortRoundTripGetsTwiceItsBandwidthDelayProduct() {
        #expect(window(rate: 100_000, way: 200) == 60_000)
        #expect(window(rate: 10_000, way: 200) == 32 << 10)
        // A paused transfer takes little more than half a second of a link that a film just fits.
        #expect(window(rate: 600_000, way: 40) == 360_000)
    }

    @Test func fastLinkOrLongOrUnknownRoundTripHasNoLimit() {
        #expect(window(rate: 2_000_000, way: 20) == nil)
        #expect(window(rate: 100_000, way: 300) == nil)
        #expect(window(rate: 100_000, way: nil) == nil)
        #expect(window(rate: 100_000, halves: 1, way: 200) == nil)
    }

    @Test func pauseDiscardsTheMeasurements() {
        var limiter = WindowLimiter()
        limiter.connected(in: .milliseconds(100))
        for half in 0...4 {
            _ = limiter.record(50_000 * Int64(half), at: start + .milliseconds(500 * half))
        }
        #expect(limiter.window != nil)
        _ = limiter.record(250_000, at: start + .seconds(10))
        #expect(limiter.window == nil)
    }
}
