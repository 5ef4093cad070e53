/// A time in seconds as it comes from outside, in a request or a file: from 0 to thirty years, and always a number. Decoders
/// yield it instead of a bare `Double`, so that nothing that is computed with it can trap, overflow or never end.
public struct Seconds: Hashable, Comparable, Sendable, ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral {
    /// The longest time.
    public static let longest = Seconds(clamping: 1e9)
    /// The number.
    public let value: Double

    /// Makes a time; a negative one, and one that is not a number, is zero.
    public init(clamping value: Double) { self.value = value > 0 ? min(value, 1e9) : 0 }

    /// Makes a constant.
    public init(floatLiteral value: Double) { self.init(clamping: value) }

    /// Makes a constant.
    public init(integerLiteral value: Int) { self.init(clamping: Double(value)) }

    /// Whole milliseconds, rounded to the nearest.
    public var milliseconds: Int { Int(value * 1000 + 0.5) }

    /// Orders by length.
    public static func < (left: Self, right: Self) -> Bool { left.value < right.value }
}

/// In JSON a number.
extension Seconds: Codable {
    /// Decodes any number.
    public init(from decoder: any Decoder) throws {
        self.init(clamping: try decoder.singleValueContainer().decode(Double.self))
    }

    /// Encodes the number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}
