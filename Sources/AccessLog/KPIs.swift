/// Key performance indicators of some sessions: formulas over their access log events i. An indicator that would divide
/// by 0 is absent. Pure.
package struct KPIs: Codable, Equatable, Sendable {
    package var sessions = 0
    /// Σ watchedᵢ: media time, in seconds.
    package var watched = 0.0
    /// The mean `startup` of the sessions' first events, in seconds.
    package var startup: Double?
    /// Σ stallsᵢ.
    package var stalls = 0
    /// Σ stallTimeᵢ, in seconds.
    package var stallTime = 0.0
    /// Σ stallTimeᵢ / (Σ watchedᵢ + Σ stallTimeᵢ): the share of playback time spent in stalls, 0 to 1.
    package var stallRatio: Double?
    /// Σ framesDroppedᵢ over the events whose player reported it; absent if none did.
    package var framesDropped: Int?
    /// Number of changes of variant within a session.
    package var switches = 0
    /// Σ (indicatedᵢ · watchedᵢ) / Σ watchedᵢ over the events with an indicated bit rate, in bits per second.
    package var indicated: Double?
    /// Σ bits / Σ seconds of all pieces that came from origins, in bits per second.
    package var observed: Double?
    /// The slowest of these pieces, in bits per second.
    package var observedMinimum: Double?
    /// The fastest of these pieces, in bits per second.
    package var observedMaximum: Double?
    /// The standard deviation of these pieces' rates, each counted once.
    package var observedDeviation: Double?
    package var bytes: Int64 = 0
    /// Σ storeᵢ / Σ bytesᵢ: the share of bytes that came from the store, 0 to 1.
    package var storeShare: Double?

    package init(_ events: [AccessEvent]) {
        let bySession = Dictionary(grouping: events, by: \.guid).mapValues { $0.sorted { $0.number < $1.number } }
        sessions = bySession.count
        watched = events.reduce(0) { $0 + $1.watched }
        stalls = events.reduce(0) { $0 + $1.stalls }
        stallTime = events.reduce(0) { $0 + $1.stallTime }
        let dropped = events.compactMap(\.framesDropped)
        if !dropped.isEmpty {
            framesDropped = dropped.reduce(0, +)
        }
        stallRatio = Self.ratio(stallTime, watched + stallTime)
        let starts = bySession.values.compactMap { events -> Double? in
            guard let first = events.first, first.number == 0 else { return nil }
            return first.startup
        }
        startup = Self.ratio(starts.reduce(0, +), Double(starts.count))
        switches = bySession.values.reduce(0) { $0 + Self.switches($1) }
        computeRates(events)
    }

    private mutating func computeRates(_ events: [AccessEvent]) {
        let rated = events.filter { $0.indicated != nil }
        let weighted = rated.reduce(0) { $0 + Double($1.indicated ?? 0) * $1.watched }
        indicated = Self.ratio(weighted, rated.reduce(0) { $0 + $1.watched })
        let rates = events.reduce(into: ObservedRate()) { $0.add($1.observed) }
        observed = rates.bitsPerSecond
        observedMinimum = rates.slowest
        observedMaximum = rates.fastest
        observedDeviation = rates.deviation
        let sent = events.reduce(SourceBytes()) { $0 + $1.bytes }
        bytes = sent.all
        storeShare = Self.ratio(Double(sent.store), Double(sent.all))
    }

    private static func switches(_ events: [AccessEvent]) -> Int {
        zip(events, events.dropFirst()).count { before, after in
            after.number == before.number + 1 && before.uri != nil && after.uri != nil && before.uri != after.uri
        }
    }

    private static func ratio(_ part: Double, _ whole: Double) -> Double? {
        guard whole > 0 else { return nil }
        return part / whole
    }
}
