/// The rates at which pieces came from origins. Pure.
///
/// One sample is one piece: the bits that came while a player waited for it, by the seconds that it waited. Pieces that
/// were there already say nothing of any network, and are none.
public struct ObservedRate: Codable, Equatable, Sendable {
    /// How many samples.
    public private(set) var count = 0
    /// Of all samples.
    public private(set) var bits = 0.0
    /// Of all samples.
    public private(set) var seconds = 0.0
    /// The slowest, in bits a second; 0 without a sample.
    public private(set) var minimum = 0.0
    /// The fastest, in bits a second; 0 without a sample.
    public private(set) var maximum = 0.0
    private var mean = 0.0
    /// The sum of the squares of the differences from `mean`.
    private var squares = 0.0

    /// No samples.
    public init() {}

    /// Takes a piece; what came in no time is none.
    public mutating func add(bytes: Int64, seconds: Double) {
        guard bytes > 0, seconds > 0 else { return }
        let rate = Double(bytes) * 8 / seconds
        var one = ObservedRate()
        (one.count, one.bits, one.seconds, one.mean) = (1, Double(bytes) * 8, seconds, rate)
        (one.minimum, one.maximum) = (rate, rate)
        add(one)
    }

    /// Takes all samples of another: count, mean and squares as T. F. Chan, G. H. Golub and R. J. LeVeque put them
    /// together (1979), which loses no digits over long sessions as a sum of squares does.
    public mutating func add(_ other: ObservedRate) {
        guard other.count > 0 else { return }
        (minimum, maximum) =
            count == 0
            ? (other.minimum, other.maximum) : (min(minimum, other.minimum), max(maximum, other.maximum))
        let all = Double(count + other.count)
        let difference = other.mean - mean
        squares += other.squares + difference * difference * Double(count) * Double(other.count) / all
        mean += difference * Double(other.count) / all
        count += other.count
        bits += other.bits
        seconds += other.seconds
    }

    /// Σ bits / Σ seconds: what the network gave while it was asked; nil without a sample.
    public var bitsPerSecond: Double? { seconds > 0 ? bits / seconds : nil }

    /// √(Σ (rate − mean)² / count) over the samples' rates; nil without a sample.
    public var deviation: Double? { count > 0 ? (squares / Double(count)).squareRoot() : nil }
}
