import EventLoop
import Fetching
import Library

/// Measures the throughput of one session: the bytes of all its segments, over the time in which any of them was under
/// way. Smaller resources measure latency rather than throughput.
///
/// Audio is fetched beside video, and players request several segments at once, so the rate of one fetch alone is too
/// low.
@LoopActor final class SessionLink {
    private var estimate = ThroughputEstimate()
    private var fetches: [(fetch: Fetch, seen: Int64)] = []
    private var since = ContinuousClock.now

    /// Bytes per second; nil before the first measurement.
    var rate: Double? { estimate.rate }
    /// Bytes per second over the last second in which a segment was under way; nil before the first measurement.
    var rateOfLate: Double? { estimate.rateOfLate }

    /// Counts the bytes that a fetch receives from now on.
    func follow(_ fetch: Fetch) {
        guard case .segment = fetch.resource.name.role, fetch.outcome == nil,
            !fetches.contains(where: { $0.fetch === fetch })
        else { return }
        if fetches.isEmpty { since = .now } else { sample() }
        fetches.append((fetch, fetch.written))
        fetch.whenEnded { [weak self, weak fetch] _ in
            if let fetch { self?.ended(fetch) }
        }
    }

    /// Takes a sample of the bytes since the previous one. Time without bytes counts towards the next sample.
    func sample() { sample(isLast: false) }

    /// Takes a sample before a segment is chosen. If there is no measurement yet, even a short sample is better than
    /// none, provided that it has enough bytes (Shaka Player's minBytes). libavformat requests the next segment while
    /// it still reads the current one.
    func sampleBeforeChoice() {
        if rate == nil, arrived >= Self.leastBytes { sample(isLast: true) }
    }

    private static let leastBytes: Int64 = 16_000

    /// Bytes that are not yet sampled.
    private var arrived: Int64 { fetches.reduce(0) { $0 + max(0, $1.fetch.written - $1.seen) } }

    private func sample(isLast: Bool) {
        let now = ContinuousClock.now
        let seconds = (now - since).inSeconds
        guard isLast || seconds >= ThroughputEstimate.shortest else { return }
        let bytes = arrived
        guard bytes > 0 else { return }
        for place in fetches.indices { fetches[place].seen = fetches[place].fetch.written }
        estimate.add(bytes, over: seconds)
        since = now
    }

    private func ended(_ fetch: Fetch) {
        sample(isLast: fetches.count == 1)
        // The bytes of a fetch that was too short for a sample count towards the next one.
        guard let place = fetches.firstIndex(where: { $0.fetch === fetch }) else { return }
        let left = fetch.written - fetches[place].seen
        fetches.remove(at: place)
        if let other = fetches.indices.first { fetches[other].seen -= left }
    }
}
