import Testing

@testable import Origin

@Suite struct AbandonedTransferTests {
    struct Row: Sendable {
        var received: Int64
        var missing: Int64?
        var rate: Double?
        var isContinuable = true
        var verdict: AbandonedTransfer.Verdict
    }

    nonisolated static let rows: [Row] = [
        // 3G: a second of it, and a little more.
        Row(received: 500_000, missing: 90_000, rate: 94_000, verdict: .finishSoon),
        Row(received: 500_000, missing: 100_000, rate: 94_000, verdict: .stop),
        Row(received: 14_000, missing: 1_400_000, rate: 94_000, verdict: .stop),
        // A fast link has the whole segment within a second.
        Row(received: 64_000, missing: 8_000_000, rate: 40_000_000, verdict: .finishSoon),
        // All is there.
        Row(received: 1000, missing: 0, rate: nil, verdict: .finishSoon),
        // The origin states no length.
        Row(received: 500_000, missing: nil, rate: 94_000, isContinuable: false, verdict: .stop),
        // Without ranges the larger part counts.
        Row(received: 600_000, missing: 500_000, rate: 94_000, isContinuable: false, verdict: .finishLast),
        Row(received: 500_000, missing: 600_000, rate: 94_000, isContinuable: false, verdict: .stop),
        Row(received: 600_000, missing: 90_000, rate: 94_000, isContinuable: false, verdict: .finishSoon),
        // The present request has brought nothing: what is there was there before.
        Row(received: 600_000, missing: 500_000, rate: nil, isContinuable: false, verdict: .stop),
    ]

    @Test(arguments: AbandonedTransferTests.rows) func decidesByWhatIsMissing(row: Row) {
        let transfer = AbandonedTransfer(
            received: row.received, missing: row.missing, rate: row.rate, isContinuable: row.isContinuable)
        #expect(transfer.verdict == row.verdict)
    }

    @Test func theRateIsThatOfTheLastOneToTwoSeconds() {
        let start = ContinuousClock.now
        var rate = ArrivalRate(at: start)
        #expect(rate.value(at: start + .seconds(1)) == nil)
        // Ten packets at once are no sign of a fast link.
        rate.record(14_000, at: start + .milliseconds(1))
        #expect(rate.value(at: start + .milliseconds(1)) == 280_000)
        for tick in 1...40 {
            rate.record(5000, at: start + .milliseconds(100 * tick))
        }
        let steady = rate.value(at: start + .seconds(4)) ?? 0
        #expect((45_000...55_000).contains(steady), "\(steady)")
        // Then nothing.
        #expect(rate.value(at: start + .seconds(24)) ?? 0 < 5000)
    }
}
