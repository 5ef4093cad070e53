import HTTPMessage

/// Which origins are presumed absent: a circuit breaker for each.
///
/// After so many transfers in a row that could not reach an origin it is *absent* for a while, and nothing is asked of
/// it. When the while is over, one transfer goes out as a probe, the others still fail at once. The probe's end
/// decides: any reply makes the origin present again, another failure doubles the while.
///
/// An origin that was waited for in vain is *doubted*: who can do without it does for the same whiles, and everything
/// else is asked of it as before. A slow link must not take from anybody what only the origin has.
///
/// As long as somebody wants something of an origin that is absent or doubted, a probe of nobody's goes out at the end
/// of each while, so that nobody has to wait for the answer.
struct OriginPresence {
    /// What becomes of a new transfer.
    enum Admission: Equatable {
        /// Goes out.
        case normal
        /// Goes out and decides; not to be retried.
        case probe
        /// Fails at once.
        case refused
    }

    private struct Record {
        var failures = 0
        var pause = Duration.zero
        var until: ContinuousClock.Instant?
        var isProbed = false
        /// Whether it only did not answer in time.
        var isDoubt = false
        /// When somebody last wanted something of it.
        var wanted: ContinuousClock.Instant

        /// Whether what happens now is news: a failure of a transfer that began before the pause is none.
        func isNews(_ now: ContinuousClock.Instant) -> Bool { until.map { isProbed || now >= $0 } ?? true }
    }

    private let threshold: Int
    private let pauses: ClosedRange<Duration>
    private let interest: Duration
    private var records: [WebURL.Origin: Record] = [:]

    /// - Parameters:
    ///   - threshold: transfers in a row that fail before an origin is absent.
    ///   - pauses: the first and the longest time for which it is.
    ///   - interest: for so long after somebody wanted something of an origin it is probed.
    init(threshold: Int, pauses: ClosedRange<Duration>, interest: Duration = .zero) {
        self.threshold = max(1, threshold)
        self.pauses = pauses
        self.interest = interest
    }

    /// Whether who can do without the origin had better: it is absent, or doubted.
    func isAbsent(_ origin: WebURL.Origin, now: ContinuousClock.Instant) -> Bool {
        guard let record = records[origin], let until = record.until else { return false }
        return record.isProbed || now < until
    }

    /// Asks leave for a new transfer.
    mutating func admit(_ origin: WebURL.Origin, now: ContinuousClock.Instant) -> Admission {
        want(origin, now: now)
        guard let record = records[origin], record.until != nil, !record.isDoubt else { return .normal }
        if isAbsent(origin, now: now) { return .refused }
        records[origin]?.isProbed = true
        return .probe
    }

    /// Somebody wants something of the origin, even if he does without.
    mutating func want(_ origin: WebURL.Origin, now: ContinuousClock.Instant) {
        if !records.isEmpty { records[origin]?.wanted = now }
    }

    /// A reply came, of whatever kind.
    mutating func reached(_ origin: WebURL.Origin) {
        if !records.isEmpty { records[origin] = nil }
    }

    /// A transfer ended because the origin could not be reached.
    mutating func missed(_ origin: WebURL.Origin, now: ContinuousClock.Instant) {
        var record = records[origin] ?? Record(wanted: now)
        record.failures += 1
        if record.failures >= threshold, record.isDoubt || record.isNews(now) {
            pause(&record, now)
            record.isDoubt = false
        } else if record.isDoubt, record.isNews(now) {
            pause(&record, now)
        }
        records[origin] = record
    }

    /// Somebody, or a probe, waited for the origin in vain.
    mutating func doubted(_ origin: WebURL.Origin, now: ContinuousClock.Instant) {
        var record = records[origin] ?? Record(wanted: now)
        guard record.isNews(now) else { return }
        if record.until == nil { record.isDoubt = true }
        pause(&record, now)
        records[origin] = record
    }

    private func pause(_ record: inout Record, _ now: ContinuousClock.Instant) {
        record.pause = min(max(record.pause * 2, pauses.lowerBound), pauses.upperBound)
        record.until = now + record.pause
        record.isProbed = false
    }

    /// A probe ended. If nobody has said yet what that means: it was waited for in vain, or the next one decides.
    mutating func endProbe(_ origin: WebURL.Origin, isInVain: Bool, now: ContinuousClock.Instant) {
        guard records[origin]?.isProbed ?? false else { return }
        if isInVain { doubted(origin, now: now) } else { abandonedProbe(origin) }
    }

    /// A probe ended without an answer to the question: the next transfer is the probe.
    mutating func abandonedProbe(_ origin: WebURL.Origin) { records[origin]?.isProbed = false }

    // MARK: Probes of nobody's

    /// Whether nothing has come from the origin since it was absent, or doubted, for the last time.
    func isLost(_ origin: WebURL.Origin) -> Bool { records[origin]?.until != nil }

    /// When `beginProbes` is to be called next; nil while nobody wants anything of any of these.
    func nextProbe(of origins: some Sequence<WebURL.Origin>) -> ContinuousClock.Instant? {
        origins.compactMap(probeTime).min()
    }

    /// Those of these to which a probe is to go now. Each is then probed, until it is said how that ended.
    mutating func beginProbes(
        of origins: some Sequence<WebURL.Origin>, now: ContinuousClock.Instant
    ) -> [WebURL.Origin] {
        let due = origins.filter { origin in probeTime(origin).map { $0 <= now } ?? false }
        for origin in due { records[origin]?.isProbed = true }
        return due
    }

    private func probeTime(_ origin: WebURL.Origin) -> ContinuousClock.Instant? {
        guard let record = records[origin], let until = record.until, !record.isProbed,
            until <= record.wanted + interest
        else { return nil }
        return until
    }
}
