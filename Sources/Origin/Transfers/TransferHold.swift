import EventLoop

/// Decides how one transfer is held back for others, and measures for how long it was. Pure.
struct TransferHold {
    /// The request as it is at the moment.
    struct Request {
        /// True if it may share its connection, so that the connection cannot pause.
        var mayBeMultiplexed = false
        var isPaused = false
        /// See `Transfer.isContinuable`.
        var isContinuable = false
        /// See `Transfer.mayStop`.
        var mayStop = false
        /// See `TransferUrgency`.
        var isAbandoned = false
        var mayTrail = false
    }

    enum Step: Equatable {
        case none
        /// Stop the request. Its bytes are continued by Range once it may go on.
        case stop
        /// Decide again after this time.
        case wait(Duration)
        /// Limit the connection's window, lend or reclaim its slot, and pause or resume the body.
        case limit(window: Int?, lendsSlot: Bool, isPaused: Bool)
    }

    /// True if it was paused or limited.
    private var isHeldBack = false
    private var pausedSince: ContinuousClock.Instant?
    /// The paused time within the watchdog's current span.
    private var paused = Duration.zero
    /// The time of the first hold that still lasts; nil without one.
    private var yieldingSince: ContinuousClock.Instant?
    /// A player that opens a film asks for the segment next that its download is fetching.
    static let yieldDelay = Duration.milliseconds(500)

    /// - Parameter window: bytes that may be under way; nil for the system's default.
    mutating func apply(
        _ hold: Transfer.Hold, window: Int?, to request: Request, now: ContinuousClock.Instant
    ) -> Step {
        isHeldBack = hold != .none || window != nil
        if request.mayBeMultiplexed {
            return yield(to: hold, request, now: now)
        }
        // Bytes that the origin may still send into the window would delay those for which a player waits.
        if hold == .long, request.isAbandoned, request.isContinuable {
            return .stop
        }
        let smallest = Int(BackgroundAllowance.smallestWindow)
        var limit: Int?
        if let window {
            limit = request.mayTrail ? smallest : max(window, smallest)
        }
        let isPaused = hold != .none
        if isPaused != request.isPaused {
            recordPause(isPaused, now: now)
        }
        return .limit(window: limit, lendsSlot: hold == .long, isPaused: isPaused)
    }

    /// The request pauses by itself, because what has arrived is all that the rate allows. `apply` resumes it.
    mutating func pauseAtRate(now: ContinuousClock.Instant) {
        isHeldBack = true
        recordPause(true, now: now)
    }

    /// True if this changes something. Nearly all transfers are never held back, and each turn of the client looks at all of them.
    func isNeeded(_ hold: Transfer.Hold, window: Int?) -> Bool { hold != .none || window != nil || isHeldBack }

    /// Stops a request that shares its connection, if that loses little.
    private mutating func yield(
        to hold: Transfer.Hold, _ request: Request, now: ContinuousClock.Instant
    ) -> Step {
        switch hold {
        case .none:
            yieldingSince = nil
            return .none
        case .brief where !request.isContinuable: return .none
        case .brief, .long: break
        }
        guard request.mayStop else { return .none }
        let since = yieldingSince ?? now
        yieldingSince = since
        let left = Self.yieldDelay - (now - since)
        guard left > .zero else { return .stop }
        return .wait(left)
    }

    // MARK: Paused time

    /// Begins a span of the watchdog.
    /// - Parameter isOnTheWire: true if a pause goes on in it.
    mutating func beginSpan(isOnTheWire: Bool, now: ContinuousClock.Instant) {
        recordPause(pausedSince != nil && isOnTheWire, now: now)
        paused = .zero
    }

    /// The time for which the request was paused since the span began, or since the last call.
    mutating func takePausedTime(now: ContinuousClock.Instant) -> Duration {
        recordPause(pausedSince != nil, now: now)
        let time = paused
        paused = .zero
        return time
    }

    /// The request has ended.
    mutating func end() {
        pausedSince = nil
        yieldingSince = nil
    }

    private mutating func recordPause(_ isPaused: Bool, now: ContinuousClock.Instant) {
        if let pausedSince {
            paused += now - pausedSince
        }
        pausedSince = isPaused ? now : nil
    }
}
