import AccessLog
import Assets
import HTTPMessage
import Playheads
import Testing

@testable import Sessions

/// A player of segments of two seconds, as the meter sees it.
struct MeterTrace {
    var meter: SessionMeter
    private var front = 0.0
    private var isRunning = false

    init(isEntered: Bool = true) {
        let event = AccessEvent(session: "aabcde", guid: "G", number: 0, asset: "film", client: "player/1", began: 1000)
        meter = SessionMeter(event, isEntered: isEntered)
        for (name, rate) in [("low", 1_000_000), ("high", 4_000_000)] {
            meter.describe(name) { SessionMeter.Stream(uri: "http://o/\(name).m3u8", bandwidth: rate) }
        }
    }

    static func segment(_ number: Int, of rendition: String) -> PlayedSegment {
        let isAudio = rendition == "sound"
        return PlayedSegment(
            rendition: rendition, isAudio: isAudio, number: number, start: Double(number) * 2, duration: 2)
    }

    /// The current state of the event of the loaded segments.
    mutating func open(at time: Double) -> AccessEvent {
        let all = meter.current(at: time)
        return all[all.count - 1]
    }

    private func reading(_ choice: String?, at time: Double) -> PlayheadReading {
        PlayheadReading(
            position: meter.playhead(at: time).position, front: front, isRunning: isRunning, choice: choice)
    }

    /// The player requests a segment that is not in the store.
    mutating func ask(
        _ number: Int, of rendition: String, at time: Double, from source: PieceSource = .origin, choice: String? = nil,
        isSeek: Bool = false
    ) {
        meter.beginWait(for: number, of: rendition, from: source, at: time)
        let segment = Self.segment(number, of: rendition)
        if isSeek {
            front = segment.start
            isRunning = false
        }
        var reading = reading(choice, at: time)
        if isSeek {
            reading.position = segment.start
        }
        meter.requested(segment, isSeek: isSeek, reading, at: time)
    }

    /// The segment arrives with its bytes.
    mutating func get(
        _ number: Int, of rendition: String, at time: Double, since: Double, arrived: Double? = nil,
        bytes: Int64 = 1000, from source: PieceSource = .origin, choice: String? = nil
    ) {
        meter.replyEnded(
            ReplyRecord(
                since: since, source: source, number: number, rendition: rendition, bytes: bytes,
                fetched: source == .store ? 0 : bytes, arrived: arrived, isComplete: true,
                hasFailed: false),
            at: time)
        deliver(number, of: rendition, at: time, choice: choice)
    }

    /// The origin has sent all of a segment, and the player has not read it.
    mutating func arrive(_ number: Int, of rendition: String, at time: Double, since: Double) {
        var reply = ReplyRecord(since: since, source: .origin, number: number, rendition: rendition)
        reply.arrived = time
        meter.replyArrived(reply, at: time)
    }

    /// The player gets a segment from the store.
    mutating func take(_ number: Int, of rendition: String, at time: Double, bytes: Int64 = 1000) {
        meter.requested(Self.segment(number, of: rendition), isSeek: false, reading(nil, at: time), at: time)
        meter.addStored(bytes)
        deliver(number, of: rendition, at: time)
    }

    private mutating func deliver(_ number: Int, of rendition: String, at time: Double, choice: String? = nil) {
        let segment = Self.segment(number, of: rendition)
        front = max(front, segment.start + 2)
        isRunning = true
        meter.delivered(segment, reading(choice, at: time), at: time)
    }
}

@Suite struct SessionMeterTests {
    @Test func anEventHasTheValuesOfItsSession() {
        var trace = MeterTrace()
        trace.meter.recordServer("192.0.2.1")
        trace.ask(0, of: "low", at: 0.5)
        trace.get(0, of: "low", at: 1.5, since: 0.5, bytes: 125_000)
        trace.ask(1, of: "low", at: 1.5, from: .joined)
        trace.get(1, of: "low", at: 3.5, since: 1.5, bytes: 125_000, from: .joined)
        trace.take(2, of: "low", at: 3.6, bytes: 7000)
        let event = trace.open(at: 5.5)
        #expect(event.requests == 3)
        #expect(event.downloaded == 6)
        #expect(event.watched == 4)
        #expect(event.startup == 1.5)
        #expect((event.bytes.origin, event.bytes.joined, event.bytes.store) == (125_000, 125_000, 7000))
        #expect(event.observed.bitsPerSecond == 2_000_000 / 3.0)
        #expect((event.observed.minimum, event.observed.maximum) == (500_000, 1_000_000))
        #expect(event.observed.deviation == 250_000)
        #expect((event.uri, event.indicated) == ("http://o/low.m3u8", 1_000_000))
        #expect((event.serverAddress, event.serverAddressChanges) == ("192.0.2.1", 0))
        #expect(event.ended == nil && event.number == 0 && event.stalls == 0 && event.overdue == 0)
        #expect(event.inferred == AccessEvent.inferable)
        #expect(trace.meter.history.runs.map(\.source) == [.origin, .joined, .store])
    }

    @Test func countersNeverFallWhileAnEventGoesOn() {
        var trace = MeterTrace()
        var last = trace.open(at: 0)
        var time = 0.0
        for number in 0..<40 {
            trace.ask(number, of: "low", at: time)
            let delay = [0.3, 1.9, 4.5, 0.1, 9][number % 5]
            for step in 1...3 {
                check(trace.open(at: time + delay * Double(step) / 4), &last)
            }
            trace.get(number, of: "low", at: time + delay, since: time, choice: number > 2 ? "low" : nil)
            time += delay
            check(trace.open(at: time), &last)
        }
        // In each round, the third segment comes at least 0.7 s too late, and the fifth 5.1 s.
        #expect(last.stalls == 16 && last.requests == 40)
    }

    /// A player that is paused amid a segment waits for nothing but itself.
    @Test func theTimeOfAPausedPlayerIsNoStallAndNoRate() {
        var trace = MeterTrace()
        trace.ask(0, of: "low", at: 0)
        trace.get(0, of: "low", at: 1, since: 0, bytes: 125_000)
        trace.ask(1, of: "low", at: 1)
        trace.arrive(1, of: "low", at: 2, since: 1)
        let paused = trace.open(at: 30_000)
        #expect(paused.stalls == 0 && paused.stallTime == 0)
        trace.get(1, of: "low", at: 36_000, since: 1, arrived: 2, bytes: 125_000)
        // The next wait is one again.
        trace.ask(2, of: "low", at: 36_001)
        trace.get(2, of: "low", at: 36_002, since: 36_001, bytes: 125_000)
        let event = trace.open(at: 36_002)
        #expect(event.stalls == 0 && event.overdue == 0 && event.requests == 3)
        #expect(event.observed.bitsPerSecond == 1_000_000 && event.observed.deviation == 0)
    }

    private func check(_ event: AccessEvent, _ last: inout AccessEvent) {
        #expect(event.watched >= last.watched && event.stalls >= last.stalls && event.stallTime >= last.stallTime)
        #expect(event.requests >= last.requests && event.bytes.all >= last.bytes.all)
        #expect(event.overdue >= last.overdue && event.downloaded >= last.downloaded)
        last = event
    }

    @Test func aSeekBeginsAnEventWithItsOwnStart() {
        var trace = MeterTrace()
        trace.ask(0, of: "low", at: 0)
        trace.get(0, of: "low", at: 1, since: 0)
        trace.ask(50, of: "low", at: 2, isSeek: true)
        trace.get(50, of: "low", at: 2.5, since: 2)
        let first = trace.meter.takeFinished()
        #expect(first.count == 1 && trace.meter.takeFinished().isEmpty)
        #expect(first[0].watched == 1 && first[0].ended == 1002 && first[0].requests == 1)
        let second = trace.open(at: 3.5)
        #expect((second.number, second.began, second.startOffset) == (1, 1002, 100))
        #expect((second.startup, second.watched, second.requests) == (0.5, 1, 1))
        #expect(second.guid == first[0].guid && trace.meter.switches == 0)
    }

    @Test func aVariantSwitchBeginsAnEventAtTheNewVariantsFirstRequest() {
        var trace = MeterTrace()
        for number in 0..<3 {
            play(number, of: "low", at: Double(number), choice: number == 2 ? "low" : nil, &trace)
        }
        for number in 3..<6 {
            play(number, of: "high", at: Double(number), choice: number == 5 ? "high" : "low", &trace)
        }
        // The first variant is on the screen up to here.
        #expect(trace.meter.current(at: 6.4).map(\.watched) == [5.9, 0])
        #expect(trace.meter.takeFinished().isEmpty)
        let second = trace.open(at: 7)
        let first = trace.meter.takeFinished()
        #expect(first.map(\.uri) == ["http://o/low.m3u8"])
        #expect((first[0].watched, first[0].requests, first[0].ended) == (6, 3, 1006.5))
        #expect((second.uri, second.indicated) == ("http://o/high.m3u8", 4_000_000))
        #expect((second.startOffset, second.watched, second.requests) == (6, 0.5, 3) && second.startup == nil)
        #expect(trace.meter.switches == 1)
        #expect(KPIs(first + [second]).switches == 1)
    }

    private func play(_ number: Int, of rendition: String, at time: Double, choice: String?, _ trace: inout MeterTrace)
    {
        trace.ask(number, of: rendition, at: time, choice: choice)
        trace.get(number, of: rendition, at: time + 0.5, since: time, choice: choice)
    }

    @Test func aSwitchUpAfterTheFirstSegmentIsCounted() {
        var trace = MeterTrace()
        play(0, of: "low", at: 0, choice: nil, &trace)
        for number in 1..<4 {
            play(number, of: "high", at: Double(number), choice: number > 2 ? "high" : nil, &trace)
        }
        #expect(trace.meter.switches == 1)
        #expect(trace.meter.current(at: 3.5).map(\.requests) == [3])
        #expect(trace.meter.takeFinished().map(\.requests) == [1])
    }

    @Test func aSwitchFarAheadEndsTheEventWhenItsMediaHasPlayed() {
        var trace = MeterTrace()
        for number in 0..<10 {
            trace.take(number, of: "low", at: 0, bytes: 1)
        }
        for number in 10..<20 {
            trace.take(number, of: "high", at: 1, bytes: 1)
        }
        #expect(trace.meter.total(at: 15).watched == 15 && trace.meter.total(at: 15).bytes.all == 20)
        #expect(trace.meter.close(at: 100) == 40)
        let events = trace.meter.takeFinished()
        #expect(events.map(\.watched) == [20, 20] && events.map(\.ended) == [1020, 1040])
        #expect(events.map(\.bytes.store) == [10, 10])
        #expect(KPIs(events).indicated == 2_500_000)
    }

    @Test func aSeekEndsEventsThatWereNeverShown() {
        var trace = MeterTrace()
        for number in 0..<3 {
            trace.take(number, of: "low", at: 0)
        }
        for number in 3..<6 {
            trace.take(number, of: "high", at: 1)
        }
        trace.ask(50, of: "high", at: 2, isSeek: true)
        let events = trace.meter.takeFinished()
        #expect(events.map(\.watched) == [2, 0] && events.map(\.ended) == [1002, 1002])
        #expect(trace.open(at: 3).number == 2)
    }

    /// libavformat reads the first segments of all variants in turn.
    @Test func probingAllVariantsIsNoSwitch() {
        var trace = MeterTrace()
        for number in 0..<4 {
            for rendition in ["low", "high"] {
                play(number, of: rendition, at: Double(number), choice: number > 1 ? rendition : nil, &trace)
            }
        }
        #expect(trace.meter.takeFinished().isEmpty)
        for number in 4..<6 {
            play(number, of: "high", at: Double(number), choice: "high", &trace)
        }
        #expect(trace.meter.takeFinished().isEmpty)
        #expect(trace.open(at: 6).uri == "http://o/high.m3u8")
        #expect(trace.meter.switches == 0)
    }

    @Test func separateAudioIsCountedWithoutASwitch() {
        var trace = MeterTrace()
        trace.ask(0, of: "sound", at: 0, choice: "sound")
        trace.get(0, of: "sound", at: 0.1, since: 0, bytes: 10)
        play(0, of: "low", at: 0.1, choice: "sound", &trace)
        let event = trace.open(at: 1)
        #expect(event.requests == 2 && event.bytes.origin == 1010 && event.downloaded == 2)
        #expect(event.uri == "http://o/low.m3u8" && trace.meter.switches == 0)
    }

    /// A player does not stall for missing subtitles.
    @Test func subtitlesAreCountedWithoutAStall() {
        var trace = MeterTrace()
        trace.ask(0, of: "low", at: 0)
        trace.get(0, of: "low", at: 1, since: 0)
        var reply = ReplyRecord(since: 1, source: .joined, bytes: 5, fetched: 5, isComplete: true, hasFailed: false)
        reply.isAwaited = false
        trace.meter.replyEnded(reply, at: 90)
        trace.ask(1, of: "low", at: 90)
        let event = trace.open(at: 100)
        #expect(event.stalls == 0 && event.bytes.joined == 5)
        trace.ask(50, of: "low", at: 101, isSeek: true)
        let total = trace.meter.total(at: 101)
        #expect((total.watched, total.startup, total.bytes.all) == (2, 1, 1005))
    }

    @Test func aSegmentThatTakesLongerThanItLastsIsOverdue() {
        var trace = MeterTrace()
        trace.ask(0, of: "low", at: 0)
        trace.get(0, of: "low", at: 2.1, since: 0)
        trace.ask(1, of: "low", at: 2.1)
        trace.get(1, of: "low", at: 4, since: 2.1)
        #expect(trace.open(at: 4).overdue == 1)
    }

    @Test func aSessionWithoutItsEntryHasNoStartup() {
        var trace = MeterTrace(isEntered: false)
        trace.ask(0, of: "low", at: 0)
        trace.get(0, of: "low", at: 1, since: 0)
        #expect(trace.open(at: 1).startup == nil)
    }

    @Test func reportedValuesAreNotInferred() {
        var trace = MeterTrace()
        trace.meter.apply(CMCD("su,bl=0".utf8), at: 0)
        trace.ask(0, of: "low", at: 0)
        trace.get(0, of: "low", at: 1, since: 0)
        trace.meter.apply(CMCD("su,bl=1000".utf8), at: 1)
        trace.ask(1, of: "low", at: 1)
        trace.get(1, of: "low", at: 3, since: 1)
        #expect(trace.open(at: 3).startup == 3)
        trace.meter.apply(CMCD("bl=4000".utf8), at: 3.5)
        trace.ask(2, of: "low", at: 3.5)
        trace.get(2, of: "low", at: 4, since: 3.5)
        let event = trace.open(at: 4)
        #expect(event.startup == 3)
        #expect(event.inferred == ["stallTime", "startOffset", "uri"])
    }

    @Test func aSessionEndsWhenItsPlayheadRanDry() {
        var trace = MeterTrace()
        trace.ask(0, of: "low", at: 0)
        trace.get(0, of: "low", at: 1, since: 0)
        #expect(trace.meter.close(at: 100) == 3)
        let event = trace.meter.takeFinished()[0]
        #expect((event.ended, event.watched, event.stalls) == (1003, 2, 0))
    }

    @Test func aBurstIsCountedByItsLastSegment() {
        var trace = MeterTrace()
        trace.take(0, of: "low", at: 0)
        let reading = PlayheadReading(position: 0, front: 20, isRunning: true, choice: "low")
        trace.meter.deliveredInBulk(upTo: MeterTrace.segment(9, of: "low"), reading, at: 0.1)
        let event = trace.open(at: 30)
        #expect((event.requests, event.downloaded, event.watched) == (10, 20, 20))
        #expect(trace.meter.history.runs == [PieceRun(rendition: "low", first: 0, last: 9, source: .store)])
    }
    /// Another rendition's media sequence numbers may be anywhere in the range of integers.
    @Test(arguments: [1_000_000_000_000, Int.max / 4, Int.max / 2])
    func aBurstAcrossAJumpOfNumbersIsOneSegment(number: Int) {
        var trace = MeterTrace()
        trace.take(0, of: "low", at: 0)
        let reading = PlayheadReading(position: 0, front: 20, isRunning: true, choice: "low")
        for (number, time) in [(number, 0.1), (0, 0.2), (number, 0.3), (1, 0.4), (number, 0.5)] {
            trace.meter.deliveredInBulk(upTo: MeterTrace.segment(number, of: "low"), reading, at: time)
        }
        #expect(trace.open(at: 30).requests == 6)
    }
}
