import Glibc

/// Estimates a session's throughput for the next segment: the lowest of the rate in the last second and two
/// exponentially weighted averages, a fast one and a slow one. So the estimate falls within a second and rises
/// cautiously. The half-lives are the defaults of hls.js and Shaka Player. With these averages alone, a link that falls
/// from 40 Mb/s to 780 kb/s is overestimated by more than a factor of two for 17 s.
///
/// Pure. A sample's weight is its duration; the averages are corrected for their start at zero.
struct ThroughputEstimate {
    private struct Average {
        let halfLife: Double
        private var sum = 0.0
        private var weight = 0.0

        init(halfLife: Double) { self.halfLife = halfLife }

        mutating func add(_ rate: Double, weighing weight: Double) {
            let old = pow(0.5, weight / halfLife)
            sum = rate * (1 - old) + sum * old
            self.weight += weight
        }

        var value: Double { sum / (1 - pow(0.5, weight / halfLife)) }
    }

    private var fast = Average(halfLife: 3)
    private var slow = Average(halfLife: 9)
    /// The latest samples, oldest first: just enough to cover one second.
    private var late: [(bytes: Double, seconds: Double)] = []

    /// Shorter transfers measure latency rather than throughput, in seconds.
    static let shortest = 0.05
    /// Minimum weight of a sample, in seconds. Without it, segments that arrive at once every few seconds would need
    /// minutes to show that a link has recovered.
    static let leastWeight = 1.0
    /// Length of the window for the recent rate, in seconds.
    static let lateness = 1.0

    /// Adds a sample of a time during which a fetch was always under way.
    mutating func add(_ bytes: Int64, over seconds: Double) {
        guard bytes > 0, seconds > 0 else { return }
        let seconds = max(seconds, Self.shortest)
        let (rate, weight) = (Double(bytes) / seconds, max(seconds, Self.leastWeight))
        fast.add(rate, weighing: weight)
        slow.add(rate, weighing: weight)
        late.append((Double(bytes), seconds))
        while late.dropFirst().reduce(0, { $0 + $1.seconds }) >= Self.lateness { late.removeFirst() }
    }

    /// Bytes per second; nil before the first sample.
    var rate: Double? { rateOfLate.map { min($0, fast.value, slow.value) } }

    /// Bytes per second over the last second; nil before the first sample.
    var rateOfLate: Double? {
        guard !late.isEmpty else { return nil }
        return late.reduce(0) { $0 + $1.bytes } / late.reduce(0) { $0 + $1.seconds }
    }
}
