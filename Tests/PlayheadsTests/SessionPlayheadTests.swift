import Testing

@testable import Playheads

/// Compares measured traces of players with the media that they showed.
struct SessionPlayheadTests {
    private static let start = ContinuousClock.now

    /// A session with the events of a trace; segments of 2 s by default.
    private struct Trace {
        let playhead = SessionPlayhead(at: start)
        var jumps: [Double] = []
        var segment = 2.0

        func span(_ number: Int) -> SegmentSpan {
            SegmentSpan(number: number, start: Double(number) * segment, duration: segment)
        }

        /// Requests a segment of a rendition at a time; it is delivered `takes` seconds later.
        mutating func load(
            _ number: Int, of rendition: String = "video", _ kind: MediaKind = .main, at: Double,
            takes: Double = 0.1
        ) {
            if playhead.requested(span(number), of: rendition, kind, at: start + .seconds(at)) {
                jumps.append(span(number).start)
            }
            playhead.delivered(span(number), kind, at: start + .seconds(at + takes))
        }

        func position(_ at: Double) -> Double { playhead.position(at: start + .seconds(at)) }
        func buffer(_ at: Double) -> Double { playhead.buffer(at: start + .seconds(at)) }
    }

    private func near(_ left: Double, _ right: Double) -> Bool { abs(left - right) < 1e-6 }

    @Test func mpvReadsEverythingAtOnceAndPlaysFromTheBeginning() {
        var trace = Trace()
        for number in 0..<500 {
            trace.load(number, at: Double(number) * 0.01, takes: 0.01)
        }
        #expect(trace.jumps.isEmpty)
        #expect(near(trace.position(100.01), 100))
        #expect(near(trace.buffer(100.01), 900))
        #expect(trace.playhead.requestedEnd == 1000)
        // mpv requests nothing more, and plays on for a quarter of an hour.
        #expect(!trace.playhead.isOver(at: Self.start + .seconds(900)))
        #expect(near(trace.position(2000), 1000))
        #expect(trace.playhead.isOver(at: Self.start + .seconds(2100)))
    }

    @Test(arguments: [MediaKind.main, .audio]) func aLaneThatWasLeftDoesNotProlongTheOpening(played: MediaKind) {
        var trace = Trace()
        let renditions = [("low", MediaKind.main), ("high", .main), ("de", .audio), ("fr", .audio)]
        for (index, (rendition, kind)) in renditions.enumerated() {
            for number in 0...1 {
                trace.load(number, of: rendition, kind, at: Double(index))
            }
        }
        #expect(trace.buffer(3.5) == 0)
        for number in 2...4 {
            trace.load(number, of: played == .main ? "low" : "de", played, at: 4)
        }
        #expect(trace.buffer(4.2) > 0)
    }

    @Test func openingEveryVariantIsNeitherAChoiceNorASeek() {
        var trace = Trace()
        // libavformat over a slow link: each variant's first two segments, then the variant that it plays.
        for (index, variant) in ["low", "mid", "high"].enumerated() {
            for number in 0...1 {
                trace.load(number, of: variant, at: Double(index * 2 + number), takes: 1)
            }
        }
        #expect(trace.jumps.isEmpty)
        #expect(trace.playhead.choice == nil)
        // Playback begins after the last variant was opened, at 4 s.
        #expect(trace.position(6) <= 1)
        // The player cannot play one variant while it opens another.
        #expect(trace.buffer(6) == 0)
        trace.load(2, of: "low", at: 6)
        #expect(trace.buffer(6.1) > 3)
        #expect(trace.playhead.choice == "low")
        #expect(trace.playhead.requestedEnd == 6)
        trace.load(3, of: "low", at: 6.1)
        #expect(trace.jumps.isEmpty)
        #expect(trace.buffer(6.2) > 6)
    }

    @Test func vlcSeeksBackAndRequestsSegmentsAgain() {
        var trace = Trace()
        for number in 0..<18 {
            trace.load(number, at: Double(number) * 0.2)
        }
        for number in 18..<30 {
            trace.load(number, at: 4 + Double(number - 18) * 2)
        }
        #expect(trace.jumps.isEmpty)
        trace.load(5, at: 30)
        #expect(trace.jumps == [10])
        #expect(near(trace.position(30.05), 10))
        #expect(trace.playhead.requestedEnd == 12)
        #expect(near(trace.position(31.1), 11))
    }

    @Test func seekForwardMovesThePlayheadAtOnce() {
        var trace = Trace()
        for number in 0..<6 {
            trace.load(number, at: Double(number))
        }
        _ = trace.playhead.requested(trace.span(200), of: "video", .main, at: Self.start + .seconds(8))
        #expect(near(trace.position(12), 400))
        #expect(near(trace.buffer(12), 0))
        #expect(trace.playhead.requestedEnd == 402)
        trace.playhead.delivered(trace.span(200), .main, at: Self.start + .seconds(13))
        #expect(near(trace.position(14), 401))
    }

    @Test func seekRightAfterOpening() {
        var trace = Trace()
        for variant in ["low", "high"] {
            for number in 0...1 {
                trace.load(number, of: variant, at: 0)
            }
        }
        trace.load(150, of: "high", at: 1)
        #expect(trace.jumps == [300])
        trace.load(151, of: "high", at: 1.2)
        trace.load(152, of: "high", at: 1.4)
        #expect(trace.jumps == [300])
        #expect(trace.playhead.choice == "high")
    }

    @Test func adaptivePlayerClimbsWithoutASeek() {
        var trace = Trace()
        trace.load(0, of: "low", at: 0)
        trace.load(1, of: "mid", at: 0.2)
        for number in 2..<15 {
            trace.load(number, of: "high", at: 0.2 * Double(number))
        }
        // The player replaces a segment with one of better quality, and returns to a quality that it had left.
        trace.load(12, of: "top", at: 4)
        trace.load(13, of: "top", at: 5)
        trace.load(14, of: "mid", at: 8)
        #expect(trace.jumps.isEmpty)
        #expect(trace.playhead.choice == "high")
        #expect(near(trace.position(10.1), 10))
        #expect(near(trace.buffer(10.1), 20))
    }

    @Test func seekIntoAnotherQuality() {
        var trace = Trace()
        for number in 0..<60 {
            trace.load(number, of: "high", at: Double(number) * 2)
        }
        trace.load(20, of: "low", at: 121)
        #expect(trace.jumps == [40])
        #expect(near(trace.position(122.1), 41))
    }

    @Test func returnToTheBeginningInAnotherQualityShowsWithTheThirdSegment() {
        var trace = Trace()
        for number in 0..<60 {
            trace.load(number, of: "high", at: Double(number) * 2)
        }
        for number in 0..<2 {
            trace.load(number, of: "low", at: 121)
        }
        #expect(trace.jumps.isEmpty)
        trace.load(2, of: "low", at: 122)
        #expect(trace.jumps == [4])
    }

    @Test func retriesAndOmissionsAreNotSeeks() {
        var trace = Trace()
        for number in [0, 1, 2, 2, 2, 4, 3, 5, 8, 9] {
            trace.load(number, at: Double(number))
        }
        #expect(trace.jumps.isEmpty)
        trace.load(13, at: 10)
        #expect(trace.jumps == [26])
    }

    @Test func playheadStopsAtTheEndOfTheMediaAndContinuesWithMore() {
        var trace = Trace()
        trace.load(0, at: 0)
        trace.load(1, at: 0.2)
        #expect(near(trace.position(60), 4))
        #expect(near(trace.buffer(60), 0))
        trace.load(2, at: 60)
        #expect(near(trace.position(61.1), 5))
    }

    @Test func separateAudioCountsAndFollowsASeek() {
        var trace = Trace()
        for number in 0..<10 {
            trace.load(number, at: Double(number) * 0.2)
            if number < 8 {
                trace.load(number, of: "audio", .audio, at: Double(number) * 0.2 + 0.1)
            }
        }
        #expect(near(trace.buffer(4.2), 12))
        #expect(trace.playhead.requestedEnd == 16)
        trace.load(100, at: 5)
        trace.load(99, of: "audio", .audio, at: 5.1)
        trace.load(100, of: "audio", .audio, at: 5.2)
        #expect(trace.jumps == [200])
        #expect(trace.playhead.requestedEnd == 202)
        #expect(trace.position(5.3) >= 200)
    }

    @Test func separateAudioLeftForMuxedAudioDoesNotStopTheFront() {
        var trace = Trace()
        for number in 0..<5 {
            trace.load(number, at: Double(number))
            trace.load(number, of: "audio", .audio, at: Double(number))
        }
        for number in 5..<40 {
            trace.load(number, of: "muxed", at: Double(number))
        }
        #expect(trace.playhead.front == 80)
    }

    @Test func idleSessionEndsAfterAMinuteOrTwiceItsBuffer() {
        var trace = Trace()
        for number in 0..<5 {
            trace.load(number, at: Double(number) * 0.2)
        }
        #expect(!trace.playhead.isOver(at: Self.start + .seconds(60)))
        #expect(trace.playhead.isOver(at: Self.start + .seconds(62)))
        for number in 5..<50 {
            trace.load(number, at: Double(number) * 0.2)
        }
        #expect(!trace.playhead.isOver(at: Self.start + .seconds(180)))
        #expect(trace.playhead.isOver(at: Self.start + .seconds(195)))
    }

    @Test func bulkDeliveryCountsAsASequence() {
        var trace = Trace()
        for number in 0..<3 {
            trace.load(number, at: 0)
        }
        trace.playhead.deliveredInBulk(upTo: trace.span(4000), of: "video", .main, at: Self.start + .seconds(1))
        trace.load(4001, at: 1.1)
        #expect(trace.jumps.isEmpty)
        #expect(trace.playhead.requestedEnd == 8004)
        #expect(trace.position(2) < 3)
    }

    // MARK: Read-ahead

    /// A player that keeps 30 s ahead of its playhead, as hls.js does; the film has 200 s.
    private func paced(until count: Int) -> Trace {
        var trace = Trace()
        trace.playhead.end = 200
        for number in 0..<15 {
            trace.load(number, at: Double(number) * 0.1, takes: 0.1)
        }
        for number in 15..<count {
            trace.load(number, at: 2.1 + Double(number - 15) * 2)
        }
        return trace
    }

    @Test func aPlayerThatRequestsNothingMoreStandsStill() {
        let trace = paced(until: 20)
        let last = 2.1 + 4 * 2
        #expect(near(trace.position(last + 0.1), last))
        // The next request is due after 2 s.
        #expect(abs(trace.position(last + 2) - (last + 1.9)) < 0.01)
        #expect(trace.position(last + 60) < last + 3)
    }

    @Test func aSlowDeliveryShowsNoPause() {
        let trace = paced(until: 20)
        let last = 2.1 + 4 * 2
        let at = { Self.start + .seconds($0 as Double) }
        _ = trace.playhead.requested(trace.span(20), of: "video", .main, at: at(last + 2))
        #expect(near(trace.position(last + 8), last + 7.9))
        // Some players request the next segment while one is under way.
        _ = trace.playhead.requested(trace.span(21), of: "video", .main, at: at(last + 8))
        #expect(near(trace.position(last + 10), last + 9.9))
        #expect(trace.jumps.isEmpty)
    }

    @Test func aLateRequestShowsAPause() {
        var trace = paced(until: 20)
        let last = 2.1 + 4 * 2
        // 10 s later than it would be.
        for number in 20..<25 {
            trace.load(number, at: last + 12 + Double(number - 20) * 2)
        }
        #expect(abs(trace.position(last + 20) - (last + 10)) < 1)
        #expect(trace.jumps.isEmpty)
    }

    @Test func frequentRequestsShowAHigherSpeed() {
        var trace = paced(until: 20)
        let last = 2.1 + 4 * 2
        for number in 20..<40 {
            trace.load(number, at: last + Double(number - 19))
        }
        // At double speed from there on.
        #expect(abs(trace.position(last + 20.1) - (last + 40)) < 3)
    }

    @Test func aPlayerThatHasRequestedEverythingPlaysOn() {
        var trace = paced(until: 99)
        trace.load(99, at: 2.1 + 84 * 2)
        #expect(near(trace.position(1000), 200))
    }

    // MARK: Parts of segments

    /// libavformat opens the next segment, and reads the present one only once it has the head of that reply.
    @Test func aSegmentCountsOnceTheReplyWithTheNextHasBegun() {
        let playhead = SessionPlayhead(at: Self.start, PlayerTraits(playsParts: true, resume: 1), end: 200)
        let span = { (number: Int) in SegmentSpan(number: number, start: Double(number) * 2, duration: 2) }
        let at = { (seconds: Double) in Self.start + .seconds(seconds) }
        for number in 0..<4 {
            _ = playhead.requested(span(number), of: "video", .main, at: at(0))
            playhead.delivered(span(number), .main, at: at(0))
        }
        _ = playhead.requested(span(4), of: "video", .main, at: at(1))
        #expect(playhead.front == 8)
        playhead.opened(span(4), isAnswered: false, .main, at: at(2))
        #expect(playhead.front == 6 && near(playhead.position(at: at(9)), 6))
        // The reply with another segment changes nothing.
        playhead.opened(span(3), isAnswered: true, .main, at: at(9))
        #expect(playhead.front == 6)
        playhead.opened(span(4), isAnswered: true, .main, at: at(9))
        #expect(playhead.front == 8 && near(playhead.position(at: at(10)), 7))
        #expect(near(playhead.position(at: at(20)), 8))
    }

    @Test func aPartOfASegmentIsPlayedByPlayersThatCan() {
        for playsParts in [true, false] {
            let playhead = SessionPlayhead(
                at: Self.start, PlayerTraits(playsParts: playsParts, resume: playsParts ? 1 : 0), end: 200)
            let span = { (number: Int) in SegmentSpan(number: number, start: Double(number) * 2, duration: 2) }
            let at = { (seconds: Double) in Self.start + .seconds(seconds) }
            _ = playhead.requested(span(0), of: "video", .main, at: at(0))
            // Playback does not begin with a part.
            playhead.progressed(span(0), share: 0.5, .main, at: at(1))
            #expect(playhead.position(at: at(1.5)) == 0)
            playhead.delivered(span(0), .main, at: at(2))
            _ = playhead.requested(span(1), of: "video", .main, at: at(2))
            playhead.progressed(span(1), share: 0.25, .main, at: at(3.5))
            #expect(near(playhead.position(at: at(6)), playsParts ? 2.5 : 2))
            // It gathers a second before it plays on.
            playhead.progressed(span(1), share: 0.5, .main, at: at(7))
            #expect(near(playhead.position(at: at(8)), playsParts ? 2.5 : 2))
            playhead.progressed(span(1), share: 0.8, .main, at: at(8))
            #expect(near(playhead.position(at: at(8.5)), playsParts ? 3 : 2))
        }
    }
}
