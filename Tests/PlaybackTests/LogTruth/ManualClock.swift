import Synchronization

/// A clock that a test advances, for all session measurements.
final class ManualClock: Sendable {
    private let elapsed = Mutex(0.0)
    private let start = ContinuousClock.now
    /// 2026-11-21T12:00:00Z.
    static let beginning = 20_778 * 86_400.0 + 43_200

    /// For how long it has run, in seconds.
    var time: Double { elapsed.withLock { $0 } }
    /// Now, as intervals are measured.
    var instant: ContinuousClock.Instant { start + .seconds(time) }
    /// Now, by the calendar: seconds since 1970 in UTC.
    var date: Double { Self.beginning + time }

    /// Advances the clock by some seconds.
    func advance(by seconds: Double) { elapsed.withLock { $0 += seconds } }
}
