/// Measures bytes per second over the last few seconds.
struct TransferRate: Sendable {
    private var samples: [(at: ContinuousClock.Instant, bytes: Int64)] = []
    private static let span = Duration.seconds(5)

    /// Records bytes that have just arrived.
    mutating func add(_ bytes: Int64, at now: ContinuousClock.Instant) {
        // Small pieces in quick succession form one sample.
        if let last = samples.last, now - last.at < .milliseconds(20) {
            samples[samples.count - 1].bytes += bytes
            return
        }
        samples.append((now, bytes))
        if let first = samples.first, now - first.at > Self.span * 2 { samples.removeAll { now - $0.at > Self.span } }
    }

    /// Returns the rate; nil before the first sample.
    func bytesPerSecond(at now: ContinuousClock.Instant) -> Double? {
        let recent = samples.filter { now - $0.at <= Self.span }
        guard let first = recent.first else { return nil }
        let elapsed = max((now - first.at) / .seconds(1), 0.25)
        return Double(recent.reduce(0) { $0 + $1.bytes }) / elapsed
    }
}
