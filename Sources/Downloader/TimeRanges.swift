/// Stretches of media time, in seconds from the start: sorted, and apart from each other.
public struct TimeRanges: Equatable, Sendable {
    /// The stretches.
    public private(set) var ranges: [Range<Double>] = []

    /// No time at all.
    public init() {}

    /// Gaps smaller than this come from rounding, not from holes.
    private static let tolerance = 0.001

    /// Adds a stretch that begins at or behind the start of the last one.
    public mutating func append(_ range: Range<Double>) {
        guard let last = ranges.last, range.lowerBound <= last.upperBound + Self.tolerance else {
            ranges.append(range)
            return
        }
        ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
    }

    /// The time that is in both.
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

    /// The time that is in either.
    public func union(_ other: TimeRanges) -> TimeRanges {
        var result = TimeRanges()
        for range in (ranges + other.ranges).sorted(by: { $0.lowerBound < $1.lowerBound }) { result.append(range) }
        return result
    }

    /// The seconds in all stretches together.
    public var duration: Double { ranges.reduce(0) { $0 + $1.upperBound - $1.lowerBound } }
}
