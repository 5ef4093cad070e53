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
        if allowance.rate != before.rate || allowance.rate ?? 0 > 0 { meter.skip() }
        guard isWatched || allowance != .full else { return meter.skip() }
        if !isTicking {
            isTicking = true
            timer?.schedule(after: Self.tick)
        }
    }
}

/// Measures the capacity of the link to the origins: the windowed maximum of the receive rate, as BBR estimates its
/// bottleneck bandwidth (draft-ietf-ccwg-bbr, "MaxBwFilter").
///
/// Pure. A low rate while nothing more was requested says nothing about the link, so only the highest recent rate
/// counts.
struct LinkMeter {
    private var peaks: [(at: ContinuousClock.Instant, rate: Double)] = []
    private var last: (at: ContinuousClock.Instant, bytes: Int64)?

    /// Lifetime of a rate, and its lifetime while the link is busy and slower.
    private static let span = Duration.seconds(10)
    private static let busySpan = Duration.seconds(3)
    /// A rate is measured over at least this time.
    static let shortest = Duration.milliseconds(400)

    /// Records the number of bytes received since the start, by all transfers together.
    ///
    /// - Parameter isBusy: true if more was requested all the time, so that the rate is the link's own and older, higher
    ///   rates may be outdated.
    mutating func record(_ bytes: Int64, isBusy: Bool, at now: ContinuousClock.Instant) {
        guard let last else { return self.last = (now, bytes) }
        guard now - last.at >= Self.shortest else { return }
        let rate = Double(bytes - last.bytes) / (now - last.at).inSeconds
        self.last = (now, bytes)
        let span = isBusy ? Self.busySpan : Self.span
        peaks.removeAll { now - $0.at > span || $0.rate <= rate }
        if rate > 0 { peaks.append((now, rate)) }
    }

    /// Begins a new measurement after bytes that have waited on this machine: their rate is not the link's.
    mutating func skip() { last = nil }

    /// Bytes per second; nil before the first measurement.
    var rate: Double? { peaks.first?.rate }
}
