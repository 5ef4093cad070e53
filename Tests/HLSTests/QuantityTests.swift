import HLS
import Testing

/// Quantities at the edges of their types, as playlists of an origin may state them.
@Suite struct QuantityTests {
    private static let doubles = [
        0, -0.0, 0.5, 1, -1, 1e9, 1e15, 1e18, 9.3e18, 1e308, -1e308, .leastNonzeroMagnitude, .infinity, -.infinity,
        .nan,
    ]
    private static let integers = [0, 1, -1, Int(Int32.max), 1 << 53, Int.max / 4, Int.max / 2, .max, .min]

    @Test("whole numbers of a duration", arguments: doubles)
    func duration(seconds: Double) {
        let duration = MediaDuration(seconds: seconds)
        #expect((0...1e15).contains(duration.seconds))
        #expect(duration.milliseconds >= 0 && duration.tenths >= 0 && duration.roundedUp >= duration.roundedSeconds - 1)
        for other in Self.doubles.map({ MediaDuration(seconds: $0) }) {
            #expect((0...1e15).contains((duration + other).seconds) && duration.distance(from: other) >= 0)
        }
        for count in Self.integers {
            #expect((0...1e15).contains((duration * count).seconds))
        }
    }

    @Test("rates, sizes and durations of each other", arguments: doubles)
    func rates(number: Double) {
        let rate = BitRate(estimate: number)
        let duration = MediaDuration(seconds: number)
        #expect(rate >= .zero && rate <= .largest)
        for other in Self.doubles {
            let bytes = rate.bytes(in: MediaDuration(seconds: other))
            #expect(bytes >= .zero && BitRate(of: bytes, in: duration) <= .largest)
        }
        for count in Self.integers {
            let other = BitRate(count)
            let bytes = ByteCount(count)
            #expect(other >= .zero && other <= .largest && rate - other >= .zero && rate / count <= .largest)
            #expect(bytes >= .zero && bytes + bytes >= bytes && bytes - bytes == .zero)
        }
    }

    @Test("sequence numbers", arguments: integers)
    func sequence(number: Int) {
        let one = SequenceNumber(number)
        for other in Self.integers {
            let sum = one + other
            #expect(other >= 0 ? sum >= one : sum <= one)
            #expect(SequenceNumber(other) + (one - SequenceNumber(other)) == one)
            #expect(abs(Double(one - sum)) <= Double(Int.max))
        }
    }

    @Test func plainNumbersAreExact() {
        #expect(MediaDuration(seconds: 6.006) * 1000 == 6006 && MediaDuration(seconds: 9.0001).roundedUp == 10)
        #expect(BitRate(of: 750_000, in: 6) == 1_000_000 && BitRate(2_000_000).bytes(in: 4) == 1_000_000)
        #expect(SequenceNumber(7) + 3 == 10 && SequenceNumber(7) - SequenceNumber(10) == -3)
        #expect("\(BitRate(2_165_224))" == "2.2 Mb/s" && "\(SequenceNumber(12))" == "12")
    }
}
