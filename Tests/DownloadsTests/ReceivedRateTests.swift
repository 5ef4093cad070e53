import Testing

@testable import Downloads

/// Links on a manual clock: what is shown must be true, and say so when nothing arrives.
@Suite struct ReceivedRateTests {
    private struct Run {
        let start = ContinuousClock.now
        var time = 0.0
        var bytes = 0.0
        var rate: ReceivedRate

        init() { rate = ReceivedRate(at: start) }

        var now: ContinuousClock.Instant { start + .seconds(time) }
        var reading: ReceivedRate.Reading { rate.reading(at: now) }

        /// Receives at a steady rate, recorded twice a second.
        mutating func receive(_ perSecond: Double, for seconds: Double) {
            let end = time + seconds
            while time < end - 0.001 {
                time += 0.5
                bytes += perSecond / 2
                rate.record(Int64(bytes), at: now)
            }
        }
    }

    /// The presets' rates in bytes per second, and the time until the first byte.
    nonisolated static let links: [(link: Double, latency: Double)] = [
        (30_000, 2.4), (97_500, 0.8), (250_000, 0.1), (1_250_000, 0.8), (6_250_000, 0.4), (5_000_000, 0.1),
        (31_250_000, 0.1), (125_000, 1.5), (130_000, 0.1), (120_000, 0.1),
    ]

    @Test(arguments: ReceivedRateTests.links)
    func theRateIsThatOfTheLink(link: Double, latency: Double) {
        var run = Run()
        run.receive(0, for: latency)
        #expect(run.reading.rate == nil)
        run.receive(link, for: 2)
        for _ in 0..<60 {
            let shown = run.reading.rate ?? 0
            #expect(abs(shown - link) < 0.2 * link, "\(shown) of \(link) after \(run.time) s")
            run.receive(link, for: 1)
        }
    }

    @Test(arguments: [97_500.0, 1_250_000])
    func aFrozenOriginIsToldWithinFifteenSeconds(link: Double) {
        var run = Run()
        run.receive(link, for: 40)
        #expect(run.reading.silence == nil)
        var former = run.reading.rate ?? 0
        for _ in 0..<9 {
            run.receive(0, for: 1)
            let shown = run.reading.rate ?? 0
            #expect(shown <= former && run.reading.silence == nil)
            former = shown
        }
        run.receive(0, for: 3)
        #expect(run.reading == ReceivedRate.Reading(rate: 0, silence: .seconds(12)))
        #expect(run.rate.timeLeft(for: 1_000_000, at: run.now) == nil)
        run.receive(link, for: 1)
        #expect(run.reading.silence == nil && (run.reading.rate ?? 0) > 0)
    }

    @Test func anOriginThatSendsNothingAtAllIsTold() {
        var run = Run()
        run.receive(0, for: 12)
        #expect(run.reading == ReceivedRate.Reading(rate: nil, silence: .seconds(12)))
    }

    @Test func theRateFollowsTheLinkInSeconds() {
        var run = Run()
        run.receive(1_250_000, for: 60)
        run.receive(50_000, for: 6)
        #expect((run.reading.rate ?? 0) < 60_000)
        run.receive(1_250_000, for: 6)
        #expect((run.reading.rate ?? 0) > 1_200_000)
    }

    @Test func burstsDoNotShow() {
        var run = Run()
        // Pieces of 100 KB that arrive at once, one each two seconds.
        for _ in 0..<20 {
            run.receive(0, for: 1.5)
            run.receive(200_000, for: 0.5)
        }
        #expect(abs((run.reading.rate ?? 0) - 50_000) < 10_000)
    }

    @Test func theTimeLeftIsShownOnlyIfItIsKnownToAFactorOfTwo() {
        var run = Run()
        run.receive(100_000, for: 4)
        #expect(run.rate.timeLeft(for: 1_000_000, at: run.now) == nil)
        run.receive(100_000, for: 10)
        #expect(run.rate.timeLeft(for: 1_000_000, at: run.now) == .seconds(10))
        // The link is another one now, and its rate not yet sure.
        run.receive(1_000_000, for: 5)
        #expect(run.rate.timeLeft(for: 1_000_000, at: run.now) == nil)
        run.receive(1_000_000, for: 60)
        #expect(run.rate.timeLeft(for: 10_000_000, at: run.now) == .seconds(10))
    }

    @Test func whatIsRecordedOftenIsNotKeptForEver() {
        var run = Run()
        for _ in 0..<100_000 {
            run.time += 0.01
            run.bytes += 1000
            run.rate.record(Int64(run.bytes), at: run.now)
        }
        #expect(abs((run.reading.rate ?? 0) - 100_000) < 10_000)
        #expect(run.rate.timeLeft(for: 1_000_000, at: run.now) != nil)
    }
}
