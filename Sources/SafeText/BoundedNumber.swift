/// A number as it comes from outside, in a request, a file or an option: from 0 to `largest`, and always a number. Decoders
/// yield one of its types instead of a bare `Double`, so that nothing that is computed with it can trap, overflow or never end.
public protocol BoundedNumber: Hashable, Comparable, Codable, Sendable, CustomStringConvertible,
    ExpressibleByFloatLiteral,
    ExpressibleByIntegerLiteral
{
    /// The largest number of the type.
    static var largest: Double { get }
    /// The number.
    var value: Double { get }
    /// Makes a number; a negative one, and one that is not a number, is zero, and a larger one is the largest.
    init(clamping value: Double)
}

extension BoundedNumber {
    /// The number in the type's range; zero for one that is negative or not a number.
    public static func clamped(_ value: Double) -> Double {
        guard value > 0 else { return 0 }
        return min(value, largest)
    }

    /// Makes a number; nil for one that is negative or not a number. A larger one is the largest.
    public init?(_ value: Double) {
        guard value >= 0 else { return nil }
        self.init(clamping: value)
    }

    /// Reads digits with at most one point: no sign, no exponent; nil for any other text.
    public init?(decimal text: some StringProtocol) {
        // Double also reads "nan", "inf" and "0x1".
        guard text.utf8.allSatisfy({ (48...57).contains($0) || $0 == UInt8(ascii: ".") }), let value = Double(text)
        else {
            return nil
        }
        self.init(value)
    }

    /// Makes a constant.
    public init(floatLiteral value: Double) { self.init(clamping: value) }

    /// Makes a constant.
    public init(integerLiteral value: Int) { self.init(clamping: Double(value)) }

    /// The number as text.
    public var description: String { "\(value)" }

    /// Orders by number.
    public static func < (left: Self, right: Self) -> Bool { left.value < right.value }
}

/// In JSON a number.
extension BoundedNumber {
    /// Decodes a number that is not negative.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let value = try container.decode(Double.self)
        guard let number = Self(value) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(value) is below 0")
        }
        self = number
    }

    /// Encodes the number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}
