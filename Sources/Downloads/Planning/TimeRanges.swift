/// Ranges of media time, in seconds from the start: sorted and disjoint.
package struct TimeRanges: Equatable, Sendable {
    package private(set) var ranges: [Range<Double>] = []

    /// Makes an empty set.
    package init() {}

    /// Gaps smaller than this are rounding errors, in seconds.
    private static let tolerance = 0.001

    /// Adds a range that begins at or after the start of the last one.
    package mutating func append(_ range: Range<Double>) {
        guard let last = ranges.last, range.lowerBound <= last.upperBound + Self.tolerance else {
            ranges.append(range)
            return
        }
        ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
    }

    func intersection(_ other: TimeRanges) -> TimeRanges {
        var result = TimeRanges()
        var left = ranges[...]
        var right = other.ranges[...]
        while let first = left.first, let second = right.first {
            if first.overlaps(second) {
                result.append(first.clamped(to: second))
            }
            if first.upperBound < second.upperBound {
                left.removeFirst()
            } else {
                right.removeFirst()
            }
        }
        return result
    }

    /// The parts of these ranges that are not in others.
    package func subtracting(_ others: TimeRanges) -> TimeRanges {
        var result = TimeRanges()
        for range in ranges {
            var start = range.lowerBound
            for other in others.ranges where other.overlaps(range) {
                if start + Self.tolerance < other.lowerBound {
                    result.append(start..<other.lowerBound)
                }
                start = max(start, other.upperBound)
            }
            if start + Self.tolerance < range.upperBound {
                result.append(start..<range.upperBound)
            }
        }
        return result
    }

    func union(_ other: TimeRanges) -> TimeRanges {
        var result = TimeRanges()
        for range in (ranges + other.ranges).sorted(by: { $0.lowerBound < $1.lowerBound }) {
            result.append(range)
        }
        return result
    }

    /// Total length in seconds.
    package var duration: Double { ranges.reduce(0) { $0 + $1.upperBound - $1.lowerBound } }
}
