import Testing

@testable import Substitution

/// Stored segments are written `x`, missing ones `.`.
@Suite struct CommonRangesTests {
    private func track(_ marks: String, _ durations: [Double]) -> CommonRanges.Track {
        CommonRanges.Track(durations: durations, isPlayable: marks.map { $0 == "x" })
    }

    private func track(_ marks: String, each duration: Double) -> CommonRanges.Track {
        track(marks, [Double](repeating: duration, count: marks.count))
    }

    private func text(_ cut: CommonRanges) -> [String] {
        cut.kept.map { String($0.map { $0 ? "x" : "." }) }
    }

    @Test func oneRenditionKeepsItsStoredSegments() {
        let cut = CommonRanges([track("x..xx.", each: 2)])
        #expect(text(cut) == ["x..xx."])
        #expect(cut.seconds == 6)
    }

    @Test func aHoleInOneRenditionIsCutFromTheOther() {
        let cut = CommonRanges([track("xx.xx", each: 6), track("x.xxx", each: 6)])
        #expect(text(cut) == ["x..xx", "x..xx"])
        #expect(cut.seconds == 18)
    }

    @Test func shorterSegmentsAreGrouped() {
        let cut = CommonRanges([track("xxxx.xxx", each: 1), track("xxxx", each: 2)])
        #expect(text(cut) == ["xxxx..xx", "xx.x"])
        #expect(cut.seconds == 6)
        #expect(text(CommonRanges([track("xxxx.xxx", each: 1), track(".xxx", each: 2)])) == ["..xx..xx", ".x.x"])
    }

    @Test func endsWithinAnAudioFrameAreEqual() {
        let sound = track(".xxx..x", [2.005, 2.005, 2.005, 1.984, 2.005, 2.005, 0.021])
        let cut = CommonRanges([track("....xxxx....", each: 1), sound])
        #expect(text(cut) == ["....xxxx....", "..xx..."])
        #expect(cut.seconds == 4)
    }

    @Test func cutsAreAtCommonBoundaries() {
        let cut = CommonRanges([track("xxxxx.xxxx", each: 6), track("xxxxxx", each: 10)])
        #expect(text(cut) == ["xxxxx.....", "xxx..."])
        #expect(cut.seconds == 30)
    }

    @Test func aLongerRenditionKeepsItsEnd() {
        #expect(text(CommonRanges([track("xx", each: 2), track("xxxx", each: 2)])) == ["xx", "xxxx"])
        #expect(text(CommonRanges([track("xx", each: 2), track("xx.x", each: 2)])) == ["xx", "xx.."])
        #expect(text(CommonRanges([track("x.", each: 2), track("xxxx", each: 2)])) == ["x.", "x..."])
        #expect(CommonRanges([track("xx", each: 2), track("xxxx", each: 2)]).seconds == 4)
    }

    @Test func emptyInputGivesEmptyOutput() {
        #expect(CommonRanges([]).seconds == 0)
        #expect(text(CommonRanges([track("", each: 1), track("xxx", each: 1)])) == ["", "..."])
        #expect(CommonRanges([track("..", each: 1)]).seconds == 0)
    }

    @Test func terminatesForSegmentsWithoutDuration() {
        let cut = CommonRanges([track("xxxx", [0, 2, 0, 2]), track("xx.", [2, 2, 0])])
        #expect(cut.kept.map(\.count) == [4, 3])
        #expect(cut.seconds <= 4)
    }
}
