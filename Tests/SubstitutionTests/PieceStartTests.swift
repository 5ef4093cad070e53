import SegmentFormat
import Testing

@testable import Substitution

@Suite struct PieceStartTests {
    private static let frame = MediaTime(ticks: 3600, timescale: 90_000)

    private func stream(_ ticks: Int64, id: UInt32 = 1, isVideo: Bool = true, wrap: Int64 = 0) -> PieceStart.Stream {
        PieceStart.Stream(
            id: id, isVideo: isVideo, start: MediaTime(ticks: ticks, timescale: 90_000), wrap: wrap)
    }

    private func isAfter(
        _ own: PieceStart.Stream..., by seconds: Double = 0, of others: [PieceStart.Stream]
    ) -> Bool? {
        PieceStart(own).isAfter(PieceStart(others), by: seconds, frame: Self.frame)
    }

    @Test func differencesBelowHalfAFrameAreIgnored() {
        #expect(isAfter(stream(1800), of: [stream(0)]) == true)
        #expect(isAfter(stream(1801), of: [stream(0)]) == false)
        #expect(isAfter(stream(0), of: [stream(1801)]) == false)
    }

    @Test func laterSegmentsBeginLater() {
        #expect(isAfter(stream(180_000), by: 2, of: [stream(0)]) == true)
        #expect(isAfter(stream(0), by: -2, of: [stream(180_000)]) == true)
        #expect(isAfter(stream(180_000), by: 4, of: [stream(0)]) == false)
    }

    @Test func handlesTimestampResets() {
        let last: Int64 = 1 << 33 - 100
        #expect(isAfter(stream(100, wrap: 1 << 33), of: [stream(last, wrap: 1 << 33)]) == true)
        #expect(isAfter(stream(last, wrap: 1 << 33), of: [stream(100, wrap: 1 << 33)]) == true)
        #expect(isAfter(stream(89_900, wrap: 1 << 33), by: 1, of: [stream(last, wrap: 1 << 33)]) == true)
        #expect(isAfter(stream(100), of: [stream(last)]) == false)
    }

    @Test func separateAudioIsComparedSeparately() {
        let audio = { stream($0, id: 2, isVideo: false) }
        #expect(isAfter(stream(0), audio(4000), of: [stream(0), audio(0)]) == true)
        #expect(isAfter(stream(0), audio(9000), of: [stream(0), audio(0)]) == false)
        // The audio of different segments cannot be compared.
        #expect(isAfter(stream(90_000), audio(99_000), by: 1, of: [stream(0), audio(0)]) == true)
        #expect(isAfter(audio(4000), of: [audio(0)]) == false)
        #expect(isAfter(audio(94_000), by: 1, of: [audio(0)]) == false)
    }

    @Test func incomparableStartsAreUnknown() {
        #expect(isAfter(stream(0), of: [stream(0, id: 7)]) == nil)
        #expect(isAfter(stream(0), of: []) == nil)
        #expect(PieceStart([]).isAfter(PieceStart([stream(0)]), by: 0, frame: Self.frame) == nil)
    }
}
