import Foundation
import TestSupport
import Testing

@testable import Downloads

/// Simulated links on a manual clock.
@Suite struct ParallelRequestsTests {
    struct Link: Sendable {
        /// Bytes per second of all connections together.
        var capacity: Double
        /// Bytes per second of one connection.
        var perConnection = Double.infinity
        /// Seconds.
        var roundTrip: Double
        /// Bytes of a piece.
        var piece = 700_000.0
        /// The share of the packets that are lost.
        var loss = 0.0
        /// Seconds without a byte, every ten seconds.
        var pause = 0.0
    }

    /// Transfers over a link in steps of 10 ms, with the width that the rule chooses.
    private struct Simulation {
        private struct Transfer {
            var left: Double
            var asked: Double
            /// No byte arrives before it.
            var begins: Double
            var bytes: Double
            /// Bytes that arrive before the next pause.
            var burst: Double
            /// The end of that pause.
            var resumes = 0.0
        }

        let link: Link
        let most = 6
        let start = ContinuousClock.now
        var rule: ParallelRequests
        var time = 0.0
        var pieces = 0
        private var received = 0.0
        private var transfers: [Transfer] = []
        /// The rests of stopped transfers.
        private var rests: [Double] = []
        private var latest: ParallelRequests.Request?
        /// Time of the first piece.
        private(set) var first: Double?
        private(set) var widest = 1
        /// The sum of the width over all steps.
        private var widths = 0
        var meanWidth: Double { Double(widths) / (time * 100) }
        private var dice: SeededDice
        /// Bytes of ten packets.
        private static let burst = 14_600.0

        init(_ link: Link, seed: UInt64 = 1) {
            self.link = link
            dice = SeededDice(state: seed)
            rule = ParallelRequests(at: start)
        }

        mutating func run(for seconds: Double) {
            for _ in 0..<Int(seconds * 100) {
                step()
            }
        }

        private mutating func step() {
            while transfers.count < rule.width {
                // A new connection has a handshake; another request on it has a round trip.
                let wait = (transfers.count > pieces ? 2 * link.roundTrip : link.roundTrip) + timeout(packets: 1)
                let left = rests.popLast() ?? link.piece
                let burst = link.loss > 0 ? Self.burst : .infinity
                transfers.append(
                    Transfer(left: left, asked: time, begins: time + wait, bytes: left, burst: burst))
            }
            time += 0.01
            widths += rule.width
            let active = transfers.indices.filter { max(transfers[$0].begins, transfers[$0].resumes) <= time }
            let capacity = time.truncatingRemainder(dividingBy: 10) < link.pause ? 0 : link.capacity
            let share = min(link.perConnection, capacity / Double(max(1, active.count))) * 0.01
            for place in active {
                received += min(share, transfers[place].left)
                transfers[place].left -= share
                transfers[place].burst -= share
                guard transfers[place].burst <= 0 else { continue }
                transfers[place].burst = Self.burst
                transfers[place].resumes = time + link.roundTrip + timeout(packets: 10)
            }
            let ended = transfers.count { $0.left <= 0 }
            if let last = transfers.last(where: { $0.left <= 0 }) {
                latest = .init(
                    wait: .seconds(last.begins - last.asked), body: .seconds(time - last.begins),
                    bytes: Int64(last.bytes))
            }
            transfers.removeAll { $0.left <= 0 }
            pieces += ended
            if ended > 0, first == nil {
                first = time
            }
            if ended > 0 || Int((time * 100).rounded()) % 50 == 0 {
                record()
            }
        }

        /// Seconds until what was lost of so many packets is sent again.
        private mutating func timeout(packets: Double) -> Double {
            guard link.loss > 0 else { return 0 }
            return Double.random(in: 0..<1, using: &dice) < 1 - pow(1 - link.loss, packets) ? 3 * link.roundTrip : 0
        }

        private mutating func record() {
            let count = ParallelRequests.Count(
                bytes: Int64(received), pieces: pieces, at: start + .seconds(time), request: latest)
            latest = nil
            if rule.record(count, most: most) {
                rests += transfers.dropFirst(rule.width).map(\.left)
                transfers = Array(transfers.prefix(rule.width))
            }
            widest = max(widest, rule.width)
        }
    }

    @Test(arguments: [
        // 3G, EDGE, a very bad network, DSL.
        Link(capacity: 94_000, roundTrip: 0.2),
        Link(capacity: 28_000, roundTrip: 0.8, piece: 300_000),
        Link(capacity: 120_000, roundTrip: 1),
        Link(capacity: 240_000, roundTrip: 0.01),
    ])
    func aThinLinkHasOneTransfer(link: Link) throws {
        var simulation = Simulation(link)
        simulation.run(for: 180)
        let alone = link.piece / link.capacity + 2 * link.roundTrip
        let first = try #require(simulation.first)
        #expect(first < alone * 1.05 + 1.3, "\(first) s, alone \(alone) s")
        #expect(simulation.widest == 2)
        // Attempts cost nothing.
        let possible = 180 * link.capacity / link.piece
        #expect(Double(simulation.pieces) > 0.85 * possible - 1, "\(simulation.pieces) of \(possible)")
    }

    /// Links with the seconds after which all transfers are used.
    nonisolated static let wide: [(link: Link, seconds: Double)] = [
        // An origin that limits each connection.
        (Link(capacity: 1_000_000, perConnection: 10_000, roundTrip: 0.02), 10),
        // Small pieces from far away, and from very far.
        (Link(capacity: 10_000_000, roundTrip: 0.1, piece: 20_000), 0.4),
        (Link(capacity: 10_000_000, roundTrip: 0.5, piece: 20_000), 1.7),
        // From far away, where the bodies come slowly too.
        (Link(capacity: 10_000_000, perConnection: 200_000, roundTrip: 0.1, piece: 20_000), 2),
        (Link(capacity: 10_000_000, perConnection: 200_000, roundTrip: 0.5, piece: 20_000), 10),
        // LTE, Wi-Fi, and this machine.
        (Link(capacity: 6_000_000, roundTrip: 0.13), 1),
        (Link(capacity: 5_000_000, roundTrip: 0.002), 1),
        (Link(capacity: 500_000_000, roundTrip: 0.0001, piece: 20_000), 0.1),
    ]

    @Test(arguments: ParallelRequestsTests.wide)
    func moreTransfersAreUsedWhereTheyBringMore(link: Link, seconds: Double) {
        var simulation = Simulation(link)
        simulation.run(for: seconds)
        #expect(simulation.rule.width == 6)
        simulation.run(for: 30)
        #expect(simulation.rule.width == 6)
    }

    /// LTE: each round trip brings twice the bytes of the one before, up to what a window holds. The mean since the start is below
    /// what is called fast until the first segment is here.
    @Test(arguments: 0..<10) func aFastLinkIsFoundWhileTheFirstConnectionBecomesFaster(phase: Int) throws {
        let start = ContinuousClock.now
        let roundTrip = 0.115
        let window = 188_000.0
        func bytes(after seconds: Double) -> Int64 {
            let trips = max(0, seconds) / roundTrip
            let whole = (0..<Int(trips)).reduce(0) { $0 + min(window, 14_600 * pow(2, Double($1))) }
            return Int64(whole + (trips - trips.rounded(.down)) * min(window, 14_600 * pow(2, trips.rounded(.down))))
        }
        var rule = ParallelRequests(at: start)
        var wide: Double?
        for tick in 0..<4 where wide == nil {
            let seconds = 0.05 * Double(phase) + 0.5 * Double(tick)
            let count = ParallelRequests.Count(bytes: bytes(after: seconds), pieces: 0, at: start + .seconds(seconds))
            let isTooWide = rule.record(count, most: 6)
            #expect(!isTooWide)
            if rule.width == 6 {
                wide = seconds
            }
        }
        #expect(try #require(wide) <= 1.2)
    }

    /// The bytes of a second depend on chance there, while each request waits for what was lost. With attempts that end by the rate
    /// of one second there were 1151, 365 and 213 pieces.
    @Test(arguments: [(12_000.0, 1700), (20_000, 450), (45_000, 250)])
    func moreTransfersAreUsedWherePacketsAreLost(piece: Double, least: Int) {
        let pieces = (1...20 as ClosedRange<UInt64>).map { seed in
            var simulation = Simulation(Link(capacity: 125_000, roundTrip: 1, piece: piece, loss: 0.1), seed: seed)
            simulation.run(for: 30)
            return simulation.pieces
        }
        #expect(pieces.reduce(0, +) >= least, "\(pieces)")
    }

    @Test(arguments: [1, 1.5, 2]) func aLinkThatPausesNowAndThenHasOneTransfer(seconds: Double) {
        var simulation = Simulation(Link(capacity: 94_000, roundTrip: 0.2, pause: seconds))
        simulation.run(for: 180)
        #expect(simulation.meanWidth < 1.3 && simulation.rule.width <= 2)
    }

    /// A link that carries a segment in about a round trip is not far, and has no more than the two transfers that fill it.
    @Test(arguments: [
        Link(capacity: 400_000, roundTrip: 0.1, piece: 100_000), Link(capacity: 400_000, roundTrip: 0.02),
        Link(capacity: 700_000, roundTrip: 0.1, piece: 100_000),
        Link(capacity: 700_000, roundTrip: 0.02, piece: 30_000),
    ])
    func aLinkOfMiddleRateIsNotFar(link: Link) {
        var simulation = Simulation(link)
        simulation.run(for: 60)
        #expect(simulation.widest <= 4 && simulation.rule.width <= 4)
        simulation.run(for: 6)
        #expect(simulation.rule.width <= 2)
    }

    /// A lost packet holds back those behind it, and all come at once.
    @Test func aBurstOnAThinLinkIsOnlyAnAttempt() {
        let start = ContinuousClock.now
        var rule = ParallelRequests(at: start)
        let burst = ParallelRequests.Request(wait: .milliseconds(400), body: .milliseconds(20), bytes: 20_000)
        var isTooWide = rule.record(.init(bytes: 20_000, pieces: 1, at: start + .seconds(0.5), request: burst), most: 6)
        #expect(rule.width == 1 && !isTooWide)
        isTooWide = rule.record(.init(bytes: 40_000, pieces: 2, at: start + .seconds(1), request: burst), most: 6)
        #expect(rule.width == 6 && !isTooWide)
        var end: Double?
        for tick in 1...10 where end == nil {
            let time = 1 + 0.5 * Double(tick)
            let bytes = 40_000 + Int64(40_000 * 0.5 * Double(tick))
            if rule.record(.init(bytes: bytes, pieces: 2 + tick / 4, at: start + .seconds(time)), most: 6) {
                end = time
            }
        }
        #expect(end.map { $0 <= 3 } ?? false && rule.width == 1)
    }

    @Test func aFarRequestMostlyWaitsAndThenComesFast() {
        #expect(!ParallelRequests.Request(wait: .seconds(1), body: .zero, bytes: 1400).isFar)
        #expect(!ParallelRequests.Request(wait: .seconds(1), body: .seconds(1), bytes: 200_000).isFar)
        #expect(!ParallelRequests.Request(wait: .milliseconds(100), body: .milliseconds(200), bytes: 1_000_000).isFar)
        #expect(ParallelRequests.Request(wait: .milliseconds(50), body: .milliseconds(2), bytes: 20_000).isFar)
    }

    @Test func aSilentOriginIsAskedForMore() {
        var simulation = Simulation(Link(capacity: 0, perConnection: 0, roundTrip: 0))
        simulation.run(for: 4)
        #expect((2...4).contains(simulation.rule.width))
        simulation.run(for: 8)
        #expect(simulation.rule.width == 6)
    }

    @Test func aLinkThatBecomesThinHasOneTransferAgain() {
        let start = ContinuousClock.now
        var rule = ParallelRequests(at: start)
        var bytes: Int64 = 0
        var isTooWide: Bool = false
        for tick in 1...20 {
            bytes += 2_500_000
            let now = start + .seconds(0.5 * Double(tick))
            isTooWide = rule.record(.init(bytes: bytes, pieces: tick, at: now), most: 6)
        }
        #expect(rule.width == 6 && !isTooWide)
        var widths: [Int] = []
        for tick in 21...60 {
            bytes += 45_000
            _ = rule.record(.init(bytes: bytes, pieces: 20, at: start + .seconds(0.5 * Double(tick))), most: 6)
            widths.append(rule.width)
        }
        #expect(widths.suffix(30).allSatisfy { $0 <= 2 } && widths.last == 1, "\(widths)")
    }

    @Test func timeBesidePlayersIsNotMeasured() {
        let start = ContinuousClock.now
        var rule = ParallelRequests(at: start)
        for tick in 1...100 {
            rule.skip(.init(bytes: 0, pieces: 0, at: start + .seconds(tick)))
        }
        let isTooWide = rule.record(.init(bytes: 0, pieces: 0, at: start + .seconds(100.5)), most: 6)
        #expect(rule.width == 1 && !isTooWide)
    }
}
