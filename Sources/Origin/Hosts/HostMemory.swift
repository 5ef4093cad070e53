import HTTPMessage

/// Remembers which hosts answer, which ones fail, and where their redirects lead, and decides by it if a request is sent. Pure.
///
/// Three records are kept together, because one event changes several of them, and one answer needs several: `OriginPresence`
/// for the time at which an origin is asked again, `HostReach` for the reason of its failure, `RedirectMemory` for the hosts
/// behind it.
struct HostMemory {
    enum Admission: Equatable {
        case normal
        /// Send it as a probe, without retries.
        case probe
        /// The origin is absent. The request is sent all the same, because its caller has no alternative.
        case insisting
        /// The origin is absent.
        case refused(OriginError.Code)
    }

    private var presence: OriginPresence
    private var reach = HostReach()
    private var redirects = RedirectMemory()

    init(_ rule: GiveUpRule) { presence = OriginPresence(rule) }

    // MARK: Events

    /// Records that requests may be sent again, or none any more. All origins count as present then.
    mutating func recordSwitch(_ rule: GiveUpRule) {
        presence = OriginPresence(rule)
        reach.recordNetworkChange()
    }

    /// Records that the network has changed, so that earlier replies say nothing about it.
    mutating func recordNetworkChange() { reach.recordNetworkChange() }

    mutating func recordReply(from origin: WebURL.Origin, now: ContinuousClock.Instant) {
        presence.recordReply(origin)
        reach.recordReply(origin, now: now)
    }

    /// Records a failed attempt.
    mutating func record(
        _ failure: TransferState.Failure, of origin: WebURL.Origin, now: ContinuousClock.Instant
    ) {
        if let fault = failure.hostFault {
            reach.recordFault(fault, of: origin, reason: failure.underlying, now: now)
        } else if failure.code.isAway {
            reach.recordSilence(of: origin)
        }
    }

    /// Records the end of a transfer.
    /// - Parameters:
    ///   - code: nil if it has succeeded.
    ///   - origin: the origin of its last attempt.
    ///   - probed: the origin whose presence it has probed; nil if it was no probe.
    mutating func recordEnd(
        _ code: OriginError.Code?, at origin: WebURL.Origin, probed: WebURL.Origin?, now: ContinuousClock.Instant
    ) {
        switch code {
        case .unreachable: presence.recordUnreachable(origin, now: now)
        case .hostDead: presence.recordDeath(origin, now: now)
        default: break
        }
        if let probed {
            presence.endProbe(probed, isTimeout: code?.isTimeout ?? false, now: now)
        }
    }

    /// Records that a caller with an alternative timed out on a request.
    mutating func recordTimeout(of origin: WebURL.Origin, now: ContinuousClock.Instant) {
        presence.recordTimeout(origin, now: now)
    }

    /// Forgets that an origin did not answer.
    mutating func forgetAbsence(of origin: WebURL.Origin) { presence.recordReply(origin) }

    /// See `RedirectMemory`.
    mutating func recordRedirect(of url: WebURL, to target: WebURL.Origin, now: ContinuousClock.Instant) {
        redirects.recordRedirect(of: url, to: target, now: now)
    }

    mutating func recordDirectReply(from url: WebURL, now: ContinuousClock.Instant) {
        redirects.recordDirectReply(from: url, now: now)
    }

    // MARK: Requests

    /// Decides about a request.
    /// - Parameter ignoresAbsence: see `OriginRequest.ignoresAbsence`.
    mutating func admit(_ url: WebURL, ignoresAbsence: Bool, now: ContinuousClock.Instant) -> Admission {
        switch presence.admit(url.origin, now: now) {
        case .normal: return .normal
        case .probe: return .probe
        case .refused:
            guard !ignoresAbsence else { return .insisting }
            guard isDead(url, now: now) else { return .refused(.unreachable) }
            return .refused(.hostDead)
        }
    }

    /// True if a caller with an alternative should not wait for the URL: its origin, or the one that it leads to, is absent or
    /// suspect. Both are probed for `GiveUpRule.absenceInterest` from now on.
    mutating func isPresumedAbsent(_ url: WebURL, now: ContinuousClock.Instant) -> Bool {
        presence.recordInterest(url.origin, now: now)
        var isAbsent = presence.isAbsent(url.origin, now: now)
        if let target = target(of: url, now: now) {
            presence.recordInterest(target, now: now)
            isAbsent = isAbsent || presence.isAbsent(target, now: now)
        }
        return isAbsent
    }

    /// True if the origin is absent or suspect.
    func isAbsent(_ origin: WebURL.Origin, now: ContinuousClock.Instant) -> Bool {
        presence.isAbsent(origin, now: now)
    }

    /// True if the URL's host refuses connections, or has no address, while other hosts answer.
    /// Its own, or the one that requests for such URLs were redirected to.
    func isDead(_ url: WebURL, now: ContinuousClock.Instant) -> Bool {
        if isDead(url.origin, now: now) {
            return true
        }
        guard let target = target(of: url, now: now) else { return false }
        return isDead(target, now: now)
    }

    /// As `isDead(_:)` of a URL there.
    func isDead(_ origin: WebURL.Origin, now: ContinuousClock.Instant) -> Bool { reach.isDead(origin, now: now) }

    /// True if requests were redirected to a host that is dead.
    func hasDeadRedirects(now: ContinuousClock.Instant) -> Bool {
        redirects.targets(now: now).contains { isDead($0, now: now) }
    }

    /// True if the host refused a connection, or had no address or route, when it was asked last.
    func isFailing(_ origin: WebURL.Origin, now: ContinuousClock.Instant) -> Bool {
        reach.verdict(on: origin, now: now) != .reachable
    }

    /// True if the host fails, and is waited for.
    func isAwaited(_ origin: WebURL.Origin, now: ContinuousClock.Instant) -> Bool {
        reach.verdict(on: origin, now: now) == .awaited
    }

    /// The reason why a host could not be reached the last time.
    func reason(of origin: WebURL.Origin) -> String? { reach.reason(of: origin) }

    /// The host that a request for a URL like this one was redirected to; see `RedirectMemory`.
    func target(of url: WebURL, now: ContinuousClock.Instant) -> WebURL.Origin? { redirects.target(of: url, now: now) }

    // MARK: Looks and probes

    /// Begins a look at a host. Returns false if none is needed.
    mutating func beginLook(at origin: WebURL.Origin, now: ContinuousClock.Instant) -> Bool {
        reach.beginLook(at: origin, now: now)
    }

    /// Begins a look at where a URL leads. Returns false if none is needed.
    mutating func beginLook(atTargetOf url: WebURL, now: ContinuousClock.Instant) -> Bool {
        let reach = reach
        return redirects.beginLook(at: url, isDead: { reach.isDead($0, now: now) }, now: now)
    }

    /// Lets the next request to each dead host be a look at it, however short ago the last one was.
    mutating func endPausesOfDeadHosts(now: ContinuousClock.Instant) {
        let reach = reach
        presence.endPauses(of: { reach.isDead($0, now: now) }, now: now)
    }

    /// True if no reply has arrived since the origin was last found absent or suspect.
    func isDown(_ origin: WebURL.Origin) -> Bool { presence.isDown(origin) }

    /// Records a probe without a result: the next transfer is the probe.
    mutating func abandonProbe(_ origin: WebURL.Origin) { presence.abandonProbe(origin) }

    /// The time of the next call of `beginProbes`; nil if none of the origins is to be probed.
    func nextProbe(of origins: some Sequence<WebURL.Origin>) -> ContinuousClock.Instant? {
        presence.nextProbe(of: origins)
    }

    /// Returns the origins to probe now. Each counts as being probed until the result is recorded.
    mutating func beginProbes(
        of origins: some Sequence<WebURL.Origin>, now: ContinuousClock.Instant
    ) -> [WebURL.Origin] {
        presence.beginProbes(of: origins, now: now)
    }
}
