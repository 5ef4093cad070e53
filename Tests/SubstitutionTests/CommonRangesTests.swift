import TestSupport
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

    // MARK: Sound that is cut at other times

    /// The segments that a download of a time range stores: all that reach into it.
    private func stored(_ range: Range<Double>, each duration: Double, of count: Int) -> CommonRanges.Track {
        let isPlayable = (0..<count).map { index in
            let start = Double(index) * duration
            return start < range.upperBound && start + duration > range.lowerBound
        }
        return CommonRanges.Track(durations: [Double](repeating: duration, count: count), isPlayable: isPlayable)
    }

    /// A range plays as it was saved, whatever the durations: no cut is in it.
    @Test(arguments: [1.9, 2.5, 3.3, 6, 60], [4.0..<8.0, 0..<8, 6..<30, 22..<60])
    func aSavedRangePlaysAsItWasSaved(_ duration: Double, _ range: Range<Double>) {
        let picture = stored(range, each: 2, of: 30)
        let sound = stored(range, each: duration, of: Int(60 / duration))
        let cut = CommonRanges([picture, sound])
        #expect(cut.kept == [picture.isPlayable, sound.isPlayable])
        #expect(cut.seconds == range.upperBound - range.lowerBound)
    }

    /// After 47 segments the ends differ by more than the tolerance.
    @Test func aSmallDifferenceInEachSegmentCostsNothing() {
        let picture = stored(0..<1794, each: 6, of: 300)
        let sound = stored(0..<1794, each: 5.994667, of: 301)
        let cut = CommonRanges([picture, sound])
        #expect(cut.kept == [picture.isPlayable, sound.isPlayable])
        #expect(cut.seconds == 1794)
    }

    @Test func aHoleAmongThemCostsOneSegment() {
        var isPlayable = [Bool](repeating: true, count: 300)
        isPlayable[150] = false
        let picture = CommonRanges.Track(durations: [Double](repeating: 6, count: 300), isPlayable: isPlayable)
        let sound = stored(0..<1800, each: 5.994667, of: 301)
        let cut = CommonRanges([picture, sound])
        #expect(cut.kept[0] == isPlayable)
        #expect(cut.kept[1].indices.filter { !cut.kept[1][$0] } == [150])
        #expect(cut.seconds == 1794)
    }

    /// The cuts of all renditions last equally long, in sum: otherwise players that count time would lose sync.
    @Test(arguments: [
        ("xxxx.xxxxxxxxxxxxxx", 1.9, "xxxx.xxxxxxxxxxxxxx", "xxxx.xxxxxxxxxxxxxxx"),
        ("xxxx..xxxxx...xxxxx", 1.9, "xxxx..xxxxx...xxxxx", "xxxx..xxxxxx...xxxxx"),
        ("xxxx.xxxxxxxxxxxxxx", 2.5, "xxxx.....xxxxxxxxxx", "xxx....xxxxxxxx"),
        ("xxxx.xxxxxxxxxxxxxx", 3.3, "xxxx.....xxxxxxxxxx", "xx...xxxxxx"),
        ("xxxx.xxxxxxxxxxxxxx", 1, "xxxx.xxxxxxxxxxxxxx", "xxxxxxxx..xxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
    ])
    func aHoleIsCutFromSoundOfOtherDurations(
        _ marks: String, _ duration: Double, _ picture: String, _ sound: String
    ) {
        let count = Int(38 / duration)
        let cut = CommonRanges([
            track(marks, each: 2), track(String(repeating: "x", count: count), each: duration),
        ])
        #expect(text(cut) == [picture, sound])
        let removed = [(cut.kept[0], 2), (cut.kept[1], duration)].map { kept, each in
            Double(kept.filter { !$0 }.count) * each
        }
        #expect(abs(removed[0] - removed[1]) <= 2 * CommonRanges.tolerance)
    }

    /// No cut is equal before the end.
    @Test func theCutThatIsClosestToEqualJoinsWhatNoOtherCan() {
        let short = CommonRanges([track("xxxxx.xxxx", each: 6), track("xxxxxx", each: 10)])
        #expect(text(short) == ["xxxxx..xxx", "xxx.xx"])
        #expect(short.seconds == 48)
        let cut = CommonRanges([track("xxxxx.xxxxxx", each: 6), track("xxxxxxx", each: 10)])
        #expect(text(cut) == ["xxxxx..xxxxx", "xxx.xxx"])
        #expect(cut.seconds == 60)
    }

    /// A stretch in which a rendition has less than half of a segment is not joined: then the longest plays.
    @Test func theLongestStretchPlaysIfNoCutJoinsThem() {
        let cut = CommonRanges([track("x.xxxxxxx", each: 6), track("xxxx", each: 15)])
        #expect(text(cut) == ["..xxxxxxx", "xxxx"])
        #expect(cut.seconds == 42)
    }

    @Test func subtitlesInLongSegmentsReachOverARange() {
        let tracks = [stored(14..<20, each: 2, of: 30), stored(14..<20, each: 1.9, of: 31)]
        let cut = CommonRanges(tracks + [track("x", each: 60)])
        #expect(cut.kept == tracks.map(\.isPlayable) + [[true]])
        #expect(cut.seconds == 6)
    }

    @Test func eachRenditionHasTheSameNumberOfCuts() {
        let cut = CommonRanges([
            track("xx.xxxxx..xxxxxx.xxxx", each: 2), track("xxxxxxxx.xxxxxxxxxxxxx", each: 1.9),
            track("xxxxxxxxxxxxxxxxxxxxx", each: 2.05),
        ])
        let joins = cut.kept.map { kept in zip(kept, kept.dropFirst()).filter { !$0 && $1 }.count }
        #expect(Set(joins).count == 1)
        #expect(cut.seconds > 20)
    }

    /// Whatever is stored: nothing else plays, and all renditions have the same discontinuities.
    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func anyPartIsCutAlike(_ seed: UInt64) {
        var dice = SeededDice(state: seed)
        let tracks = (0...Int.random(in: 0...3, using: &dice)).map { _ in
            let duration = 1 + Double.random(in: 0...6, using: &dice)
            let holes = Int.random(in: 2...13, using: &dice)
            let isPlayable = (0..<Int(120 / duration)).map { _ in Int.random(in: 0..<holes, using: &dice) > 0 }
            return CommonRanges.Track(
                durations: [Double](repeating: duration, count: isPlayable.count), isPlayable: isPlayable)
        }
        let cut = CommonRanges(tracks)
        for (kept, track) in zip(cut.kept, tracks) {
            #expect(zip(kept, track.isPlayable).allSatisfy { !$0 || $1 })
        }
        let runs = cut.kept.map { kept in zip([false] + kept, kept).filter { !$0 && $1 }.count }
        #expect(Set(runs).count == 1)
        #expect((cut.seconds > 0) == (runs[0] > 0))
    }

    /// Each chain reads the rest of the tracks.
    @Test func manyHolesThatNoCutJoinsEndSoon() {
        let picture = String(repeating: "xx.", count: 30_000)
        let cut = CommonRanges([track(picture, each: 2), track(String(repeating: "x", count: 3), each: 60_000)])
        #expect(cut.seconds <= 4)
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
