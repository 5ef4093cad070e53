import Synchronization

/// A clock that a test advances.
package final class TestClock: Sendable {
    private struct State {
        var advance = 0.0
        /// A date, in seconds since 1970 (UTC), and the clock's time at that date: 2026-11-21T12:00:00Z at the start.
        var known = (date: 20_778 * 86_400.0 + 43_200, time: 0.0)
    }

    private let state = Mutex(State())
    private let start = ContinuousClock.now
    private let isRunning: Bool

    /// - Parameter isRunning: true for a clock that also goes on by itself.
    package init(isRunning: Bool = false) {
        self.isRunning = isRunning
    }

    /// Seconds since the start.
    package var time: Double {
        let passed = isRunning ? (ContinuousClock.now - start) / .seconds(1) : 0
        return passed + state.withLock { $0.advance }
    }

    /// The current time of the monotonic clock.
    package var instant: ContinuousClock.Instant { start + .seconds(time) }
    /// The current date with its fraction, in seconds since 1970 (UTC).
    package var exactDate: Double {
        let known = state.withLock { $0.known }
        return known.date + (time - known.time)
    }

    /// The current date, in seconds since 1970 (UTC). A new date leaves the monotonic clock alone, as a correction of a computer's
    /// date does.
    package var date: Int64 {
        get { Int64(exactDate) }
        set {
            let time = time
            state.withLock { $0.known = (Double(newValue), time) }
        }
    }

    package func advance(by seconds: Double) {
        state.withLock { $0.advance += seconds }
    }
}
