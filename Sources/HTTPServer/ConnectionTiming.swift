/// Which deadline a connection is under, counted in ticks of the server's coarse timer. Pure.
///
/// A deadline is only looked at once a tick, so neither a request nor a reply costs a timer of its own.
struct ConnectionTiming {
    /// What the connection is waiting for.
    enum Phase: Equatable {
        /// The first byte of a request, or the rest of a body.
        case idle
        /// The rest of a head.
        case head
        /// Us: a handler or a body that grows. No deadline.
        case handler
        /// The client, to take bytes.
        case drain
        /// The client, to close.
        case linger
    }

    /// The configuration's limits in whole ticks, rounded up.
    struct Limits {
        let head: Int
        let idle: Int
        let write: Int
        let linger: Int

        init(_ configuration: HTTPServer.Configuration) {
            let tick = configuration.tick
            func ticks(_ duration: Duration) -> Int { max(1, Int((duration / tick).rounded(.up))) }
            head = ticks(configuration.headTimeout)
            idle = ticks(configuration.idleTimeout)
            write = ticks(configuration.writeTimeout)
            linger = ticks(configuration.lingerTimeout)
        }
    }

    private(set) var phase = Phase.idle
    /// The tick at which the phase began, or at which the client last took something.
    private(set) var since: Int
    private var queued = 0

    init(now: Int) {
        since = now
    }

    /// Enters a phase; entering the same phase again does not put its deadline off.
    mutating func enter(_ phase: Phase, now: Int) {
        guard phase != self.phase else { return }
        self.phase = phase
        since = now
    }

    /// Begins the wait for the next request anew.
    mutating func restart(now: Int) {
        phase = .idle
        since = now
    }

    /// Notes how many bytes still wait for the client: a change is progress.
    mutating func noteQueued(_ count: Int, now: Int) {
        if count != queued { since = now }
        queued = count
    }

    /// Whether the deadline of the phase has passed.
    func isOverdue(now: Int, limits: Limits) -> Bool {
        let limit: Int
        switch phase {
        case .handler: return false
        case .idle: limit = limits.idle
        case .head: limit = limits.head
        case .drain: limit = limits.write
        case .linger: limit = limits.linger
        }
        return now - since > limit
    }
}
