import Testing

@testable import Downloads

struct DownloadRoundTests {
    /// A track with segments of one second.
    private static func track(_ selection: Int, _ seconds: [Int], keys: Int = 0) -> Plan.Track {
        var track = Plan.Track(selection: selection)
        track.preliminaries = (0..<keys).map { Plan.Hole(.preliminary($0), time: 0..<0) }
        track.segments = seconds.map { Plan.Hole(.segment($0), time: Double($0)..<Double($0 + 1)) }
        return track
    }

    private func items(_ batch: Plan.Batch?) -> [Plan.Hole.Item]? { batch?.holes.map(\.item) }

    @Test func oneSelectionFollowsTheOther() {
        var round = DownloadRound()
        round.begin([Self.track(0, [0, 1]), Self.track(1, [0])])
        #expect(items(round.next(isIdle: true)) == [.segment(0)])
        #expect(items(round.next(isIdle: false)) == [.segment(1)])
        // The last one of the first selection is on its way.
        #expect(round.next(isIdle: false) == nil)
        #expect(round.next(isIdle: true)?.selection == 1)
        #expect(round.next(isIdle: true) == nil)
    }

    @Test func aSelectionIsOpenWhileATrackOfItLacksSomething() {
        var round = DownloadRound()
        round.begin([Self.track(0, [0], keys: 1), Self.track(0, [0]), Self.track(1, [])])
        #expect(round.openSelections == [0])
        let steps = [0, 0, 1].map { track in
            let isTrackComplete = round.recordFilled(in: track)
            return "\(isTrackComplete) \(round.openSelections)"
        }
        #expect(steps == ["false [0]", "true [0]", "true []"])
    }

    @Test(
        "rounds end: each has fewer holes",
        arguments: [([0, 1], true), ([0, 1, 2], false), ([3, 4, 5], false), ([], true)])
    func rounds(left: [Int], isShorter: Bool) {
        var round = DownloadRound()
        let isFirst = round.begin([Self.track(0, [0, 1, 2])])
        #expect(isFirst)
        #expect(round.begin([Self.track(0, left)]) == isShorter)
    }

    @Test func thePlayheadStaysWithTheNextRound() {
        var round = DownloadRound(at: 1)
        round.begin([Self.track(0, [0, 1, 2])])
        #expect(items(round.next(isIdle: true)) == [.segment(1)])
        round.move(to: 2)
        #expect(items(round.next(isIdle: true)) == [.segment(2)])
        round.begin([Self.track(0, [0, 1, 2])])
        #expect(items(round.next(isIdle: true)) == [.segment(2)])
    }
}
