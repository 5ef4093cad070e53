/// Statistics of the rates at which pieces arrived from origins. Pure.
///
/// A sample is one piece: the bits that arrived while a player waited, and the seconds of that wait.
package struct ObservedRate: Codable, Equatable, Sendable {
    package private(set) var count = 0
    package private(set) var bits = 0.0
    package private(set) var seconds = 0.0
    /// The slowest, in bits per second; 0 without a sample.
    package private(set) var minimum = 0.0
    /// The fastest, in bits per second; 0 without a sample.
    package private(set) var maximum = 0.0
    private var mean = 0.0
    /// The sum of the squares of the differences from `mean`.
    private var squares = 0.0

    package init() {}

    /// Adds a piece; one without bytes or seconds is ignored.
    package mutating func add(bytes: Int64, seconds: Double) {
        guard bytes > 0, seconds > 0 else { return }
        let rate = Double(bytes) * 8 / seconds
        var one = ObservedRate()
        one.count = 1
        one.bits = Double(bytes) * 8
        one.seconds = seconds
        one.mean = rate
        one.minimum = rate
        one.maximum = rate
        add(one)
    }

    /// Adds all samples of another one, as by T. F. Chan, G. H. Golub and R. J. LeVeque (1979): unlike a sum of
    /// squares, that loses no digits over long sessions.
    package mutating func add(_ other: ObservedRate) {
        guard other.count > 0 else { return }
        if count == 0 {
            minimum = other.minimum
            maximum = other.maximum
        } else {
            minimum = min(minimum, other.minimum)
            maximum = max(maximum, other.maximum)
        }
        let all = Double(count + other.count)
        let difference = other.mean - mean
        squares += other.squares + difference * difference * Double(count) * Double(other.count) / all
        mean += difference * Double(other.count) / all
        count += other.count
        bits += other.bits
        seconds += other.seconds
    }

    /// Σ bits / Σ seconds: the network's throughput while players waited; nil without a sample.
    package var bitsPerSecond: Double? {
        guard seconds > 0 else { return nil }
        return bits / seconds
    }

    /// The rate of the slowest sample; nil without a sample.
    package var slowest: Double? {
        guard count > 0 else { return nil }
        return minimum
    }

    /// The rate of the fastest sample; nil without a sample.
    package var fastest: Double? {
        guard count > 0 else { return nil }
        return maximum
    }

    /// √(Σ (rate − mean)² / count) over the samples' rates; nil without a sample.
    package var deviation: Double? {
        guard count > 0 else { return nil }
        return (squares / Double(count)).squareRoot()
    }
}
