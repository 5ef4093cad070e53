/// A duration of media from 0 to 1e15 seconds, which a million segments of the longest EXTINF have. It is always a number, so
/// that what is computed with its `seconds` is finite; whole numbers come from its own conversions, which cannot trap.
public struct MediaDuration: Hashable, Comparable, Sendable, ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral {
    /// No time.
    public static let zero = MediaDuration(seconds: 0)
    private let length: Double
    /// The duration as a distance on a timeline, whose arithmetic cannot trap.
    public var seconds: Double { length }

    /// Creates a duration; a negative one, and one that is not a number, is zero.
    public init(seconds: Double) { length = seconds > 0 ? min(seconds, 1e15) : 0 }

    /// Creates a constant.
    public init(floatLiteral seconds: Double) { self.init(seconds: seconds) }

    /// Creates a constant.
    public init(integerLiteral seconds: Int) { self.init(seconds: Double(seconds)) }

    /// Whole seconds, rounded up as a target duration is.
    public var roundedUp: Int {
        // Not `rounded(.up)`: it may need the C math library, which nothing else in this module links.
        var whole = Int(seconds)
        if seconds > Double(whole) {
            whole += 1
        }
        return whole
    }

    /// Whole seconds, rounded to the nearest.
    public var roundedSeconds: Int { Int(seconds + 0.5) }
    /// Tenths of a second, rounded to the nearest.
    public var tenths: Int { Int(seconds * 10 + 0.5) }
    /// Milliseconds, rounded to the nearest.
    public var milliseconds: Int { Int(seconds * 1000 + 0.5) }

    /// The sum, or the longest duration if that is shorter.
    public static func + (left: Self, right: Self) -> Self { Self(seconds: left.seconds + right.seconds) }

    /// Adds a duration.
    public static func += (left: inout Self, right: Self) { left = left + right }

    /// The duration of so many parts; zero for none or fewer.
    public static func * (left: Self, right: Int) -> Self { Self(seconds: left.seconds * Double(right)) }

    /// The distance between two durations, in seconds.
    public func distance(from other: Self) -> Double { abs(seconds - other.seconds) }

    /// Orders by length.
    public static func < (left: Self, right: Self) -> Bool { left.seconds < right.seconds }
}
