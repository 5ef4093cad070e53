import EventLoop
import TestSupport
import Testing

@testable import Playheads

struct YieldPolicyTests {
    private let start = ContinuousClock.now
    /// A 3G link, in bytes per second. The media needs a third of it.
    private let link = 97_500.0
    private func demand(_ buffer: Double) -> YieldPolicy.Demand {
        YieldPolicy.Demand(buffer: buffer, rate: 32_000, segment: 2)
    }

    /// The rate after two calls of the policy, far enough apart for a rise to count; `Int64.max` for no limit.
    private func rate(
        _ waiting: [YieldPolicy.Demand], isWatched: Bool = true, link: Double?
    ) -> Int64 {
        var policy = YieldPolicy()
        _ = policy.allowance(for: waiting, isWatched: isWatched, link: link, at: start)
        let allowance = policy.allowance(for: waiting, isWatched: isWatched, link: link, at: start + .seconds(1))
        return allowance.rate ?? .max
    }

    @Test func noLimitsWithoutSessions() {
        var policy = YieldPolicy()
        #expect(policy.allowance(for: [], isWatched: false, link: nil, at: start) == .full)
        #expect(policy.allowance(for: [], isWatched: false, link: link, at: start) == .full)
    }

    @Test(arguments: [0, 1, 2.6])
    func backgroundStopsInTheReservoir(buffer: Double) {
        #expect(rate([demand(buffer)], link: link) == 0)
    }

    @Test func rateGrowsInTheCushionUpToTheUnusedRate() {
        let rates = [3.0, 4, 5, 6, 7, 7.8].map { rate([demand($0)], link: link) }
        #expect(rates == rates.sorted() && Set(rates).count == rates.count)
        #expect(rates.allSatisfy { $0 > 0 && $0 <= 65_500 })
        #expect(rate([demand(8)], link: link) == .max)
    }

    @Test func reservoirIsShortOnAFastLink() {
        #expect(rate([demand(3)], link: 50_000_000) == .max)
        #expect(rate([demand(0)], link: 50_000_000) == 0)
    }

    @Test func reservoirIsLongIfTheMediaFillsTheLink() {
        #expect(rate([demand(9)], link: 34_000) == 0)
        #expect(rate([demand(60)], link: 34_000) == .max)
    }

    @Test func unmeasuredLinkBelongsToPlayers() {
        #expect(rate([demand(30)], link: nil) == 0)
        #expect(rate([], link: nil) == .max)
    }

    @Test func sessionWithTheSmallestBufferDecides() {
        #expect(rate([demand(30), demand(1)], link: link) == 0)
        let both = rate([demand(30), demand(9)], link: link)
        #expect(both > 0 && both < 97_500 - 64_000)
    }

    @Test func sessionThatWaitsForNothingDoesNotLimitTheRate() {
        #expect(rate([], link: link) == .max)
        var policy = YieldPolicy()
        let allowance = policy.allowance(for: [], isWatched: true, link: link, at: start)
        // The window and the number of transfers are limited, since the session will request again.
        #expect(allowance.window == 48_750 && allowance.slots != nil)
    }

    @Test func stopCountsAtOnceAndItsEndAfterAPause() {
        var policy = YieldPolicy()
        func rate(_ waiting: [YieldPolicy.Demand], _ at: Double) -> Int64 {
            policy.allowance(for: waiting, isWatched: true, link: link, at: start + .seconds(at)).rate ?? .max
        }
        #expect(rate([], 0) == .max)
        #expect(rate([demand(0)], 0.1) == 0)
        // A player that requests one segment after the other.
        #expect(rate([], 1.0) == 0)
        #expect(rate([demand(2)], 1.1) == 0)
        #expect(rate([], 2.0) == 0)
        #expect(rate([], 2.5) == 0)
        #expect(rate([], 2.7) == .max)
    }
}

struct LinkMeterTests {
    private let start = ContinuousClock.now

    /// The rate after these samples: (seconds, bytes so far, true if the link was busy).
    private func rate(_ samples: [(Double, Int64, Bool)]) -> Double? {
        var meter = LinkMeter()
        for (at, bytes, isBusy) in samples {
            meter.record(bytes, isBusy: isBusy, at: start + .seconds(at))
        }
        return meter.rate
    }

    @Test func rateIsUnknownBeforeTheSecondSample() {
        #expect(rate([]) == nil)
        #expect(rate([(0, 5000, true)]) == nil)
        #expect(rate([(0, 5000, true), (0.1, 9000, true)]) == nil)
        #expect(rate([(0, 5000, true), (1, 5000, true)]) == nil)
    }

    @Test func highestRecentRateCountsOnAnIdleLink() {
        #expect(rate([(0, 0, true), (1, 90_000, true), (2, 91_000, false), (9, 91_000, false)]) == 90_000)
        #expect(rate([(0, 0, true), (1, 90_000, true), (12, 91_000, false)]).map { $0 < 100 } ?? false)
    }

    @Test func slowerRateCountsSoonOnABusyLink() {
        let samples = [(0.0, 0 as Int64, true), (1, 90_000, true), (3, 110_000, true), (5, 130_000, true)]
        #expect(rate(samples) == 10_000)
    }

    @Test func bytesBufferedHereAreNotMeasured() {
        var meter = LinkMeter()
        meter.record(0, isBusy: true, at: start)
        meter.skip()
        meter.record(500_000, isBusy: true, at: start + .seconds(1))
        meter.record(510_000, isBusy: true, at: start + .seconds(2))
        #expect(meter.rate == 10_000)
    }
}

@LoopActor @Suite struct BackgroundYieldTests {
    /// Transfers on a slow link. At each change of their rate, bytes that a pause has left in this machine's buffers come at once.
    private final class BufferedTransfers: BackgroundTransfers {
        private var bytes: Int64 = 0
        private(set) var allowances: [BackgroundAllowance] = []

        var receivedBytes: Int64 {
            bytes += 1000
            return bytes
        }

        var allowance = BackgroundAllowance.full {
            didSet {
                allowances.append(allowance)
                if allowance.rate != oldValue.rate {
                    bytes += 1 << 40
                }
            }
        }
    }

    private final class Film: PlayedAsset, PlayedRendition {
        let id = "film"
        let duration: Double? = 2_000
        let isRemoved = false
        let isEncrypted = false

        /// So long that its player counts as waiting for the next one until the test ends.
        func span(ofFile file: String) -> SegmentSpan? { SegmentSpan(number: 0, start: 0, duration: 2_000) }

        func playedRendition(in folder: String) -> (rendition: any PlayedRendition, kind: MediaKind)? { (self, .main) }
    }

    /// The link is measured at most each 400 ms, and 1,000 bytes come in each of its ticks of 200 ms at least: it has less than 10 kB/s.
    @Test func bytesThatComeWithAChangeOfTheRateAreNotTheLinks() async throws {
        let tracker = PlayheadTracker()
        let transfers = BufferedTransfers()
        let yield = BackgroundYield(tracker, transfers)
        let film = Film()
        let cursor = try #require(tracker.cursor(of: "s", in: film, "video"))
        cursor.beginWait(for: "0")
        #expect(transfers.allowance == .nothing)
        try await waitUntil("four ticks of a stop") { transfers.allowances.count >= 5 }
        cursor.endWait(for: "0", bytes: 1000, isComplete: true, hasArrived: true)
        try await waitUntil("the end of the stop") { transfers.allowance.rate == nil }
        let changed = transfers.allowances.count
        try await waitUntil("four more ticks") { transfers.allowances.count >= changed + 4 }
        #expect(transfers.allowance.window == BackgroundAllowance.smallestWindow)
        withExtendedLifetime(yield) {}
    }
}
