/// Bounds a rate of bytes: they are counted when they have come, so what came too early is waited out afterwards.
///
/// Pure. What is not used within the depth's time is lost.
struct TokenBucket {
    /// Bytes a second, above 0.
    let rate: Double
    private var tokens: Double
    private var updated: ContinuousClock.Instant

    /// So many seconds' worth may come at once.
    private static let depth = 0.25

    init(rate: Int64, at now: ContinuousClock.Instant) {
        self.rate = Double(max(1, rate))
        tokens = self.rate * Self.depth
        updated = now
    }

    /// Takes so many bytes out, however few there are.
    mutating func take(_ bytes: Int, at now: ContinuousClock.Instant) {
        tokens = min(rate * Self.depth, tokens + rate * seconds(until: now)) - Double(bytes)
        updated = now
    }

    /// How long nothing more may come; nil if something may now.
    func wait(at now: ContinuousClock.Instant) -> Duration? {
        let tokens = tokens + rate * seconds(until: now)
        // Half of the depth, so that what waits goes on for a while when it does.
        return tokens > 0 ? nil : .seconds((rate * Self.depth / 2 - tokens) / rate)
    }

    private func seconds(until now: ContinuousClock.Instant) -> Double { (now - updated) / .seconds(1) }
}
