/// A moment or a length as ticks of a clock; two clocks are compared exactly.
public struct MediaTime: Hashable, Sendable, CustomStringConvertible {
    /// So many ticks, which may be less than none.
    public var ticks: Int64
    /// Ticks a second, more than none.
    public let timescale: UInt32

    /// Makes a time; a timescale of 0 counts as 1.
    public init(ticks: Int64, timescale: UInt32) {
        self.ticks = ticks
        self.timescale = max(1, timescale)
    }

    /// For logs: no decision should rest on it.
    public var seconds: Double { Double(ticks) / Double(timescale) }
    /// Seconds with what they were made from.
    public var description: String { "\(ticks)/\(timescale) s" }

    /// Whether two moments differ by half of a frame or less: what pieces of one timeline may differ by.
    public func agrees(with other: MediaTime, frame: MediaTime) -> Bool {
        // Over the common clock of the three, which 128 bits hold.
        let (mine, its, frames) = (Int128(timescale), Int128(other.timescale), Int128(frame.timescale))
        let difference = (Int128(ticks) * its - Int128(other.ticks) * mine).magnitude
        let (whole, overflow) = difference.multipliedReportingOverflow(by: UInt128(2 * frames))
        guard !overflow, frame.ticks >= 0 else { return false }
        return whole <= UInt128(frame.ticks) * UInt128(mine * its)
    }
}
