/// A number of bytes from 0 to `Int64.max`. Sums and estimates stop at the ends and cannot trap, whatever a playlist says.
public struct ByteCount: Hashable, Comparable, Sendable {
    /// No bytes.
    public static let zero = ByteCount(0)
    /// The number as a plain integer; never negative.
    public let int64: Int64

    /// Creates a count; a negative one is 0.
    public init(_ count: Int64) { int64 = max(count, 0) }

    /// Creates a count from an estimate, whose fraction is dropped; 0 if that is not a number.
    public init(estimate count: Double) { int64 = count > 0 ? count < 0x1p63 ? Int64(count) : .max : 0 }

    /// The sum, or the largest count if that is smaller.
    public static func + (left: Self, right: Self) -> Self {
        let (sum, overflow) = left.int64.addingReportingOverflow(right.int64)
        return Self(overflow ? .max : sum)
    }

    /// Adds a count.
    public static func += (left: inout Self, right: Self) { left = left + right }
    /// Orders by number.
    public static func < (left: Self, right: Self) -> Bool { left.int64 < right.int64 }
}
