import EventLoop
import Library

/// The clocks that sessions go by.
@LoopActor struct SessionClock {
    private let audience: Audience
    private let wall: @Sendable () -> Double

    /// - Parameters:
    ///   - audience: whose clock measures intervals, so that playheads and logs agree.
    ///   - wall: the time of day, in seconds since 1970 in UTC.
    init(_ audience: Audience, wall: @escaping @Sendable () -> Double) {
        (self.audience, self.wall) = (audience, wall)
    }

    /// Now, for intervals.
    var instant: ContinuousClock.Instant { audience.now() }

    /// The time of day, in seconds since 1970 in UTC.
    var date: Double { wall() }
}
