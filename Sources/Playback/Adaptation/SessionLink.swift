import EventLoop
import Fetching
import Library

/// What the link gives one session: the bytes of all its segments, in the time in which any was under way. What is
/// smaller says more of latency.
///
/// Sound comes beside pictures, and players ask for several segments at once: what one of them gets alone says too
/// little.
@LoopActor final class SessionLink {
    private var estimate = ThroughputEstimate()
    private var fetches: [(fetch: Fetch, seen: Int64)] = []
    private var since = ContinuousClock.now

    /// Bytes a second; nil before anything came.
    var rate: Double? { estimate.rate }
    /// Bytes a second of late: what came in the last second in which any was under way; nil before anything came.
    var rateOfLate: Double? { estimate.rateOfLate }

    /// Counts what a fetch brings from now on.
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

    /// Takes what has come since this was last done. Time in which nothing came counts with what comes after it.
    func sample() { sample(isLast: false) }

    /// The same before a segment is chosen: where nothing is known yet, what came in a short time is better than that,
    /// if it is no mere beginning (Shaka Player's minBytes). libavformat asks for the next segment while it reads one.
    func sampleBeforeChoice() {
        if rate == nil, arrived >= Self.leastBytes { sample(isLast: true) }
    }

    private static let leastBytes: Int64 = 16_000

    /// The bytes that are not counted yet.
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
        // What it brought in too short a time to be counted is counted with the others.
        guard let place = fetches.firstIndex(where: { $0.fetch === fetch }) else { return }
        let left = fetch.written - fetches[place].seen
        fetches.remove(at: place)
        if let other = fetches.indices.first { fetches[other].seen -= left }
    }
}
