import AccessLog
import SafeText
import Testing

@testable import Sessions

/// Player reports, and their effect on inferred values.
@Suite struct PlayerReportTests {
    /// Two segments, of which the second comes late: the inferred stall is 2.5 s.
    private func starved() -> MeterTrace {
        var trace = MeterTrace()
        trace.ask(0, of: "low", at: 0)
        trace.get(0, of: "low", at: 0.5, since: 0)
        trace.ask(1, of: "low", at: 1)
        trace.get(1, of: "low", at: 5, since: 1)
        return trace
    }

    @Test func aReportReplacesInferredValues() {
        var trace = starved()
        let before = trace.open(at: 5)
        #expect(before.stalls == 1 && before.stallTime == 2.5 && before.startup == 0.5 && before.framesDropped == nil)
        #expect(before.inferred == AccessEvent.inferable)

        trace = MeterTrace()
        trace.ask(0, of: "low", at: 0)
        trace.get(0, of: "low", at: 0.5, since: 0)
        trace.meter.apply(PlayerReport(playhead: 0.25, rate: 1, startup: 0.75), at: 1)
        trace.ask(1, of: "low", at: 1)
        #expect(trace.open(at: 2).watched == 1.25)
        trace.meter.apply(PlayerReport(playhead: 2, rate: 0, isStalled: true, stalls: 1, stallTime: 0.25), at: 3)
        #expect(trace.meter.playhead(at: 4) == (2, true))
        trace.get(1, of: "low", at: 5, since: 1)
        trace.meter.apply(
            PlayerReport(playhead: 2, rate: 2, stalls: 1, stallTime: 2.25, framesDropped: 4, startup: 0.75), at: 5)
        let event = trace.open(at: 5.5)
        #expect(event.stalls == 1 && event.stallTime == 2.25 && event.framesDropped == 4 && event.startup == 0.75)
        // At double speed, as reported.
        #expect(event.watched == 3)
        #expect(event.inferred == ["startOffset", "uri"])
        #expect(trace.meter.playhead(at: 5.5) == (3, false))
    }

    @Test func reportedCountersAreDividedByEventAndDoNotFall() {
        var trace = starved()
        trace.meter.apply(PlayerReport(playhead: 3, rate: 1, stalls: 2, stallTime: 3, framesDropped: 4), at: 6)
        trace.ask(20, of: "low", at: 7, isSeek: true)
        trace.get(20, of: "low", at: 7.5, since: 7)
        trace.meter.apply(PlayerReport(playhead: 40.5, rate: 1, stalls: 5, stallTime: 7, framesDropped: 10), at: 8)
        trace.meter.apply(PlayerReport(playhead: 40.5, rate: 1, stalls: 1, stallTime: 1, framesDropped: 1), at: 8)
        let events = trace.meter.takeFinished()
        let open = trace.open(at: 8)
        #expect(events.map(\.stalls) == [2] && events.map(\.framesDropped) == [4] && events.map(\.stallTime) == [3])
        #expect(open.stalls == 3 && open.stallTime == 4 && open.framesDropped == 6)
        let total = trace.meter.total(at: 8)
        #expect(total.stalls == 5 && total.framesDropped == 10 && KPIs(events + [open]).framesDropped == 10)
        #expect(KPIs([]).framesDropped == nil)
    }

    @Test func skippedTimeIsNotWatched() {
        var trace = MeterTrace()
        for number in 0..<10 {
            trace.ask(number, of: "low", at: 0)
            trace.get(number, of: "low", at: 0.5, since: 0)
        }
        trace.meter.apply(PlayerReport(playhead: 0.5, rate: 1), at: 1)
        trace.meter.apply(PlayerReport(playhead: 12, rate: 1), at: 2)
        #expect(trace.open(at: 3).watched == 2.5)
        // The media is not counted twice either.
        trace.meter.apply(PlayerReport(playhead: 11, rate: 1), at: 3)
        #expect(trace.open(at: 4).watched == 2.5 && trace.meter.playhead(at: 4).position == 12)
    }

    @Test func theNextSessionCountsOnlyNewValues() {
        let earlier = PlayerReport(playhead: 5, rate: 1, stalls: 2, stallTime: 3, framesDropped: 4, startup: 1)
        let later = PlayerReport(playhead: 9, rate: 1, stalls: 3, stallTime: 3.5, framesDropped: 4, startup: 1)
        #expect(
            later.since(earlier) == PlayerReport(playhead: 9, rate: 1, stalls: 1, stallTime: 0.5, framesDropped: 0))
        #expect(later.since(nil) == later)
    }

    @Test(arguments: [
        (PlayerReport(playhead: 4.1e7, rate: 1), "playhead"), (PlayerReport(playhead: 0, rate: 16.5), "rate"),
        (PlayerReport(playhead: 0, rate: 0, stalls: -1), "stalls"),
        (PlayerReport(playhead: 0, rate: 0, stallTime: 4.1e7), "stallTime"),
    ])
    func implausibleValuesAreNamed(report: PlayerReport, key: String) {
        #expect(report.keyOutOfRange == key)
        #expect(PlayerReport(playhead: 4e7, rate: 16, stalls: 1_000_000_000, framesDropped: 0).keyOutOfRange == nil)
    }

    @Test func mediaThatIsPlayedAgainIsWatchedAgain() {
        var trace = MeterTrace()
        for number in 0..<10 {
            trace.ask(number, of: "low", at: 0)
            trace.get(number, of: "low", at: 0.5, since: 0)
        }
        trace.meter.apply(PlayerReport(playhead: 8, rate: 1), at: 8.5)
        trace.meter.apply(PlayerReport(playhead: 1, rate: 1), at: 9.5)
        #expect(trace.open(at: 10.5).watched == 10)
    }
}
