internal import EventLoop
internal import HTTPServer

/// Decides when a daemon has had nothing to do for so long that it ends.
struct IdleClock {
    /// A player that has neither read nor asked for anything for so long will not be continued: it keeps no daemon.
    static let longestPause = Duration.seconds(12 * 3600)
    let limit: Duration
    private var since: ContinuousClock.Instant
    private var connections = 0

    init(limit: Duration, now: ContinuousClock.Instant) {
        self.limit = limit
        since = now
    }

    /// Records the state at a moment, and returns true if the limit is reached.
    ///
    /// - Parameters:
    ///   - isBusy: true while something plays, downloads, records, waits or is connected.
    ///   - connections: the number of connections since the start. A new one counts as work, however short it was.
    mutating func isOver(isBusy: Bool, connections: Int, now: ContinuousClock.Instant) -> Bool {
        isIdle = !isBusy && connections == self.connections
        if !isIdle {
            since = now
            self.connections = connections
        }
        return now - since >= limit
    }

    /// True if the last look found no work since the one before it.
    private(set) var isIdle = false

    /// Time until the next look. Without work it is the rest of the limit, and the caller ends it at the next connection.
    func pause(now: ContinuousClock.Instant) -> Duration {
        guard !isIdle else { return limit - (now - since) }
        return min(.seconds(15), max(.milliseconds(100), limit / 10))
    }
}

extension RunningDaemon {
    /// Returns when the daemon has had nothing to do for a time, or when the task is cancelled.
    func idle(for limit: Duration) async {
        var clock = IdleClock(limit: limit, now: .now)
        defer { pool.whenConnected = nil }
        while !Task.isCancelled, !clock.isOver(isBusy: isBusy, connections: connections, now: .now) {
            let time = clock.pause(now: .now)
            let pause = Task { _ = try? await LoopActor.pause(for: time) }
            pool.whenConnected = nil
            if clock.isIdle {
                pool.whenConnected = { pause.cancel() }
            }
            await withTaskCancellationHandler {
                await pause.value
            } onCancel: {
                pause.cancel()
            }
        }
    }
}
