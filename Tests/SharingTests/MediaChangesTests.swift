import Testing

@testable import Sharing

@Suite struct MediaChangesTests {
    private typealias Segment = MediaChanges.Segment

    private func fragment(_ section: Int, isGap: Bool = false, isDiscontinuity: Bool = false) -> Segment {
        Segment(section: section, ending: "mp4", isDiscontinuity: isDiscontinuity, isGap: isGap, duration: 2)
    }

    private func transport(isDiscontinuity: Bool = false) -> Segment {
        Segment(ending: "ts", isDiscontinuity: isDiscontinuity, duration: 2)
    }

    @Test func aDecoderMayChangeWithTheSectionTheContainerAndWithoutSectionsAtADiscontinuity() {
        let cases: [(segments: [Segment], runs: [Range<Int>])] = [
            ([], []),
            ([fragment(0), fragment(0)], [0..<2]),
            // Times alone begin anew.
            ([fragment(0), fragment(0, isDiscontinuity: true)], [0..<2]),
            ([fragment(0), fragment(1), fragment(0)], [0..<1, 1..<2, 2..<3]),
            ([transport(), transport(isDiscontinuity: true)], [0..<1, 1..<2]),
            ([fragment(0), transport(isDiscontinuity: true), transport()], [0..<1, 1..<3]),
            // A gap has no media, and changes nothing.
            ([fragment(0), fragment(1, isGap: true), fragment(0)], [0..<3]),
            ([fragment(0, isGap: true)], []),
        ]
        for (segments, runs) in cases {
            #expect(MediaChanges(segments).runs == runs, "\(segments)")
        }
    }

    @Test func renditionsThatPlayTogetherAreCutWhereOneOfThemChanges() {
        let video = MediaChanges([fragment(0), fragment(0), fragment(1), fragment(1)])
        let sound = MediaChanges(Array(repeating: Segment(section: 0, ending: "mp4", duration: 1), count: 9))
        #expect(MediaChanges.parts(of: [video, sound]) == [[0..<2, 0..<4], [2..<4, 4..<9]])
        #expect(MediaChanges.parts(of: [sound]) == [[0..<9]])
    }

    @Test func changesWithinASecondAreOne() {
        let video = MediaChanges([fragment(0), fragment(1)])
        let early = Segment(section: 0, ending: "mp4", duration: 1.8)
        let sound = MediaChanges([early, Segment(section: 1, ending: "mp4", duration: 2.2)])
        #expect(MediaChanges.parts(of: [video, sound]) == [[0..<1, 0..<1], [1..<2, 1..<2]])
    }
}
