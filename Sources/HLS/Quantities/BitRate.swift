import SafeText

/// A bit rate from 0 to 1e15 bits per second, as a playlist announces it or as sizes give it. A larger number becomes the largest
/// rate.
public struct BitRate: Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// The rate of nothing, and of a variant without BANDWIDTH.
    public static let zero = BitRate(0)
    /// More than any media has. A rate multiplied by the longest duration is still a finite number of bytes.
    public static let largest = BitRate(1_000_000_000_000_000)
    fileprivate let bitsPerSecond: Int

    /// Creates a rate; a negative one is 0.
    public init(_ bitsPerSecond: Int) { self.bitsPerSecond = min(max(bitsPerSecond, 0), 1_000_000_000_000_000) }

    /// Creates a rate from an estimate, whose fraction is dropped; 0 if that is not a number.
    public init(estimate bitsPerSecond: Double) {
        guard bitsPerSecond > 0 else {
            self.init(0)
            return
        }
        self.init(Int(min(bitsPerSecond, 1e15)))
    }

    /// Creates a rate from EXT-X-BITRATE's kilobits per second.
    public init(kilobits: Int32) { self.init(Int(kilobits) * 1000) }

    /// The mean rate of so many bytes; zero if the duration is.
    public init(of bytes: ByteCount, in duration: MediaDuration) {
        guard duration > .zero else {
            self.init(0)
            return
        }
        self.init(estimate: Double(bytes) * 8 / duration.seconds)
    }

    /// Creates a constant.
    public init(integerLiteral bitsPerSecond: Int) { self.init(bitsPerSecond) }

    /// The bytes of a duration at this rate.
    public func bytes(in duration: MediaDuration) -> ByteCount {
        ByteCount(estimate: Double(bitsPerSecond) / 8 * duration.seconds)
    }

    /// The difference; zero if `right` is larger.
    public static func - (left: Self, right: Self) -> Self { Self(left.bitsPerSecond - right.bitsPerSecond) }

    /// A part of the rate. Nothing is divided by zero: that part is the whole.
    public static func / (left: Self, right: Int) -> Self { Self(left.bitsPerSecond / max(right, 1)) }

    /// Orders by rate.
    public static func < (left: Self, right: Self) -> Bool { left.bitsPerSecond < right.bitsPerSecond }

    /// Text such as `2.1 Mb/s`.
    public var description: String { Quantity.bandwidth(bitsPerSecond) }
}

/// A plain number in stored tasks.
extension BitRate: Codable {
    /// Reads bits per second.
    public init(from decoder: any Decoder) throws { self.init(try decoder.singleValueContainer().decode(Int.self)) }

    /// Writes bits per second.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(bitsPerSecond)
    }
}

extension Int {
    /// The rate in bits per second.
    public init(_ rate: BitRate) { self = rate.bitsPerSecond }
}

extension Double {
    /// The rate in bits per second.
    public init(_ rate: BitRate) { self = Double(rate.bitsPerSecond) }
}
