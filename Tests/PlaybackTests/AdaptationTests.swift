import EventLoop
import Testing

@testable import Playback

@Suite struct AdaptationTests {
    private static let sizes: [Int64] = [60_000, 150_000, 400_000, 1_200_000]

    private func choice(
        buffer: Double, throughput: Double?, current: Int? = nil, stored: Set<Int> = [], playerTimeout: Double = 8,
        isJump: Bool = false
    ) -> Int {
        let options = Self.sizes.indices.map {
            AdaptationRule.Option(bytes: Self.sizes[$0], isStored: stored.contains($0))
        }
        return AdaptationRule.choice(
            of: options,
            at: AdaptationRule.Moment(
                duration: 4, buffer: buffer, playerTimeout: playerTimeout, throughput: throughput, current: current,
                isJump: isJump))
    }

    /// LTE, 3G and this machine. Before the first segment after a seek the viewer sees nothing, unless one is stored.
    @Test(arguments: [(6_000_000.0, 2, 1), (94_000, 0, 1), (100_000_000, 3, 3)])
    func afterASeekTheSegmentComesThatArrivesSoonest(_ throughput: Double, _ place: Int, _ besideStored: Int) {
        #expect(choice(buffer: 0, throughput: throughput, current: 3, isJump: true) == place)
        // The next one is as good as the link allows.
        #expect(choice(buffer: 4, throughput: throughput, current: place) >= place)
        #expect(choice(buffer: 0, throughput: throughput, current: 3, stored: [1], isJump: true) == besideStored)
    }

    @Test @LoopActor func aSegmentThatDoesNotFollowIsAJump() {
        let adapter = Adapter()
        let jumps = [4, 5, 5, 6, 40, 41, 3, 4].map { adapter.recordRequest(of: $0) }
        #expect(jumps == [false, false, false, false, true, false, true, false])
    }

    @Test func withNothingMeasuredTheLowestComesFirst() {
        #expect(choice(buffer: 0, throughput: nil) == 0)
        #expect(choice(buffer: 0, throughput: 0) == 0)
        #expect(choice(buffer: 0, throughput: 1) == 0)
    }

    @Test(arguments: [(30_000.0, 0), (60_000, 1), (150_000, 2), (425_000, 2), (430_000, 3)])
    func switchesUpOnlyWithHeadroom(_ throughput: Double, _ place: Int) {
        #expect(choice(buffer: 8, throughput: throughput) == place)
    }

    @Test func switchesDownLaterThanUp() {
        #expect(choice(buffer: 8, throughput: 350_000, current: 3) == 3)
        #expect(choice(buffer: 8, throughput: 350_000, current: 2) == 2)
        #expect(choice(buffer: 8, throughput: 300_000, current: 3) == 2)
    }

    @Test func spendsAtMostHalfOfTheBuffer() {
        // 1,200,000 bytes at 70 % of 220,000 bytes a second take 7.8 s.
        #expect(choice(buffer: 16, throughput: 220_000, current: 1) == 3)
        #expect(choice(buffer: 15, throughput: 220_000, current: 1) == 2)
        // The time to the first byte may not exceed the player timeout either.
        #expect(choice(buffer: 60, throughput: 200_000, current: 1) == 2)
        #expect(choice(buffer: 60, throughput: 200_000, current: 1, playerTimeout: 20) == 3)
        #expect(choice(buffer: 60, throughput: 200_000, current: 1, playerTimeout: 0) == 0)
    }

    @Test func withLessThanTwoSegmentsAheadTheBufferGrows() {
        // 400,000 bytes take 3.8 s at 95 % of 110,000 bytes a second, and 2 s at 95 % of 215,000.
        #expect(choice(buffer: 8, throughput: 110_000, current: 2) == 2)
        #expect(choice(buffer: 6, throughput: 110_000, current: 2) == 1)
        #expect(choice(buffer: 0, throughput: 215_000, current: 2) == 2)
        #expect(choice(buffer: 0, throughput: 200_000, current: 2) == 1)
    }

    @Test func storedSegmentsCostNothing() {
        #expect(choice(buffer: 0, throughput: nil, stored: [2]) == 2)
        #expect(choice(buffer: 8, throughput: 430_000, stored: [2]) == 3)
        #expect(choice(buffer: 0, throughput: 10, stored: [0, 3]) == 3)
    }

    /// The link is fast enough for the best quality at any time.
    @Test(arguments: [(0.0, 1), (4, 1), (7.9, 1), (8, 3), (30, 3)])
    func whatIsStoredComesFirstUntilTwoSegmentsAreAhead(_ buffer: Double, _ place: Int) {
        #expect(choice(buffer: buffer, throughput: 100_000_000, stored: [1]) == place)
        #expect(choice(buffer: buffer, throughput: 100_000_000) == 3)
    }

    @Test func aLateSegmentIsAbandoned() {
        let big = AdaptationRule.isHopeless(remaining: 1_000_000, instead: 60_000, buffer: 8, throughput: 50_000)
        #expect(big)
        #expect(!AdaptationRule.isHopeless(remaining: 300_000, instead: 60_000, buffer: 8, throughput: 50_000))
        #expect(!AdaptationRule.isHopeless(remaining: 500_000, instead: 400_000, buffer: 8, throughput: 50_000))
        #expect(!AdaptationRule.isHopeless(remaining: 500_000, instead: 1, buffer: 8, throughput: 0))
    }

    @Test func theEstimateFallsAtOnceAndRisesWithCaution() throws {
        var estimate = ThroughputEstimate()
        #expect(estimate.rate == nil && estimate.recentRate == nil)
        for _ in 0..<30 {
            estimate.add(1_000_000, over: 1)
        }
        #expect(abs(try #require(estimate.rate) - 1_000_000) < 1)
        var rising = estimate
        var falling = estimate
        rising.add(16_000_000, over: 4)
        falling.add(40_000, over: 0.5)
        falling.add(40_000, over: 0.5)
        #expect(try #require(rising.rate) < 2_000_000)
        #expect(try #require(rising.recentRate) == 4_000_000)
        #expect(falling.rate == 80_000)
    }

    @Test func aRecoveredLinkIsTrustedAfterAFewSegments() throws {
        var estimate = ThroughputEstimate()
        for _ in 0..<60 {
            estimate.add(50_000, over: 0.5)
        }
        estimate.add(120_000, over: 0.025)
        #expect(try #require(estimate.rate) < 300_000)
        for _ in 0..<3 {
            estimate.add(120_000, over: 0.025)
        }
        #expect(try #require(estimate.rate) > 400_000)
    }
}
