import EventLoop
import Fetching
import Glibc
import Playheads

/// Measures the throughput of one session: the bytes of all its segments, over the time in which any of them was under
/// way. Smaller resources measure latency rather than throughput. Audio is fetched beside video, and players request
/// several segments at once, so the rate of one fetch alone is too low.
@LoopActor final class SessionLink {
    private var estimate = ThroughputEstimate()
    private var fetches: [(fetch: Fetch, seen: Int64)] = []
    private var since = ContinuousClock.now
    /// Bytes per second; nil before the first measurement.
    var rate: Double? { estimate.rate }
    /// Bytes per second over the last second in which a segment was under way; nil before the first measurement.
    var recentRate: Double? { estimate.recentRate }

    func follow(_ fetch: Fetch) {
        guard case .segment = fetch.resource.name.role, fetch.outcome == nil,
            !fetches.contains(where: { $0.fetch === fetch })
        else { return }
        if fetches.isEmpty {
            since = .now
        } else {
            sample()
        }
        fetches.append((fetch, fetch.written))
        fetch.whenEnded { [weak self, weak fetch] _ in
            if let fetch {
                self?.ended(fetch)
            }
        }
    }

    /// Takes a sample before a segment is chosen. If there is no measurement yet, even a short sample is better than
    /// none, provided that it has enough bytes (Shaka Player's minBytes). libavformat requests the next segment while
    /// it still reads the current one.
    func sampleBeforeChoice() {
        if rate == nil, arrived >= Self.leastBytes {
            sample(isLast: true)
        }
    }

    private static let leastBytes: Int64 = 16_000
    private var arrived: Int64 { fetches.reduce(0) { $0 + max(0, $1.fetch.written - $1.seen) } }

    /// Takes a sample of the bytes since the previous one. Time without bytes counts towards the next sample.
    func sample(isLast: Bool = false) {
        let now = ContinuousClock.now
        let seconds = (now - since).inSeconds
        guard isLast || seconds >= ThroughputEstimate.shortest else { return }
        let bytes = arrived
        guard bytes > 0 else { return }
        for index in fetches.indices {
            fetches[index].seen = fetches[index].fetch.written
        }
        estimate.add(bytes, over: seconds)
        since = now
    }

    private func ended(_ fetch: Fetch) {
        sample(isLast: fetches.count == 1)
        // The bytes of a fetch that was too short for a sample count towards the next one.
        guard let index = fetches.firstIndex(where: { $0.fetch === fetch }) else { return }
        let left = fetch.written - fetches[index].seen
        fetches.remove(at: index)
        if let other = fetches.indices.first {
            fetches[other].seen -= left
        }
    }
}

/// Estimates a session's throughput for the next segment: the lowest of the rate in the last second and two
/// exponentially weighted averages, a fast one and a slow one. So the estimate falls within a second and rises
/// cautiously. The half-lives are the defaults of hls.js and Shaka Player. With these averages alone, a link that falls
/// from 40 Mb/s to 780 kb/s is overestimated by more than a factor of two for 17 s. Pure. A sample's weight is its
/// duration; the averages are corrected for their start at zero.
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
    static let lateness = 1.0

    /// Adds a sample of a time during which a fetch was always under way.
    mutating func add(_ bytes: Int64, over seconds: Double) {
        guard bytes > 0, seconds > 0 else { return }
        let seconds = max(seconds, Self.shortest)
        let rate = Double(bytes) / seconds
        let weight = max(seconds, Self.leastWeight)
        fast.add(rate, weighing: weight)
        slow.add(rate, weighing: weight)
        late.append((Double(bytes), seconds))
        while late.dropFirst().reduce(0, { $0 + $1.seconds }) >= Self.lateness {
            late.removeFirst()
        }
    }

    /// Bytes per second; nil before the first sample.
    var rate: Double? { recentRate.map { min($0, fast.value, slow.value) } }

    /// Bytes per second over the last second; nil before the first sample.
    var recentRate: Double? {
        guard !late.isEmpty else { return nil }
        return late.reduce(0) { $0 + $1.bytes } / late.reduce(0) { $0 + $1.seconds }
    }
}
