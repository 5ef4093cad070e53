/// A Media Sequence Number or Discontinuity Sequence Number (RFC 8216 §4.3.3.2, §4.3.3.3).
///
/// A playlist's own numbers are from 0 to `largestInPlaylist`. Sums stop at twice as much on either side, so that a difference of
/// two numbers cannot overflow.
public struct SequenceNumber: Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// The largest number that a playlist or a directive may have, and the most that may be added to one.
    public static let largestInPlaylist = Int.max / 4
    fileprivate let number: Int

    /// Creates a number; one beyond the ends is the end.
    public init(_ number: Int) { self.number = min(max(number, -(Int.max / 2)), Int.max / 2) }

    /// Creates a number of a playlist; nil if it is negative or too large.
    init?(inPlaylist number: Int) {
        guard (0...Self.largestInPlaylist).contains(number) else { return nil }
        self.number = number
    }

    /// Creates a constant.
    public init(integerLiteral number: Int) { self.init(number) }

    /// The number that many later, or earlier for a negative distance.
    public static func + (left: Self, right: Int) -> Self {
        let (sum, overflow) = left.number.addingReportingOverflow(right)
        guard overflow else { return Self(sum) }
        let limit: Int = right > 0 ? .max : .min
        return Self(limit)
    }

    /// The distance from `right` to `left`.
    public static func - (left: Self, right: Self) -> Int { left.number - right.number }

    /// Orders by number.
    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }

    /// The decimal form.
    public var description: String { "\(number)" }
}

extension Int {
    /// The number in a name or a list.
    public init(_ number: SequenceNumber) { self = number.number }
}
