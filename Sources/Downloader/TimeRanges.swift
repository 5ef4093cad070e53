/// Ranges of media time, in seconds from the start: sorted and disjoint.
public struct TimeRanges: Equatable, Sendable {
    /// The ranges.
    public private(set) var ranges: [Range<Double>] = []

    /// Makes an empty set.
    public init() {}

    /// Gaps smaller than this are rounding errors, in seconds.
    private static let tolerance = 0.001

    /// Adds a range that begins at or after the start of the last one.
    public mutating func append(_ range: Range<Double>) {
        guard let last = ranges.last, range.lowerBound <= last.upperBound + Self.tolerance else {
            ranges.append(range)
            return
        }
        ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
    }

    /// Returns the time that is in both.
    public func intersection(_ other: TimeRanges) -> TimeRanges {
        var result = TimeRanges()
        var (left, right) = (ranges[...], other.ranges[...])
        while let first = left.first, let second = right.first {
            let common =
                max(
                    first.lowerBound, second.lowerBound)..<max(
                    max(first.lowerBound, second.lowerBound), min(first.upperBound, second.upperBound))
            if !common.isEmpty { result.append(common) }
            if first.upperBound < second.upperBound { left.removeFirst() } else { right.removeFirst() }
        }
        return result
    }

    /// Returns the time that is in either.
    public func union(_ other: TimeRanges) -> TimeRanges {
        var result = TimeRanges()
        for range in (ranges + other.ranges).sorted(by: { $0.lowerBound < $1.lowerBound }) { result.append(range) }
        return result
    }

    /// Total length in seconds.
    public var duration: Double { ranges.reduce(0) { $0 + $1.upperBound - $1.lowerBound } }
}
