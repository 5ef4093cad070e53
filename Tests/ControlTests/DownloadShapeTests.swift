import Downloads
import Orders
import Testing

@Suite struct DownloadShapeTests {
    @Test func weightsAreTheSeedsAndAddUp() {
        #expect(ProgressWeights.of([.video, .audio, .subtitles]) == [0.7, 0.2, 0.1])
        #expect(ProgressWeights.of([.video, .audio, .audio, .subtitles]) == [0.7, 0.1, 0.1, 0.1])
        #expect(ProgressWeights.of([.video]) == [1])
        #expect(ProgressWeights.of([.video, .subtitles]) == [0.875, 0.125])
        #expect(ProgressWeights.of([]).isEmpty)
        // Thirds and sevenths add up to 1 all the same.
        for count in 1..<40 {
            let kinds = [TrackKind.video] + Array(repeating: .audio, count: count)
            let units = ProgressWeights.of(kinds).map { Int(($0 * 10_000).rounded()) }
            #expect(units.reduce(0, +) == 10_000 && units.allSatisfy { $0 > 0 })
        }
    }
}
