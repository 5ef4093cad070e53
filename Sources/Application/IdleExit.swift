internal import EventLoop

/// Decides when a daemon has had nothing to do for so long that it ends.
struct IdleClock {
    let limit: Duration
    private var since: ContinuousClock.Instant
    private var connections = 0

    init(limit: Duration, now: ContinuousClock.Instant) { (self.limit, since) = (limit, now) }

    /// Records the state at a moment, and returns true if the limit is reached.
    ///
    /// - Parameters:
    ///   - isBusy: true while something plays, downloads, records, waits or is connected.
    ///   - connections: the number of connections since the start. A new one counts as work, however short it was.
    mutating func isOver(isBusy: Bool, connections: Int, now: ContinuousClock.Instant) -> Bool {
        let isIdle = !isBusy && connections == self.connections
        if !isIdle { (since, self.connections) = (now, connections) }
        // Without work no look is needed before the limit; after some, the next one finds when it ended.
        pause = isIdle ? limit - (now - since) : max(.milliseconds(100), limit / 10)
        return now - since >= limit
    }

    /// Time until the next look.
    private(set) var pause = Duration.zero
}

extension Daemon {
    /// Returns when the daemon has had nothing to do for a time, or when the task is cancelled.
    func idle(for limit: Duration) async {
        var clock = IdleClock(limit: limit, now: .now)
        while !Task.isCancelled {
            if clock.isOver(isBusy: isBusy, connections: connections, now: .now) { return }
            try? await LoopActor.pause(for: clock.pause)
        }
    }
}
