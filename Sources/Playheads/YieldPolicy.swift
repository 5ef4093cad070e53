public import EventLoop

/// The transfers that yield: a client with its background share of the link.
@LoopActor public protocol BackgroundTransfers: AnyObject {
    /// Bytes received since the start, by all transfers together.
    var receivedBytes: Int64 { get }
    /// The share of the link that background transfers may take.
    var allowance: BackgroundAllowance { get set }
}

/// Lets background transfers yield to players: measures the link, asks `YieldPolicy`, and sets the allowance.
///
/// Does nothing while no session draws from an origin.
@LoopActor public final class BackgroundYield {
    private let transfers: any BackgroundTransfers
    private let tracker: PlayheadTracker
    private var waits: Subscription?
    private var policy = YieldPolicy()
    private var meter = LinkMeter()
    private var timer: LoopTimer?
    private var isTicking = false
    /// True if a session has waited since the last tick.
    private var wasWaiting = false
    private static let tick = Duration.milliseconds(200)

    /// Begins to yield to the sessions of a tracker.
    public init(_ tracker: PlayheadTracker, _ transfers: any BackgroundTransfers) {
        self.transfers = transfers
        self.tracker = tracker
        timer = LoopTimer { [weak self] in self?.ticked() }
        waits = tracker.originWaits.subscribe { [weak self] in self?.update() }
    }

    private func ticked() {
        isTicking = false
        meter.record(transfers.receivedBytes, isBusy: wasWaiting, at: .now)
        update()
    }

    private func update() {
        let now = ContinuousClock.now
        let (waiting, isWatched) = tracker.demands(at: now)
        let allowance = policy.allowance(for: waiting, isWatched: isWatched, link: meter.rate, at: now)
        wasWaiting = !waiting.isEmpty
        let before = transfers.allowance
        transfers.allowance = allowance
        // Bytes that a pause has left in this machine's buffers come faster than over the link.
        if allowance.rate != before.rate || allowance.rate ?? 0 > 0 {
            meter.skip()
        }
        guard isWatched || allowance != .full else { return meter.skip() }
        if !isTicking {
            isTicking = true
            timer?.schedule(after: Self.tick)
        }
    }
}

/// Measures the capacity of the link to the origins. Pure. A low rate while nothing more was requested says nothing about
/// the link, so only the highest recent rate counts, as in BBR (draft-ietf-ccwg-bbr, "MaxBwFilter").
struct LinkMeter {
    private var peaks: [(at: ContinuousClock.Instant, rate: Double)] = []
    private var last: (at: ContinuousClock.Instant, bytes: Int64)?
    /// Lifetime of a rate, and its lifetime while the link is busy and slower.
    private static let span = Duration.seconds(10)
    private static let busySpan = Duration.seconds(3)
    /// A rate is measured over at least this time.
    static let shortest = Duration.milliseconds(400)

    /// Records the number of bytes received since the start, by all transfers together. `isBusy` is true if more was
    /// requested all the time, so that the rate is the link's own and older, higher rates may be outdated.
    mutating func record(_ bytes: Int64, isBusy: Bool, at now: ContinuousClock.Instant) {
        guard let last else { return self.last = (now, bytes) }
        guard now - last.at >= Self.shortest else { return }
        let rate = Double(bytes - last.bytes) / (now - last.at).inSeconds
        self.last = (now, bytes)
        let span = isBusy ? Self.busySpan : Self.span
        peaks.removeAll { now - $0.at > span || $0.rate <= rate }
        if rate > 0 {
            peaks.append((now, rate))
        }
    }

    /// Begins a new measurement after bytes that have waited on this machine: their rate is not the link's.
    mutating func skip() { last = nil }

    /// Bytes per second; nil before the first measurement.
    var rate: Double? { peaks.first?.rate }
}

/// Decides how much of the link background transfers may take while sessions draw from it.
///
/// Pure. Two published ideas:
///
/// - Less than best effort (RFC 6297; LEDBAT, RFC 6817): background transfers take what players leave, stop at once when
///   a player needs the link, and add no more than a bounded delay to the bottleneck's queue.
/// - Buffer thresholds (BBA: Huang et al., "A Buffer-Based Approach to Rate Adaptation", SIGCOMM 2014): below a
///   *reservoir* of buffered media nothing is risked; in a *cushion* above it the rate grows with the buffer.
///
/// Only sessions that wait for bytes from an origin count: any other has all that it needs, is paused or is gone. In the
/// reservoir, background transfers stop. In the cushion they get a share, in proportion to the buffer, of the rate that
/// the sessions do not consume. Above it they get the whole link. The reservoir grows with the share of the link that the
/// media needs: on a link that is a hundred times as fast as the media, playback delays no download.
struct YieldPolicy {
    struct Demand {
        /// In seconds.
        var buffer: Double
        /// Consumption, in bytes per second of media.
        var rate: Double
        var segment: Double
    }

    private enum Level: Int, Comparable {
        case stopped, bounded, full
        static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    private var level = Level.full
    private var since: ContinuousClock.Instant?
    /// A higher level counts after this time, so that a player's next segment finds the link as the last one left it.
    private static let calm = Duration.milliseconds(600)
    /// Length of the reservoir, in transfer times of a segment; and upper end of the cushion, in reservoirs.
    private static let reserve = 2.0
    private static let cushion = 3.0
    /// A segment counts as at least this long, in seconds: each request has a cost of its own.
    private static let shortestSegment = 4.0
    /// Limit of the queue at the bottleneck, in seconds of the link. LEDBAT allows 0.1; this bounds a window, which must
    /// also cover the round trip of a slow link.
    private static let queue = 0.5
    /// Transfers at once while sessions draw: each has a window.
    private static let slots = 2
    /// A rate below this, in bytes per second, is not worth a transfer: a few packets a second.
    private static let smallest: Int64 = 4 << 10

    /// The limits of background transfers from now on.
    /// - Parameters:
    ///   - waiting: the demands of the sessions that wait for bytes from an origin.
    ///   - isWatched: true if a session draws from an origin, waiting or not.
    ///   - link: capacity of the link in bytes per second; nil before that is known.
    mutating func allowance(
        for waiting: [Demand], isWatched: Bool, link: Double?, at now: ContinuousClock.Instant
    ) -> BackgroundAllowance {
        let share = Self.share(for: waiting, link: link)
        let wanted: Level =
            switch share {
            case ...0: .stopped
            case ..<1: .bounded
            default: .full
            }
        change(to: wanted, at: now)
        guard isWatched || level < .full else { return .full }

        switch level {
        case .stopped: return .nothing
        case .full: return BackgroundAllowance(window: Self.window(link), slots: Self.slots)
        case .bounded:
            let spare = (link ?? 0) - waiting.reduce(0) { $0 + $1.rate }
            let rate = Int64(max(0, spare * min(share, 1)))
            if rate < Self.smallest {
                return .nothing
            }
            return BackgroundAllowance(rate: rate, window: Self.window(link), slots: Self.slots)
        }
    }

    /// Changes the level: to a lower one at once, to a higher one after `calm`.
    private mutating func change(to wanted: Level, at now: ContinuousClock.Instant) {
        guard wanted > level else {
            level = wanted
            since = nil
            return
        }
        guard let since else { return since = now }
        if now - since >= Self.calm {
            level = wanted
            self.since = nil
        }
    }

    /// 0 if any session is in its reservoir, 1 if all are above their cushions.
    private static func share(for waiting: [Demand], link: Double?) -> Double {
        guard let link, link > 0 else { return waiting.isEmpty ? 1 : 0 }
        let load = waiting.reduce(0) { $0 + $1.rate } / link
        let shares = waiting.map { session in
            let reservoir = reserve * max(session.segment, shortestSegment) * load
            return (session.buffer - reservoir) / max(reservoir * (cushion - 1), 0.001)
        }
        return min(max(shares.min() ?? 1, 0), 1)
    }

    private static func window(_ link: Double?) -> Int64? {
        link.map { max(BackgroundAllowance.smallestWindow, Int64($0 * queue)) }
    }
}
