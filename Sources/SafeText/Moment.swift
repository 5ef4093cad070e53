/// A point in time as it comes from outside, in seconds since 1970: up to the end of the year 9999.
public struct Moment: BoundedNumber {
    /// The last second of the year 9999.
    public static let largest = 253_402_300_799.0
    /// The number.
    public let value: Double

    /// Makes a point in time; an earlier one than 1970, and what is not a number, is the beginning of 1970.
    public init(clamping value: Double) { self.value = Self.clamped(value) }
}
