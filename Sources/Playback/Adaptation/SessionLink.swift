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

    private func sample(isLast: Bool) {
        let now = ContinuousClock.now
        let seconds = (now - since).inSeconds
        guard isLast || seconds >= ThroughputEstimate.shortest else { return }
        var bytes: Int64 = 0
        for place in flights.indices {
            bytes += max(0, flights[place].flight.written - flights[place].seen)
            flights[place].seen = flights[place].flight.written
        }
        guard bytes > 0 else { return }
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
