import Synchronization

/// A clock that a test advances, for all measurements of sessions.
final class ManualClock: Sendable {
    private let elapsed = Mutex(0.0)
    private let start = ContinuousClock.now
    /// 2026-11-21T12:00:00Z.
    static let beginning = 20_778 * 86_400.0 + 43_200

    /// Seconds since the start.
    var time: Double { elapsed.withLock { $0 } }
    /// The current time of the monotonic clock.
    var instant: ContinuousClock.Instant { start + .seconds(time) }
    /// The current date, in seconds since 1970 (UTC).
    var date: Double { Self.beginning + time }

    func advance(by seconds: Double) { elapsed.withLock { $0 += seconds } }
}
