/// A quotient as it comes from outside: a share, a playback rate, or a number of frames or bits a second; from 0 to 1e12.
public struct Ratio: BoundedNumber {
    /// A thousand times as much is still a whole number.
    public static let largest = 1e12
    /// The number.
    public let value: Double

    /// Makes a ratio; a negative one, and one that is not a number, is zero.
    public init(clamping value: Double) { self.value = Self.clamped(value) }
}
