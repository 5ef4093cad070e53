import EventLoop
import Library

/// What the link gives one session: the bytes of all its segments, in the time in which any was under way. What is
/// smaller says more of latency.
///
/// Sound comes beside pictures, and players ask for several segments at once: what one of them gets alone says too
/// little.
@LoopActor final class SessionLink {
    private var estimate = ThroughputEstimate()
    private var flights: [(flight: Flight, seen: Int64)] = []
    private var since = ContinuousClock.now

    /// Bytes a second; nil before anything came.
    var rate: Double? { estimate.rate }
    /// Bytes a second of late: what came in the last second in which any was under way; nil before anything came.
    var rateOfLate: Double? { estimate.rateOfLate }

    /// Counts what a flight brings from now on.
    func follow(_ flight: Flight) {
        guard case .segment = flight.resource.name.role, flight.outcome == nil,
            !flights.contains(where: { $0.flight === flight })
        else { return }
        if flights.isEmpty { since = .now } else { sample() }
        flights.append((flight, flight.written))
        flight.whenEnded { [weak self, weak flight] _ in
            if let flight { self?.ended(flight) }
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
    private var arrived: Int64 { flights.reduce(0) { $0 + max(0, $1.flight.written - $1.seen) } }

    private func sample(isLast: Bool) {
        let now = ContinuousClock.now
        let seconds = (now - since).inSeconds
        guard isLast || seconds >= ThroughputEstimate.shortest else { return }
        let bytes = arrived
        guard bytes > 0 else { return }
        for place in flights.indices { flights[place].seen = flights[place].flight.written }
        estimate.add(bytes, over: seconds)
        since = now
    }

    private func ended(_ flight: Flight) {
        sample(isLast: flights.count == 1)
        // What it brought in too short a time to be counted is counted with the others.
        guard let place = flights.firstIndex(where: { $0.flight === flight }) else { return }
        let left = flight.written - flights[place].seen
        flights.remove(at: place)
        if let other = flights.indices.first { flights[other].seen -= left }
    }
}
