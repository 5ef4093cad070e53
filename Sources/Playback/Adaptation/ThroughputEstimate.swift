import Glibc

/// What the link to an origin gives a session, as an estimate for the next segment: the lowest of what came in the last
/// second, and of two exponentially weighted averages of what came, one that follows fast and one that follows slowly. So
/// it falls within a second, and rises with caution. The half-lives are those that hls.js and Shaka Player ship with; by
/// them alone a link that falls from 40 Mb/s to 780 kb/s is for 17 s taken for more than twice as fast as it is.
///
/// Pure. A sample is weighted by how long it took; the averages are corrected for having begun at nothing.
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
    /// The last samples, of a second together, and no more than that takes; the oldest first.
    private var late: [(bytes: Double, seconds: Double)] = []

    /// A transfer as short as this says more of latency than of the link.
    static let shortest = 0.05
    /// So many seconds does a sample weigh at least: segments that come in a moment, one every few seconds, would else
    /// take minutes to tell that a link is back.
    static let leastWeight = 1.0
    /// What came in so many seconds is what came of late.
    static let lateness = 1.0

    /// Takes what came in some time, in which something was wanted throughout.
    mutating func add(_ bytes: Int64, over seconds: Double) {
        guard bytes > 0, seconds > 0 else { return }
        let seconds = max(seconds, Self.shortest)
        let (rate, weight) = (Double(bytes) / seconds, max(seconds, Self.leastWeight))
        fast.add(rate, weighing: weight)
        slow.add(rate, weighing: weight)
        late.append((Double(bytes), seconds))
        while late.dropFirst().reduce(0, { $0 + $1.seconds }) >= Self.lateness { late.removeFirst() }
    }

    /// Bytes a second; nil before anything came.
    var rate: Double? { rateOfLate.map { min($0, fast.value, slow.value) } }

    /// Bytes a second in the last second; nil before anything came.
    var rateOfLate: Double? {
        guard !late.isEmpty else { return nil }
        return late.reduce(0) { $0 + $1.bytes } / late.reduce(0) { $0 + $1.seconds }
    }
}
