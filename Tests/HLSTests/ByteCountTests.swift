import HLS
import Testing

/// Sums of sizes that playlists announce: three renditions of a million ranges of 4 TiB exceed 64 bits.
@Suite struct ByteCountTests {
    @Test func sumsStopAtTheEnd() {
        let rendition = ByteCount((4 << 40) * 1_000_000)
        let sum = [rendition, rendition, rendition].reduce(.zero) { $0 + $1 }
        #expect(sum == ByteCount(Int64.max))
        #expect(ByteCount(Int64.max) + ByteCount(1) == ByteCount(Int64.max))
        #expect(ByteCount(2) + ByteCount(3) == 5 && ByteCount(2) - ByteCount(3) == .zero)
        #expect(ByteCount(-1) == .zero && ByteCount(Int64.min) == .zero)
    }

    @Test(
        arguments: [
            (0.0, 0), (0.9, 0), (1.5, 1), (-3.0, 0), (1e15, 1_000_000_000_000_000), (9.3e18, .max), (1e308, .max),
            (.infinity, .max), (-.infinity, 0), (.nan, 0), (9_223_372_036_854_775_807.0, .max),
        ] as [(Double, Int64)])
    func estimatesStopAtTheEnds(estimate: Double, count: Int64) {
        #expect(Int64(ByteCount(estimate: estimate)) == count)
    }
}
