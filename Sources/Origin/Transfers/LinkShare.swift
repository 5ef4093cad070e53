import EventLoop

/// Decides when background transfers pause, and how much every transfer may have under way. Pure.
///
/// `OriginClient` reports the bytes that arrive, and holds its transfers back as this says, in each of its turns while `isLimiting`.
struct LinkShare {
    /// How the transfers are held back for now.
    struct Hold: Equatable {
        /// Holds back background transfers. All others go on.
        var background: Transfer.Hold
        /// The time until the background may go on; nil if it may now, or if only a change of the allowance ends its pause.
        var wait: Duration?
        /// Bytes that all background transfers may have under way together; nil for no limit.
        var window: Int64?
        /// Bytes that each transfer for a player may have under way; nil for no limit.
        var playerWindow: Int?

        /// The window of each of so many background transfers.
        func window(amongst count: Int) -> Int? {
            guard let window else { return nil }
            return Int(window) / max(1, count)
        }
    }

    /// The share that players leave to background transfers.
    private(set) var allowance = BackgroundAllowance.full
    /// Received body bytes.
    private(set) var traffic = OriginClient.Traffic()
    /// True if transfers are held back, or were until a moment ago.
    private(set) var isLimiting = false
    private var rate: BackgroundRate
    private var windows = WindowLimiter()

    /// - Parameter rate: the user's limit of background transfers, in bytes per second; nil for none.
    init(backgroundRate rate: Int64?, at now: ContinuousClock.Instant) {
        usersRate = rate
        self.rate = BackgroundRate(users: rate, at: now)
        isLimiting = self.rate.isLimitedByUser
    }

    /// The user's limit of background transfers, in bytes per second; nil for none.
    private(set) var usersRate: Int64?

    /// Sets the user's limit.
    mutating func limit(to rate: Int64?, at now: ContinuousClock.Instant) {
        usersRate = rate
        self.rate = BackgroundRate(users: rate, at: now)
        self.rate.leave(allowance.rate, at: now)
        isLimiting = true
    }

    /// True if neither the user nor a player limits background transfers.
    private var isUnlimited: Bool { allowance == .full && !rate.isLimitedByUser }

    /// The bounds on each connection of a background transfer; nil without the user's limit.
    var bounds: ConnectionBounds? { rate.bounds }

    /// True if background transfers have to pause.
    /// - Parameter uncounted: bytes that have arrived, of which `count` was not told yet.
    func isAheadOfRate(after uncounted: Int, at now: ContinuousClock.Instant) -> Bool {
        rate.isLimited && rate.wait(at: now, after: uncounted) != nil
    }

    /// The number of background transfers at one host; nil for no limit.
    var backgroundSlots: Int? { Self.lesser(allowance.slots, rate.slots) }

    /// True if a background transfer may be a stream of a connection that others use. One that has to pause has a connection of its
    /// own, which holds it back.
    var mayShareConnections: Bool { isUnlimited && !windows.isSlow }

    /// Sets the share that players leave. Returns false if it is the same as before.
    mutating func leave(_ new: BackgroundAllowance, at now: ContinuousClock.Instant) -> Bool {
        guard new != allowance else { return false }
        allowance = new
        rate.leave(new.rate, at: now)
        isLimiting = true
        return true
    }

    /// Records the setup time of a new connection.
    mutating func recordConnection(in time: Duration) { windows.connected(in: time) }

    /// Counts received bytes. Returns true if transfers may have to be held back for it.
    mutating func count(
        _ bytes: Int, for priority: OriginRequest.Priority, at now: ContinuousClock.Instant
    ) -> Bool {
        switch priority {
        case .playback: traffic.playback += Int64(bytes)
        case .background: traffic.background += Int64(bytes)
        }

        var isNews = false
        let all = traffic.playback + traffic.background
        if windows.record(all, at: now), windows.window != nil || isLimiting {
            isLimiting = true
            isNews = true
        }
        if priority == .background, rate.isLimited {
            rate.consume(bytes, at: now)
            isNews = isNews || rate.wait(at: now) != nil
        }
        return isNews
    }

    /// Decides how transfers are held back from now on. Ends `isLimiting` if none is.
    mutating func hold(at now: ContinuousClock.Instant) -> Hold {
        let widest = windows.window
        let left = allowance.window ?? widest
        var hold = Hold(background: .none, window: Self.lesser(left, rate.window))
        if let widest {
            hold.playerWindow = Int(widest)
        }
        if rate.isLimited {
            hold.wait = rate.wait(at: now)
        }
        if allowance.rate == 0 {
            hold.background = .long
        } else if hold.wait != nil {
            hold.background = .brief
        }
        isLimiting = !isUnlimited || widest != nil
        return hold
    }

    /// The lesser of two limits; nil stands for no limit.
    private static func lesser<Limit: Comparable>(_ one: Limit?, _ other: Limit?) -> Limit? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }
}
