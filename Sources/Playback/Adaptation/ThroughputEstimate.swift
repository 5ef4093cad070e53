import Glibc

/// What the link to an origin gives a session, as an estimate for the next segment: the lower of two exponentially
/// weighted averages of what came, one that follows fast and one that follows slowly, so that it falls at once and rises
/// with caution. The half-lives are those that hls.js and Shaka Player ship with.
///
/// Pure. A sample is weighted by how long it took; the averages are corrected for having begun at nothing.
struct ThroughputEstimate: Equatable {
    private struct Average: Equatable {
        let halfLife: Double
        private var sum = 0.0
        private var weight = 0.0

        init(halfLife: Double) { self.halfLife = halfLife }

        mutating func add(_ rate: Double, over seconds: Double) {
            let old = pow(0.5, seconds / halfLife)
            sum = rate * (1 - old) + sum * old
            weight += seconds
        }

        var value: Double { sum / (1 - pow(0.5, weight / halfLife)) }
    }

    private var fast = Average(halfLife: 3)
    private var slow = Average(halfLife: 9)
    private var seconds = 0.0

    /// A transfer as short as this says more of latency than of the link.
    static let shortest = 0.05

    /// Takes what came in some time, in which something was wanted throughout.
    mutating func add(_ bytes: Int64, over seconds: Double) {
        guard bytes > 0, seconds > 0 else { return }
        let seconds = max(seconds, Self.shortest)
        self.seconds += seconds
        fast.add(Double(bytes) / seconds, over: seconds)
        slow.add(Double(bytes) / seconds, over: seconds)
    }

    /// Bytes a second; nil before anything came.
    var rate: Double? { seconds > 0 ? min(fast.value, slow.value) : nil }
}
