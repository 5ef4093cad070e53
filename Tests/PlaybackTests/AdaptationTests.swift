import Glibc
import Testing

@testable import Playback

@Suite struct AdaptationTests {
    private static let sizes: [Int64] = [60_000, 150_000, 400_000, 1_200_000]

    private func choice(
        buffer: Double, throughput: Double?, current: Int? = nil, stored: Set<Int> = []
    ) -> Int {
        let options = Self.sizes.indices.map {
            AdaptationRule.Option(bytes: Self.sizes[$0], isStored: stored.contains($0))
        }
        return AdaptationRule.choice(
            of: options,
            at: AdaptationRule.Moment(duration: 4, buffer: buffer, throughput: throughput, current: current))
    }

    @Test func withNothingMeasuredTheLowestComesFirst() {
        #expect(choice(buffer: 0, throughput: nil) == 0)
        #expect(choice(buffer: 0, throughput: 0) == 0)
        #expect(choice(buffer: 0, throughput: 1) == 0)
    }

    @Test(arguments: [(30_000.0, 0), (60_000, 1), (150_000, 2), (425_000, 2), (430_000, 3)])
    func upwardsMoreThanTheBitRateMustBeThere(_ throughput: Double, _ place: Int) {
        #expect(choice(buffer: 0, throughput: throughput) == place)
    }

    @Test func whatThereIsStaysLongerThanItTakesToGetThere() {
        #expect(choice(buffer: 0, throughput: 350_000, current: 3) == 3)
        #expect(choice(buffer: 0, throughput: 350_000, current: 2) == 2)
        #expect(choice(buffer: 0, throughput: 300_000, current: 3) == 2)
    }

    @Test func aBufferAboveTheFloorIsSpentAndTheFloorIsNot() {
        // 1,200,000 bytes at 70 % of 100,000 a second take 17.1 s.
        #expect(choice(buffer: 28, throughput: 100_000, current: 1) == 3)
        #expect(choice(buffer: 27, throughput: 100_000, current: 1) == 2)
        #expect(choice(buffer: 10, throughput: 100_000, current: 1) == 1)
    }

    @Test func whatIsStoredCostsNothing() {
        #expect(choice(buffer: 0, throughput: nil, stored: [2]) == 2)
        #expect(choice(buffer: 0, throughput: 430_000, stored: [2]) == 3)
        #expect(choice(buffer: 0, throughput: 10, stored: [0, 3]) == 3)
    }

    @Test func whatWillNotBeThereInTimeIsGivenUp() {
        let big = AdaptationRule.isHopeless(remaining: 1_000_000, instead: 60_000, buffer: 8, throughput: 50_000)
        #expect(big)
        #expect(!AdaptationRule.isHopeless(remaining: 300_000, instead: 60_000, buffer: 8, throughput: 50_000))
        #expect(!AdaptationRule.isHopeless(remaining: 500_000, instead: 400_000, buffer: 8, throughput: 50_000))
        #expect(!AdaptationRule.isHopeless(remaining: 500_000, instead: 1, buffer: 8, throughput: 0))
    }

    @Test func theEstimateFallsAtOnceAndRisesWithCaution() throws {
        var estimate = ThroughputEstimate()
        #expect(estimate.rate == nil)
        for _ in 0..<30 { estimate.add(1_000_000, over: 1) }
        #expect(abs(try #require(estimate.rate) - 1_000_000) < 1)
        var (rising, falling) = (estimate, estimate)
        rising.add(16_000_000, over: 4)
        falling.add(400_000, over: 4)
        #expect(try #require(rising.rate) < 2_000_000)
        #expect(try #require(falling.rate) < 500_000)
    }

    // MARK: Against a rule that is known

    /// A link whose rate changes with time, in bytes a second.
    private struct Trace: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let steps: [(until: Double, rate: Double)]

        /// When so many bytes have come that were asked for at an instant.
        func end(of bytes: Double, from start: Double) -> Double {
            var (time, left) = (start, bytes)
            for step in steps where step.until > time {
                let span = step.until - time
                if left <= span * step.rate { return time + left / step.rate }
                (time, left) = (step.until, left - span * step.rate)
            }
            return time + left / (steps.last?.rate ?? 1)
        }

        /// The bytes that come until an instant.
        func bytes(until end: Double) -> Double {
            var (time, sum) = (0.0, 0.0)
            for step in steps where time < end {
                sum += (min(step.until, end) - time) * step.rate
                time = step.until
            }
            return sum + max(0, end - time) * (steps.last?.rate ?? 0)
        }
    }

    /// What a playback of 60 segments of 4 s came to.
    private struct Outcome {
        var stalls = 0
        var stalled = 0.0
        var bytes = 0.0
        var end = 0.0
    }

    /// One segment after the other, with at most so much media ahead.
    private func play(_ trace: Trace, ahead: Double, _ choose: (Double, Int?) -> Int, _ note: (Int64, Double) -> Void)
        -> Outcome
    {
        var outcome = Outcome()
        var (time, front, begun) = (0.0, 0.0, Double?.none)
        var current: Int?
        for _ in 0..<60 {
            var position = begun.map { min(front, time - $0 - outcome.stalled) } ?? 0
            if front - position > ahead {
                time += front - position - ahead
                position = front - ahead
            }
            let place = choose(front - position, current)
            let end = trace.end(of: Double(Self.sizes[place]), from: time + 0.05)
            note(Self.sizes[place], end - time)
            if let begun, end - begun - outcome.stalled > front + 0.001, front > 0 {
                outcome.stalls += 1
                outcome.stalled += end - begun - outcome.stalled - front
            }
            begun = begun ?? end
            (time, front, current) = (end, front + 4, place)
            outcome.bytes += Double(Self.sizes[place])
        }
        outcome.end = time
        return outcome
    }

    private func ours(_ trace: Trace, ahead: Double) -> Outcome {
        var estimate = ThroughputEstimate()
        return play(
            trace, ahead: ahead,
            { buffer, current in choice(buffer: buffer, throughput: estimate.rate, current: current) },
            { estimate.add($0, over: $1) })
    }

    /// hls.js 1.6, AbrController.findBestLevel without its emergency: the best level whose fetch takes less time than
    /// the buffer lasts, with 95 % of the estimate for the level that there is or a lower one and 70 % for higher ones;
    /// where the buffer allows none, what 4 s of starvation allow.
    private func reference(_ trace: Trace) -> Outcome {
        var estimate = ThroughputEstimate()
        return play(
            trace, ahead: 30,
            { buffer, current in
                guard let rate = estimate.rate else { return 0 }
                for patience in [buffer, buffer + 4] {
                    for place in Self.sizes.indices.reversed() {
                        let share = place > current ?? 0 ? 0.7 : 0.95
                        let size = Double(Self.sizes[place])
                        guard size / 4 <= rate * share, size / (rate * share) <= max(patience, 0.001) else { continue }
                        return place
                    }
                }
                return 0
            }, { estimate.add($0, over: $1) })
    }

    private static let traces = [
        Trace(testDescription: "Wi-Fi, 3G, Wi-Fi", steps: [(40, 5_000_000), (120, 97_500), (400, 5_000_000)]),
        Trace(testDescription: "3G", steps: [(999, 97_500)]),
        Trace(testDescription: "falls in steps", steps: [(30, 900_000), (60, 450_000), (90, 200_000), (999, 60_000)]),
        Trace(
            testDescription: "saw", steps: (1...40).map { (Double($0) * 8, $0.isMultiple(of: 2) ? 600_000 : 120_000) }),
        Trace(testDescription: "DSL", steps: [(999, 250_000)]),
    ]

    @Test(arguments: traces)
    private func stallsNoMoreThanTheRuleOfHLSJS(_ trace: Trace) {
        for ahead in [30, 120, 1_000.0] {
            let (own, other) = (ours(trace, ahead: ahead), reference(trace))
            #expect(own.stalls <= other.stalls, "\(own) \(other)")
            #expect(own.stalled <= other.stalled + 0.5, "\(own) \(other)")
        }
    }

    /// What a trace allows is what it carries while the media plays, up to the best quality.
    @Test(arguments: traces)
    private func takesNearlyWhatTheTraceAllows(_ trace: Trace) {
        let own = ours(trace, ahead: 120)
        let allowed = min(trace.bytes(until: 240), Double(Self.sizes[3]) * 60)
        #expect(own.bytes > 0.85 * allowed, "\(own) of \(allowed)")
    }
}
