import Testing

@testable import Playback

@Suite("Transfers that may share a link")
struct SegmentContentionTests {
    /// Steps of 250 ms, at rates in bytes per second: of both together, and of the first one while the second pauses, once what is
    /// left of that on the link has come.
    private func steps(
        together: (first: Double, second: Double), alone: Double, leftover: Double = 0, ignoresPause: Bool = false
    ) -> [SegmentContention.Step] {
        var contention = SegmentContention(.init(all: 0, one: 0, time: 0))
        var first = 0.0
        var second = 0.0
        var left = leftover
        var isPaused = false
        var isHeld = true
        var steps: [SegmentContention.Step] = []
        for step in 1...60 {
            first += (isHeld || isPaused && !ignoresPause && left <= 0 ? alone : together.first) / 4
            if isPaused, !ignoresPause {
                left -= together.second / 4
            } else if !isHeld {
                second += together.second / 4
            }
            let next = contention.record(
                .init(all: Int64(first) + Int64(second), one: Int64(second), time: Double(step) / 4))
            steps.append(next)
            switch next {
            case .resume: isHeld = false
            case .pause: isPaused = true
            case .wait: break
            case .shared, .separate, .unknown: return steps
            }
        }
        return steps
    }

    @Test(
        "share it if the others get the part of one that pauses",
        arguments: [
            (40_000.0, 40_000.0, 80_000.0, 0.0, SegmentContention.Step.shared),
            (10_000, 70_000, 75_000, 0, .shared),
            (60_000, 20_000, 80_000, 0, .shared),
            (60_000, 20_000, 60_000, 0, .separate),
            (40_000, 40_000, 40_000, 0, .separate),
            (40_000, 40_000, 50_000, 0, .separate),
            // Bytes on the link at the pause still arrive; only then do the others become faster.
            (40_000, 40_000, 80_000, 90_000, .shared),
            (40_000, 40_000, 40_000, 90_000, .separate),
        ])
    func verdict(
        _ first: Double, _ second: Double, _ alone: Double, _ leftover: Double, _ wanted: SegmentContention.Step
    ) {
        let steps = steps(together: (first, second), alone: alone, leftover: leftover)
        #expect(steps.last == wanted && steps.filter { $0 != .wait } == [.resume, .pause, wanted])
        #expect(steps.count <= 36, "it takes \(steps.count) steps")
    }

    /// Segments of six seconds at the rate that each connection has.
    @Test("are judged before the first one has come", arguments: [45_000.0, 47_500, 50_000, 55_000])
    func time(rate: Double) {
        let steps = steps(together: (rate, rate), alone: rate)
        #expect(steps.last == .separate && steps.count <= 22, "it takes \(steps.count) steps")
    }

    @Test("are not judged if the one does not pause, or is a small part of all")
    func unknown() {
        #expect(
            steps(together: (80_000, 20_000), alone: 100_000).allSatisfy { [.wait, .resume, .unknown].contains($0) })
        #expect(steps(together: (40_000, 40_000), alone: 40_000, ignoresPause: true).last == .unknown)
    }

    @Test("are not measured before both have bytes")
    func silence() {
        #expect(steps(together: (40_000, 0), alone: 40_000).filter { $0 != .wait } == [.resume])
        #expect(steps(together: (0, 40_000), alone: 40_000).filter { $0 != .wait } == [.resume])
    }
}
