import AccessLog
import Testing

@testable import Sessions

@Suite struct SessionSeriesTests {
    private func timeline(_ meter: SessionMeter, at time: Double) -> SessionTimeline {
        var timeline = SessionTimeline(session: "s", guid: "G", asset: "film", client: nil, began: 0, length: time)
        meter.fill(&timeline, at: time)
        return timeline
    }

    @Test func eachDeliveryHasItsSourceRateAndBuffer() {
        var trace = MeterTrace()
        trace.ask(0, of: "low", at: 0.5)
        trace.get(0, of: "low", at: 1.5, since: 0.5, bytes: 125_000)
        trace.ask(1, of: "low", at: 1.5, from: .joined)
        trace.get(1, of: "low", at: 2.5, since: 1.5, bytes: 250_000, from: .joined)
        trace.meter.recordSubstitute("high", for: 2, of: "low")
        trace.take(2, of: "low", at: 3, bytes: 7000)
        let series = timeline(trace.meter, at: 4)
        #expect(series.segments.map(\.number) == [0, 1, 2] && series.segments.map(\.time) == [1.5, 2.5, 3])
        #expect(series.segments.map(\.source) == [.origin, .joined, .store])
        #expect(series.segments.map(\.rate) == [1_000_000, 2_000_000, nil])
        #expect(series.segments.map(\.wait) == [1, 1, nil])
        #expect(series.segments.map(\.buffer) == [2, 3, 4.5])
        #expect(series.segments.map(\.bufferBefore) == [0, 1, 2.5])
        #expect(series.segments.map(\.playhead) == [0, 1, 1.5])
        #expect(series.renditions.map(\.id) == ["low", "high"])
        #expect(series.renditions.map(\.bandwidth) == [1_000_000, 4_000_000])
        #expect(series.segments.map(\.substitute) == [nil, nil, 1] && series.stalls.isEmpty)
    }

    /// The periods agree with the counters of the log at each moment, also within a stall.
    @Test func stallsHaveTheirPeriods() {
        var trace = MeterTrace()
        var time = 0.0
        for number in 0..<40 {
            let delay = [0.3, 1.9, 4.5, 0.1, 9][number % 5]
            trace.ask(number, of: "low", at: time)
            for step in [0.5, 0.9] {
                check(trace.meter, at: time + delay * step)
            }
            trace.get(number, of: "low", at: time + delay, since: time)
            time += delay
            check(trace.meter, at: time)
        }
        #expect(timeline(trace.meter, at: time).stalls.count == 16)
        _ = trace.meter.close(at: time + 60)
        check(trace.meter, at: time + 60)
    }

    private func check(_ meter: SessionMeter, at time: Double) {
        let series = timeline(meter, at: time)
        let total = meter.total(at: time)
        #expect(series.stalls.count == total.stalls && abs(series.stallTime - total.stallTime) < 0.01, "\(time)")
        for (stall, next) in zip(series.stalls, series.stalls.dropFirst()) {
            #expect(stall.until <= next.since)
        }
        #expect(series.stalls.allSatisfy { $0.since < $0.until && $0.until <= time + 0.001 })
    }

    private func delivery(_ number: Int, of rendition: String = "low", from source: PieceSource = .store)
        -> SessionSeries.Delivery
    {
        SessionSeries.Delivery(
            segment: MeterTrace.segment(number, of: rendition), source: source, bufferBefore: 1, buffer: 3, playhead: 0)
    }

    @Test func aLongSessionKeepsItsSumsInBoundedSpace() {
        var series = SessionSeries()
        for number in 0..<100_000 {
            series.add(delivery(number), at: Double(number) * 2)
            series.addStored(10)
            series.add(delivery(number, of: "sound", from: .origin), at: Double(number) * 2)
            #expect(series.segments.count <= SessionSeries.limit)
        }
        #expect(series.omitted == 0 && series.segments.reduce(0) { $0 + $1.count } == 200_000)
        #expect(series.segments.reduce(0) { $0 + $1.bytes } == 1_000_000)
        #expect(zip(series.segments, series.segments.dropFirst()).allSatisfy { $0.time <= $1.time })
        for lane in [0, 1] {
            let own = series.segments.filter { $0.rendition == lane }
            #expect(zip(own, own.dropFirst()).allSatisfy { $0.number + $0.count == $1.number })
            #expect(own.last.map { $0.number + $0.count } == 100_000)
        }
    }

    @Test func segmentsThatCannotBeMergedAreDroppedFromTheFront() {
        var series = SessionSeries()
        for number in 0..<2000 {
            series.add(delivery(number, from: number % 2 == 0 ? .store : .origin), at: Double(number))
        }
        #expect(series.segments.count <= SessionSeries.limit && series.omitted > 0)
        #expect(series.omitted + series.segments.reduce(0) { $0 + $1.count } == 2000)
        #expect(series.segments.last?.number == 1999)
    }

    @Test func aSegmentInSeveralRangesIsOneMark() {
        var series = SessionSeries()
        var first = delivery(3, from: .origin)
        first.arrival = SessionSeries.Arrival(bytes: 1000, fetched: 1000, wait: 1)
        series.add(first, at: 1)
        series.add(delivery(3, from: .origin), at: 2)
        series.record(SessionSeries.Arrival(bytes: 500, fetched: 0, wait: 0.1), of: 3, in: "low")
        #expect(series.segments.count == 1 && series.segments[0].time == 2 && series.segments[0].bytes == 1500)
        #expect(series.segments[0].rate == 8000)
    }
}
