/// A time in seconds as it comes from outside: from 0 to thirty years.
public struct Seconds: BoundedNumber {
    /// Thirty years. Nanoseconds of it fit into 64 bits.
    public static let largest = 1e9
    /// The longest time.
    public static let longest = Seconds(clamping: largest)
    /// The number.
    public let value: Double

    /// Makes a time; a negative one, and one that is not a number, is zero.
    public init(clamping value: Double) { self.value = Self.clamped(value) }

    /// Whole milliseconds, rounded to the nearest.
    public var milliseconds: Int { Int(value * 1000 + 0.5) }
}
