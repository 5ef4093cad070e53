import Testing

@testable import Downloads

@Suite struct TimeRangesTests {
    private func ranges(_ pairs: (Double, Double)...) -> TimeRanges {
        var ranges = TimeRanges()
        for (start, end) in pairs {
            ranges.append(start..<end)
        }
        return ranges
    }

    @Test func adjacentAndOverlappingRangesAreMerged() {
        #expect(ranges((0, 2), (2, 4), (4.0005, 6)).ranges == [0..<6])
        #expect(ranges((0, 5), (1, 2)).ranges == [0..<5])
        #expect(ranges((0, 2), (2.1, 3)).ranges == [0..<2, 2.1..<3])
        #expect(ranges((0, 2), (3, 4)).duration == 3)
        #expect(TimeRanges().duration == 0)
    }

    @Test func intersectionIsTheCommonTime() {
        let left = ranges((0, 4), (6, 10), (12, 14))
        #expect(left.intersection(ranges((2, 7), (9, 13))).ranges == [2..<4, 6..<7, 9..<10, 12..<13])
        #expect(left.intersection(ranges((4, 6))).ranges.isEmpty)
        #expect(left.intersection(left) == left)
        #expect(left.intersection(TimeRanges()) == TimeRanges())
    }

    /// Compares the intersection with the same on a grid of half seconds.
    @Test(arguments: 0..<200)
    func intersectionAgreesWithCountingPoints(_ seed: Int) {
        var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 &+ 1
        func next(_ bound: UInt64) -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state % bound
        }
        func random() -> (TimeRanges, Set<Int>) {
            var ranges = TimeRanges()
            var points = Set<Int>()
            var time = 0
            for _ in 0..<next(8) {
                time += Int(next(3))
                let length = 1 + Int(next(4))
                ranges.append(Double(time)..<Double(time + length))
                points.formUnion(time..<time + length)
                time += length
            }
            return (ranges, points)
        }
        let (left, leftPoints) = random()
        let (right, rightPoints) = random()
        let common = left.intersection(right)
        #expect(common == right.intersection(left))
        #expect(common.duration == Double(leftPoints.intersection(rightPoints).count))
        for (first, second) in zip(common.ranges, common.ranges.dropFirst()) {
            #expect(first.upperBound < second.lowerBound)
        }
        for range in common.ranges {
            let points = Int(range.lowerBound)..<Int(range.upperBound)
            #expect(!points.isEmpty && Set(points).isSubset(of: leftPoints.intersection(rightPoints)))
        }
    }
}
