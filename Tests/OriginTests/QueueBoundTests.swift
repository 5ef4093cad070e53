import Testing

@testable import Origin

struct QueueBoundTests {
    private let start = ContinuousClock.now

    /// The bound after so many half seconds at a rate in bytes a second, over a way of so many milliseconds.
    private func window(rate: Int64, halves: Int = 6, way: Int?) -> Int64? {
        var bound = QueueBound()
        if let way { bound.connected(in: .milliseconds(way)) }
        for half in 0...halves { _ = bound.note(rate * Int64(half) / 2, at: start + .milliseconds(500 * half)) }
        return bound.window
    }

    @Test func slowAndShortWayHasTwiceWhatItsRateNeeds() {
        #expect(window(rate: 100_000, way: 200) == 60_000)
        #expect(window(rate: 10_000, way: 200) == 32 << 10)
    }

    @Test func fastOrLongOrUnknownWayHasNoBound() {
        #expect(window(rate: 256_000, way: 20) == nil)
        #expect(window(rate: 100_000, way: 300) == nil)
        #expect(window(rate: 100_000, way: nil) == nil)
        #expect(window(rate: 100_000, halves: 1, way: 200) == nil)
    }

    @Test func pauseMakesWhatWasMeasuredWorthless() {
        var bound = QueueBound()
        bound.connected(in: .milliseconds(100))
        for half in 0...4 { _ = bound.note(50_000 * Int64(half), at: start + .milliseconds(500 * half)) }
        #expect(bound.window != nil)
        _ = bound.note(250_000, at: start + .seconds(10))
        #expect(bound.window == nil)
    }
}
