/// The deadline of a connection, counted in ticks of the server's coarse timer. Pure.
/// Deadlines are checked once per tick, so neither a request nor a reply needs its own timer.
struct ConnectionTiming {
    enum Phase: Equatable {
        case idle
        /// The rest of a head.
        case head
        /// A handler or a growing body. No deadline.
        case handler
        /// A reply waits for the client to read. A client without a limit may be paused for as long as it likes.
        case drain(isLimited: Bool)
        case linger
    }

    /// The configuration's limits in whole ticks, rounded up.
    struct Limits {
        let head, idle, write, linger, grace: Int

        init(_ configuration: WebServer.Configuration) {
            let tick = configuration.tick
            func ticks(_ duration: Duration) -> Int { max(1, Int((duration / tick).rounded(.up))) }
            head = ticks(configuration.headTimeout)
            idle = ticks(configuration.idleTimeout)
            write = ticks(configuration.writeTimeout)
            linger = ticks(configuration.lingerTimeout)
            grace = ticks(min(FairShare.grace, configuration.headTimeout))
        }
    }

    private(set) var phase = Phase.idle
    /// The tick at which the phase began or the client last made progress.
    private(set) var since: Int
    private var queued = 0
    init(now: Int) { since = now }

    /// Enters a phase. Re-entering the current phase does not extend its deadline.
    mutating func enter(_ phase: Phase, now: Int) {
        guard phase != self.phase else { return }
        self.phase = phase
        since = now
    }

    mutating func restart(now: Int) {
        phase = .idle
        since = now
    }

    /// True while a reply waits for the client to read.
    var isDraining: Bool {
        guard case .drain = phase else { return false }
        return true
    }

    /// Records the number of queued bytes. Returns true if it has changed, which is progress.
    mutating func recordQueued(_ count: Int, now: Int) -> Bool {
        guard count != queued else { return false }
        queued = count
        since = now
        return true
    }

    /// Records that the client has read everything queued: the next queue may have the same length.
    mutating func recordProgress(now: Int) {
        if isDraining {
            since = now
        }
    }

    /// True if the client has made no progress for the span after which others have a better right to the connection.
    func isStale(now: Int, limits: Limits) -> Bool { now - since >= limits.grace }

    /// True if the client has neither sent nor read anything for a number of ticks, though nothing but the client is waited for.
    func isSilent(for ticks: Int, now: Int) -> Bool {
        switch phase {
        case .handler: false
        case .idle, .head, .drain, .linger: now - since >= ticks
        }
    }

    func isOverdue(now: Int, limits: Limits) -> Bool {
        let limit: Int
        switch phase {
        case .handler, .drain(isLimited: false): return false
        case .idle: limit = limits.idle
        case .head: limit = limits.head
        case .drain(isLimited: true): limit = limits.write
        case .linger: limit = limits.linger
        }
        return now - since > limit
    }
}
