import Assets
import HTTPMessage
import Testing

@testable import Playheads
@testable import Sessions

/// A player that requests one 2 s segment after the other, as the playhead tracker and the replies report it.
struct WatchTrace {
    private static let start = ContinuousClock.now

    var watch = PlayWatch()
    private let playhead: SessionPlayhead
    private var number = 0
    private var isRequested = false

    /// - Parameter end: the length of the film; nil while that is unknown.
    init(end: Double? = nil) { playhead = SessionPlayhead(at: Self.start, end: end) }

    /// The player requests the next segment.
    mutating func ask(at time: Double, _ data: String? = nil) {
        if let data = data.map({ CMCD($0.utf8) }) {
            playhead.apply(data.correction(isPlaced: true), at: Self.start + .seconds(time))
            watch.apply(data, reading(time), at: time)
        }
        watch.requestBegan(at: time)
        request(at: time)
    }

    /// The requested segment arrives.
    mutating func get(at time: Double) {
        if !isRequested {
            request(at: time)
        }
        watch.requestsEnded(hasFailed: false, at: time)
        playhead.delivered(span, .main, at: Self.start + .seconds(time))
        watch.update(reading(time), isSeek: false, at: time)
        number = number + 1
        isRequested = false
    }

    mutating func fail(at time: Double) { watch.requestsEnded(hasFailed: true, at: time) }

    mutating func seek(to start: Double, at time: Double) {
        number = Int(start / 2)
        watch.requestBegan(at: time)
        request(at: time)
    }

    private var span: SegmentSpan { SegmentSpan(number: number, start: Double(number) * 2, duration: 2) }

    private mutating func request(at time: Double) {
        let isSeek = playhead.requested(span, of: "video", .main, at: Self.start + .seconds(time))
        watch.update(reading(time), isSeek: isSeek, at: time)
        isRequested = true
    }

    private func reading(_ time: Double) -> PlayheadReading { playhead.reading(at: Self.start + .seconds(time)) }

    func total(at time: Double) -> (count: Int, time: Double) {
        var watch = watch
        watch.advance(to: time)
        return watch.total
    }
}

@Suite struct PlayWatchTests {
    @Test func aPlayerThatRequestsNothingMoreHasWatchedHalfOfWhatItCould() {
        var trace = WatchTrace(end: 200)
        // It keeps four seconds ahead of its playhead.
        for (number, time) in [0, 0.1, 0.2, 2.1, 4.1, 6.1].enumerated() {
            trace.ask(at: time)
            trace.get(at: time + 0.1)
            #expect(abs(trace.watch.watched - max(0, time - 0.1)) < 0.15, "\(number)")
        }
        trace.watch.advance(to: 7.6)
        #expect(abs(trace.watch.watched - 7.5) < 0.15)
        // It would have requested more at eight seconds: it has left between six and eight.
        trace.watch.advance(to: 30)
        #expect(abs(trace.watch.watched - 7.4) < 0.15, "\(trace.watch.watched)")
        trace.ask(at: 31)
        #expect(trace.watch.watched >= 8)
    }

    @Test func punctualSegmentsNeverStall() {
        var trace = WatchTrace()
        for segment in 0..<5 {
            trace.ask(at: Double(segment) * 1.5)
            trace.get(at: Double(segment) * 1.5 + 1)
        }
        trace.watch.advance(to: 60)
        #expect(trace.watch.total == (0, 0))
        #expect(trace.watch.watched == 10)
    }

    @Test func aLateSegmentIsAStallOfTheDifference() {
        var trace = WatchTrace()
        trace.ask(at: 0)
        trace.get(at: 1)  // Plays 0 to 2 from 1 to 3.
        trace.ask(at: 1)
        #expect(trace.total(at: 2.9) == (0, 0))
        #expect(trace.total(at: 4) == (1, 1))
        trace.get(at: 13)
        #expect(trace.watch.total == (1, 10))
        trace.ask(at: 13)
        trace.get(at: 14)
        trace.ask(at: 14)
        trace.get(at: 22)  // Plays 2 to 6 from 13 to 17.
        #expect(trace.watch.total == (2, 15))
        #expect(trace.watch.watched == 6)
    }

    @Test func lessThanHalfASecondIsNoStall() {
        var trace = WatchTrace()
        trace.ask(at: 0)
        trace.get(at: 1)
        trace.ask(at: 1)
        trace.get(at: 3.4)
        #expect(trace.watch.total == (0, 0))
    }

    @Test func aPlayerWithoutARequestDoesNotStall() {
        var trace = WatchTrace()
        trace.ask(at: 0)
        trace.get(at: 1)
        trace.ask(at: 100)
        trace.get(at: 130)
        #expect(trace.watch.total == (0, 0))
        #expect(trace.watch.watched == 2)
    }

    @Test func aFailureStallsAPlayerThatRetries() {
        var trace = WatchTrace()
        trace.ask(at: 0)
        trace.get(at: 1)
        trace.ask(at: 1)
        trace.fail(at: 2)
        #expect(trace.total(at: 10) == (1, 7))
        #expect(trace.total(at: 600) == (1, 2 + PlayWatch.playerTimeout - 3))
        trace.ask(at: 10)
        trace.get(at: 12)
        #expect(trace.watch.total == (1, 9))
    }

    @Test func anAbandonedResponseEndsTheStall() {
        var trace = WatchTrace()
        trace.ask(at: 0)
        trace.get(at: 1)
        trace.ask(at: 1)
        trace.watch.requestsEnded(hasFailed: false, at: 2)
        #expect(trace.total(at: 600) == (0, 0))
    }

    @Test func aSeekEndsAStall() {
        var trace = WatchTrace()
        trace.ask(at: 0)
        trace.get(at: 1)
        trace.seek(to: 100, at: 2)
        trace.get(at: 9)
        #expect(trace.watch.total == (0, 0))
        #expect(trace.watch.watched == 1)
        trace.ask(at: 9)
        trace.seek(to: 50, at: 14)  // Dry since 11.
        trace.get(at: 15)
        #expect(trace.watch.total == (1, 3))
        trace.watch.advance(to: 30)
        #expect(trace.watch.watched == 5)
    }

    // MARK: CMCD

    @Test func aReportedBufferPrecedesTheInferredOne() {
        var trace = WatchTrace()
        trace.ask(at: 0, "su")
        trace.get(at: 1)
        trace.ask(at: 1, "bl=2000")
        trace.get(at: 2)
        // The player began late: it has 4 s left instead of the inferred 3 s.
        trace.ask(at: 2, "bl=4000")
        trace.get(at: 5.9)
        #expect(trace.watch.total == (0, 0))
        #expect(abs(trace.watch.playhead - 3.9) < 1e-9)
    }

    @Test func theReportedBufferConfirmsOrDeniesAStall() {
        var trace = WatchTrace()
        trace.ask(at: 0, "bl=0,su")
        trace.get(at: 1)
        trace.ask(at: 1, "bl=2000")
        trace.get(at: 8)
        #expect(trace.watch.total == (0, 0))
        trace.ask(at: 8, "bl=2000,bs")
        #expect(trace.watch.total == (1, 5))
        trace.get(at: 15)
        trace.ask(at: 15, "bl=2000")
        #expect(trace.watch.total == (1, 5))
        trace.get(at: 15.1)
        trace.ask(at: 15.1, "bl=1000,bs")
        #expect(trace.watch.total.count == 2)
        trace.ask(at: 15.2, "bs")  // A request for audio.
        #expect(trace.watch.total.count == 2)
    }

    @Test func thePlaybackRateChangesTheBuffer() {
        var trace = WatchTrace()
        trace.ask(at: 0)
        trace.get(at: 1)
        trace.ask(at: 1, "pr=0")
        trace.get(at: 50)
        #expect(trace.watch.total == (0, 0))
        trace.ask(at: 50, "pr=2")
        trace.watch.advance(to: 51)
        #expect(abs(trace.watch.playhead - 2) < 1e-9)
        trace.get(at: 60)
        #expect(trace.watch.total == (1, 8))
    }

    @Test func aStarvationReportIsIgnoredWithAFullBuffer() {
        var trace = WatchTrace()
        trace.ask(at: 0, "bs")
        #expect(trace.watch.total == (0, 0))
        for _ in 0..<10 {
            trace.get(at: 0)
        }
        trace.ask(at: 1, "bs")
        #expect(trace.watch.total == (0, 0))
        trace.ask(at: 10, "bs")
        #expect(trace.watch.total == (0, 0))
        trace.ask(at: 19, "bs")
        #expect(trace.watch.total == (1, 0))
    }

    @Test func aSeekWithinTheBufferSkipsWatchedTime() {
        var trace = WatchTrace()
        trace.ask(at: 0, "bl=0")
        for _ in 0..<15 {
            trace.get(at: 0)
        }
        trace.ask(at: 5, "bl=10000")
        #expect(trace.watch.playhead == 20 && trace.watch.watched == 5)
        trace.watch.advance(to: 8)
        #expect(trace.watch.watched == 8)
    }

    @Test func thePlayheadIsOnlyWhereMediaIs() {
        var trace = WatchTrace()
        trace.ask(at: 0, "pr=2")
        #expect(trace.watch.arrival(at: 0.5) == nil)
        trace.get(at: 1)
        #expect(trace.watch.arrival(at: 1) == 1.5 && trace.watch.arrival(at: 2) == 2)
        #expect(trace.watch.arrival(at: 2.1) == nil && trace.watch.arrival(at: 0) == nil)
        trace.ask(at: 1.25, "pr=0")
        #expect(trace.watch.arrival(at: 1) == nil)
    }

    @Test func aWrongBufferReportDoesNotMoveThePlayheadBack() {
        var trace = WatchTrace()
        trace.seek(to: 100, at: 0)
        trace.get(at: 1)
        trace.watch.advance(to: 2)
        trace.ask(at: 2, "bl=86400000")
        #expect(trace.watch.playhead == 100)
        #expect(trace.watch.watched == 1)
        trace.watch.advance(to: 2.5)
        #expect(trace.watch.watched == 1)
    }
}
