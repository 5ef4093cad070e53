import HTTPMessage

/// Tracks which origins are presumed absent: a circuit breaker per origin.
///
/// After some consecutive transfers that could not reach an origin, it is *absent* for a while and receives no
/// requests. When the pause is over, one transfer goes out as a probe while the others still fail at once. The probe
/// decides: any reply makes the origin present again; another failure doubles the pause. `GiveUpRule` has the numbers.
///
/// An origin that timed out is *suspect*: callers with an alternative avoid it for the same pauses, and all others
/// still send requests. A slow link must not take away what only the origin has.
///
/// While an absent or suspect origin is requested, a probe goes out after each pause by itself: no caller waits for it.
struct OriginPresence {
    enum Admission: Equatable {
        case normal
        /// Send it as a probe, without retries.
        case probe
        case refused
    }

    private struct Record {
        var failures = 0
        var pause = Duration.zero
        var until: ContinuousClock.Instant?
        var isProbed = false
        var isSuspect = false
        var lastRequested: ContinuousClock.Instant

        /// False during a pause: a failure of a transfer that began before it means nothing new.
        func isNews(_ now: ContinuousClock.Instant) -> Bool {
            guard let until else { return true }
            return isProbed || now >= until
        }
    }

    private let rule: GiveUpRule
    private var records: [WebURL.Origin: Record] = [:]

    init(_ rule: GiveUpRule) { self.rule = rule }

    /// True if callers with an alternative should use it: the origin is absent or suspect.
    func isAbsent(_ origin: WebURL.Origin, now: ContinuousClock.Instant) -> Bool {
        guard let record = records[origin], let until = record.until else { return false }
        return record.isProbed || now < until
    }

    mutating func admit(_ origin: WebURL.Origin, now: ContinuousClock.Instant) -> Admission {
        recordInterest(origin, now: now)
        guard let record = records[origin], record.until != nil, !record.isSuspect else { return .normal }
        if isAbsent(origin, now: now) {
            return .refused
        }
        records[origin]?.isProbed = true
        return .probe
    }

    /// Records interest in the origin, even by a caller that uses an alternative.
    mutating func recordInterest(_ origin: WebURL.Origin, now: ContinuousClock.Instant) {
        if !records.isEmpty {
            records[origin]?.lastRequested = now
        }
    }

    mutating func recordReply(_ origin: WebURL.Origin) {
        if !records.isEmpty {
            records[origin] = nil
        }
    }

    mutating func recordUnreachable(_ origin: WebURL.Origin, now: ContinuousClock.Instant) {
        var record = records[origin] ?? Record(lastRequested: now)
        record.failures += 1
        if rule.isAbsent(afterFailures: record.failures), record.isSuspect || record.isNews(now) {
            pause(&record, now)
            record.isSuspect = false
        } else if record.isSuspect, record.isNews(now) {
            pause(&record, now)
        }
        records[origin] = record
    }

    /// Records that the origin's host is dead: it is absent at once, and looked at again after a pause that does not grow.
    mutating func recordDeath(_ origin: WebURL.Origin, now: ContinuousClock.Instant) {
        var record = records[origin] ?? Record(lastRequested: now)
        record.failures += 1
        record.pause = rule.deadPause
        record.until = now + record.pause
        record.isProbed = false
        record.isSuspect = false
        records[origin] = record
    }

    /// Ends the pauses of these origins: the next transfer to each is a probe.
    mutating func endPauses(of isMeant: (WebURL.Origin) -> Bool, now: ContinuousClock.Instant) {
        for (origin, record) in records where record.until != nil && isMeant(origin) {
            records[origin]?.until = now
        }
    }

    mutating func recordTimeout(_ origin: WebURL.Origin, now: ContinuousClock.Instant) {
        var record = records[origin] ?? Record(lastRequested: now)
        guard record.isNews(now) else { return }
        if record.until == nil {
            record.isSuspect = true
        }
        pause(&record, now)
        records[origin] = record
    }

    private func pause(_ record: inout Record, _ now: ContinuousClock.Instant) {
        record.pause = rule.absence(after: record.pause)
        record.until = now + record.pause
        record.isProbed = false
    }

    /// Records the end of a probe whose meaning is not yet recorded: either it timed out, or the next probe decides.
    mutating func endProbe(_ origin: WebURL.Origin, isTimeout: Bool, now: ContinuousClock.Instant) {
        guard records[origin]?.isProbed ?? false else { return }
        if isTimeout {
            recordTimeout(origin, now: now)
        } else {
            abandonProbe(origin)
        }
    }

    /// Records a probe without a result: the next transfer is the probe.
    mutating func abandonProbe(_ origin: WebURL.Origin) { records[origin]?.isProbed = false }
    /// True if no reply has arrived since the origin was last found absent or suspect.
    func isDown(_ origin: WebURL.Origin) -> Bool { records[origin]?.until != nil }

    /// The time of the next call of `beginProbes`; nil if none of the origins is to be probed.
    func nextProbe(of origins: some Sequence<WebURL.Origin>) -> ContinuousClock.Instant? {
        origins.compactMap(probeTime).min()
    }

    /// Returns the origins to probe now. Each counts as being probed until the result is recorded.
    mutating func beginProbes(
        of origins: some Sequence<WebURL.Origin>, now: ContinuousClock.Instant
    ) -> [WebURL.Origin] {
        let due = origins.filter { origin in
            guard let time = probeTime(origin) else { return false }
            return time <= now
        }
        for origin in due {
            records[origin]?.isProbed = true
        }
        return due
    }

    private func probeTime(_ origin: WebURL.Origin) -> ContinuousClock.Instant? {
        guard let record = records[origin], let until = record.until, !record.isProbed,
            until <= record.lastRequested + rule.absenceInterest
        else { return nil }
        return until
    }
}

/// Decides which idle connections must not be reused. Pure.
/// After a change of networks nothing reports that a connection is dead: requests would time out on one after the
/// other. So once an origin has timed out, earlier connections to it are not reused.
struct StaleConnections {
    private var timeouts: [WebURL.Origin: ContinuousClock.Instant] = [:]
    /// Origins whose replies may come late on connections that are not dead.
    private var slow: Set<WebURL.Origin> = []
    private static let mostSlow = 1_000

    mutating func recordSlowReply(_ origin: WebURL.Origin) {
        if slow.count >= Self.mostSlow {
            slow = []
        }
        slow.insert(origin)
    }

    func isSlow(_ origin: WebURL.Origin) -> Bool { slow.contains(origin) }

    mutating func recordTimeout(_ origin: WebURL.Origin, now: ContinuousClock.Instant) {
        timeouts = timeouts.filter { GiveUpRule.connectionAge(sinceTimeout: now - $0.value) != nil }
        timeouts[origin] = now
    }

    func maximumAge(_ origin: WebURL.Origin, now: ContinuousClock.Instant) -> Int? {
        timeouts[origin].flatMap { GiveUpRule.connectionAge(sinceTimeout: now - $0) }
    }
}
