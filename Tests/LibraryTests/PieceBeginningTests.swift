import SegmentFormat
import Testing

@testable import Fetching
@testable import Library

@Suite struct PieceBeginningTests {
    private static let frame = MediaTime(ticks: 3600, timescale: 90_000)

    private func stream(_ ticks: Int64, id: UInt32 = 1, isVideo: Bool = true, wrap: Int64 = 0) -> PieceBeginning.Stream
    {
        PieceBeginning.Stream(
            id: id, isVideo: isVideo, start: MediaTime(ticks: ticks, timescale: 90_000), wrap: wrap)
    }

    private func begins(
        _ own: PieceBeginning.Stream..., after seconds: Double = 0, of others: [PieceBeginning.Stream]
    ) -> Bool? {
        PieceBeginning(own).begins(seconds, after: PieceBeginning(others), frame: Self.frame)
    }

    @Test func differencesBelowHalfAFrameAreIgnored() {
        #expect(begins(stream(1800), of: [stream(0)]) == true)
        #expect(begins(stream(1801), of: [stream(0)]) == false)
        #expect(begins(stream(0), of: [stream(1801)]) == false)
    }

    @Test func laterSegmentsBeginLater() {
        #expect(begins(stream(180_000), after: 2, of: [stream(0)]) == true)
        #expect(begins(stream(0), after: -2, of: [stream(180_000)]) == true)
        #expect(begins(stream(180_000), after: 4, of: [stream(0)]) == false)
    }

    @Test func handlesTimestampResets() {
        let last: Int64 = 1 << 33 - 100
        #expect(begins(stream(100, wrap: 1 << 33), of: [stream(last, wrap: 1 << 33)]) == true)
        #expect(begins(stream(last, wrap: 1 << 33), of: [stream(100, wrap: 1 << 33)]) == true)
        #expect(begins(stream(89_900, wrap: 1 << 33), after: 1, of: [stream(last, wrap: 1 << 33)]) == true)
        #expect(begins(stream(100), of: [stream(last)]) == false)
    }

    @Test func separateAudioIsComparedSeparately() {
        let sound = { stream($0, id: 2, isVideo: false) }
        #expect(begins(stream(0), sound(4000), of: [stream(0), sound(0)]) == true)
        #expect(begins(stream(0), sound(9000), of: [stream(0), sound(0)]) == false)
        // The audio of different segments cannot be compared.
        #expect(begins(stream(90_000), sound(99_000), after: 1, of: [stream(0), sound(0)]) == true)
        #expect(begins(sound(4000), of: [sound(0)]) == false)
        #expect(begins(sound(94_000), after: 1, of: [sound(0)]) == false)
    }

    @Test func incomparableBeginningsAreUnknown() {
        #expect(begins(stream(0), of: [stream(0, id: 7)]) == nil)
        #expect(begins(stream(0), of: []) == nil)
        #expect(PieceBeginning([]).begins(0, after: PieceBeginning([stream(0)]), frame: Self.frame) == nil)
    }
}
