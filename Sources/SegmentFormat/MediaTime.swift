/// A timestamp or a duration in ticks of a timescale. Times of different timescales are compared exactly.
public struct MediaTime: Hashable, Sendable, CustomStringConvertible {
    /// Number of ticks; may be negative.
    public var ticks: Int64
    /// Ticks per second, at least 1.
    public let timescale: UInt32

    /// Creates a time; a timescale of 0 becomes 1.
    public init(ticks: Int64, timescale: UInt32) {
        self.ticks = ticks
        self.timescale = max(1, timescale)
    }

    /// Rounded value for logs. Do not base decisions on it.
    public var seconds: Double { Double(ticks) / Double(timescale) }
    /// Ticks and timescale, as in `1024/10240 s`.
    public var description: String { "\(ticks)/\(timescale) s" }

    /// True if two timestamps differ by at most half a frame, the tolerance between segments of one timeline.
    public func agrees(with other: MediaTime, frame: MediaTime) -> Bool {
        // Compared over the product of the three timescales, which fits 128 bits.
        let (mine, its, frames) = (Int128(timescale), Int128(other.timescale), Int128(frame.timescale))
        let difference = (Int128(ticks) * its - Int128(other.ticks) * mine).magnitude
        let (whole, overflow) = difference.multipliedReportingOverflow(by: UInt128(2 * frames))
        guard !overflow, frame.ticks >= 0 else { return false }
        return whole <= UInt128(frame.ticks) * UInt128(mine * its)
    }
}
