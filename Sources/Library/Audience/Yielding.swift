import EventLoop
import Origin

/// Lets background transfers yield to the audience: measures, asks the policy, and tells the client.
///
/// While nobody draws from an origin it does nothing at all.
@LoopActor final class Yielding {
    private let client: OriginClient
    private let audience: Audience
    private var policy = YieldPolicy()
    private var meter = LinkMeter()
    private var timer: LoopTimer?
    private var isTicking = false
    /// Whether somebody has waited since the last tick.
    private var wasWaiting = false

    private static let tick = Duration.milliseconds(200)

    init(_ audience: Audience, _ client: OriginClient) {
        self.client = client
        self.audience = audience
        timer = LoopTimer { [weak self] in self?.ticked() }
        audience.waitChanged = { [weak self] in self?.update() }
    }

    private func ticked() {
        isTicking = false
        let traffic = client.traffic
        meter.note(traffic.playback + traffic.background, isBusy: wasWaiting, at: .now)
        update()
    }

    /// Tells the client what background may take now.
    private func update() {
        let now = ContinuousClock.now
        let (viewers, isWatched) = audience.viewers(at: now)
        let allowance = policy.allowance(for: viewers, isWatched: isWatched, link: meter.rate, at: now)
        wasWaiting = !viewers.isEmpty
        let before = client.backgroundAllowance
        client.backgroundAllowance = allowance
        // What a pause has left in this machine comes faster than by the link.
        if allowance.rate != before.rate || allowance.rate ?? 0 > 0 { meter.skip() }
        guard isWatched || allowance != .full else { return meter.skip() }
        if !isTicking {
            isTicking = true
            timer?.schedule(after: Self.tick)
        }
    }
}
