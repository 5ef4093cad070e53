import EventLoop
import Playheads

/// The clocks of all sessions.
@LoopActor struct SessionClock {
    private let playheads: PlayheadTracker
    private let wall: @Sendable () -> Double

    /// - Parameters:
    ///   - playheads: the tracker whose clock measures intervals, so that playheads and logs agree.
    ///   - wall: the time of day, in seconds since 1970 in UTC.
    init(_ playheads: PlayheadTracker, wall: @escaping @Sendable () -> Double) {
        (self.playheads, self.wall) = (playheads, wall)
    }

    /// The current time, for intervals.
    var instant: ContinuousClock.Instant { playheads.now() }

    /// The time of day, in seconds since 1970 in UTC.
    var date: Double { wall() }
}
