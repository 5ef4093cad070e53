/// A number of bytes from 0 to `Int64.max`. Sums and estimates stop at the ends and cannot trap, whatever a playlist says.
public struct ByteCount: Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral {
    /// No bytes.
    public static let zero = ByteCount(0)
    fileprivate let count: Int64

    /// Creates a count; a negative one is 0.
    public init(_ count: Int64) { self.count = max(count, 0) }

    /// Creates a count; a negative one is 0.
    public init(_ count: Int) { self.init(Int64(count)) }

    /// Creates a count from an estimate, whose fraction is dropped; 0 if that is not a number.
    public init(estimate count: Double) {
        if count >= 0x1p63 {
            self.count = .max
        } else if count > 0 {
            self.count = Int64(count)
        } else {
            self.count = 0
        }
    }

    /// Creates a constant.
    public init(integerLiteral count: Int64) { self.init(count) }

    /// The sum, or the largest count if that is smaller.
    public static func + (left: Self, right: Self) -> Self {
        let (sum, overflow) = left.count.addingReportingOverflow(right.count)
        guard !overflow else { return Self(Int64.max) }
        return Self(sum)
    }

    /// The difference; 0 if `right` is larger.
    public static func - (left: Self, right: Self) -> Self { Self(left.count - right.count) }

    /// Adds a count.
    public static func += (left: inout Self, right: Self) { left = left + right }
    /// Orders by number.
    public static func < (left: Self, right: Self) -> Bool { left.count < right.count }
}

/// Numbers for files, texts and estimates. A `Double` cannot trap, so that shares and rates are computed with it.
extension Int64 {
    /// The count as a size of a file.
    public init(_ bytes: ByteCount) { self = bytes.count }
}

extension Int {
    /// The count as a number of the API: at most 2^53 − 1, above which JSON's numbers are not exact.
    public init(_ bytes: ByteCount) { self = Int(Swift.min(bytes.count, (1 << 53) - 1)) }
}

extension Double {
    /// The count for a share or a rate.
    public init(_ bytes: ByteCount) { self = Double(bytes.count) }
}
