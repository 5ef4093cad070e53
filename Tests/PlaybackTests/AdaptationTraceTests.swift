import Testing

/// Compares Weir's rule on known links with the rule of hls.js, and with the best possible choice.
@Suite struct AdaptationTraceTests {
    private static let film = TracedFilm(duration: 4, sizes: [60_000, 150_000, 400_000, 1_200_000], count: 60)
    /// Bytes per second: 400, 800, 1,600 and 3,200 kb/s.
    private static let ladder: [Int64] = [50_000, 100_000, 200_000, 400_000]
    private static let wifi = (rate: 5_000_000.0, roundTrip: 0.002)
    private static let mobile = (rate: 97_500.0, roundTrip: 0.2)

    /// Wi-Fi that drops to 3G at once, and comes back, with the rates of `tools/link`.
    private static func falling(at fall: Double, until end: Double) -> LinkTrace {
        LinkTrace(
            "Wi-Fi, 3G from \(fall) to \(end) s",
            [
                .init(until: fall, rate: wifi.rate, roundTrip: wifi.roundTrip),
                .init(until: end, rate: mobile.rate, roundTrip: mobile.roundTrip),
                .init(until: .infinity, rate: wifi.rate, roundTrip: wifi.roundTrip),
            ])
    }

    private static let traces = [
        LinkTrace(
            "Wi-Fi, 3G, Wi-Fi",
            [.init(until: 40, rate: 5_000_000), .init(until: 120, rate: 97_500), .init(until: 400, rate: 5_000_000)]),
        LinkTrace("3G", [.init(until: 999, rate: 97_500)]),
        LinkTrace(
            "falls in steps",
            [
                .init(until: 30, rate: 900_000), .init(until: 60, rate: 450_000), .init(until: 90, rate: 200_000),
                .init(until: 999, rate: 60_000),
            ]),
        LinkTrace(
            "saw", (1...40).map { .init(until: Double($0) * 8, rate: $0.isMultiple(of: 2) ? 600_000 : 120_000) }),
        LinkTrace("DSL", [.init(until: 999, rate: 250_000)]),
    ]

    private func own(_ film: TracedFilm, _ trace: LinkTrace, ahead: Double, playerTimeout: Double = 8) -> TracedPlayback
    {
        var rule = OwnTracedRule(for: film, playerTimeout: playerTimeout)
        return TracedPlayback(of: film, over: trace, ahead: ahead, by: &rule)
    }

    private func reference(_ film: TracedFilm, _ trace: LinkTrace, ahead: Double) -> TracedPlayback {
        var rule = HLSJSTracedRule(for: film)
        return TracedPlayback(of: film, over: trace, ahead: ahead, by: &rule)
    }

    @Test(arguments: traces)
    func stallsNoMoreThanTheRuleOfHLSJS(_ trace: LinkTrace) {
        for ahead in [8, 12, 30, 120, 1_000.0] {
            let own = own(Self.film, trace, ahead: ahead)
            let other = reference(Self.film, trace, ahead: ahead)
            #expect(own.stalls <= other.stalls, "\(own) \(other)")
            #expect(own.stalled <= other.stalled, "\(own) \(other)")
        }
    }

    /// The estimate of a fast link must fall quickly: with six seconds ahead, a second late segment stalls.
    @Test(arguments: [2, 4, 6.0], [6, 10, 20, 30.0])
    func aFallingLinkCausesNoStall(_ duration: Double, _ ahead: Double) {
        guard ahead >= 2 * duration else { return }
        for (fall, end) in [(3.0, 14.0), (7, 20), (15, 60), (20, 70)] {
            let film = TracedFilm(
                duration: duration, sizes: Self.ladder.map { $0 * Int64(duration) }, count: Int(120 / duration))
            let own = own(film, Self.falling(at: fall, until: end), ahead: ahead)
            #expect(own.stalls == 0 && own.givenUp <= 2, "\(fall) to \(end) s: \(own)")
        }
    }

    /// Segments of 6 s, one of which may take longer on 3G than most players wait.
    @Test func aPatientPlayerGetsMoreBytes() throws {
        let film = TracedFilm(duration: 6, sizes: [180_000, 360_000, 750_000, 1_500_000], count: 20)
        let trace = Self.falling(at: 15, until: 75)
        let hasty = own(film, trace, ahead: 60)
        let patient = own(film, trace, ahead: 60, playerTimeout: 20)
        #expect(hasty.stalls == 0 && patient.stalls == 0)
        #expect(patient.bytes(of: film) > 1.2 * hasty.bytes(of: film), "\(hasty) \(patient)")
        let most = try #require(TracedPlayback.most(of: film, over: trace, ahead: 60))
        #expect(patient.bytes(of: film) > 0.85 * most, "\(patient) of \(most)")
    }

    /// The limit is the number of bytes that the link carries while the media plays, up to the best quality. The player
    /// waits without a timeout and reads far ahead.
    @Test(arguments: traces)
    func usesMostOfTheLink(_ trace: LinkTrace) {
        let own = own(Self.film, trace, ahead: 120, playerTimeout: .infinity)
        let allowed = min(trace.bytes(until: 240), Double(Self.film.sizes[3]) * 60)
        #expect(own.bytes(of: Self.film) > 0.85 * allowed, "\(own) of \(allowed)")
    }

    /// The best possible choice knows in advance how the link will fall.
    @Test(arguments: [15, 20.0], [20, 30.0])
    func comesCloseToTheBestPossibleChoice(_ fall: Double, _ ahead: Double) throws {
        for ladder: [Int64] in [[60_000, 120_000, 250_000, 500_000], [75_000, 150_000, 300_000, 600_000]] {
            let film = TracedFilm(duration: 2, sizes: ladder, count: 60)
            let trace = Self.falling(at: fall, until: fall + 60)
            let most = try #require(TracedPlayback.most(of: film, over: trace, ahead: ahead))
            let own = own(film, trace, ahead: ahead)
            let other = reference(film, trace, ahead: ahead)
            #expect(own.stalls == 0 && own.bytes(of: film) > 0.85 * most, "\(own) of \(most)")
            #expect(own.bytes(of: film) > other.bytes(of: film), "\(own) \(other)")
        }
    }

    @Test func computesTraces() throws {
        let trace = LinkTrace(
            "", [.init(until: 10, rate: 100, roundTrip: 1), .init(until: 20, rate: 10, roundTrip: 2)])
        #expect(trace.end(of: 100, askedAt: 0) == 2)
        #expect(trace.end(of: 300, askedAt: 8) == 30)
        #expect(trace.bytes(until: 12) == 1020)
        #expect(trace.bytes(from: 11, until: 12) == 10)
        // A segment of 100 bytes takes 1 s of latency and 1 s of transfer, which is its duration.
        let film = TracedFilm(duration: 2, sizes: [50, 100], count: 4)
        #expect(TracedPlayback.most(of: film, over: trace, ahead: 10) == 400)
        #expect(TracedPlayback.most(of: film, over: LinkTrace("", [.init(until: 1, rate: 1)]), ahead: 10) == nil)
    }
}
