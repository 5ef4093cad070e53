import HTTPMessage

/// Which origins are presumed absent: a circuit breaker for each.
///
/// After so many transfers in a row that could not reach an origin it is *absent* for a while, and nothing is asked of
/// it. When the while is over, one transfer goes out as a probe, the others still fail at once. The probe's end
/// decides: any reply makes the origin present again, another failure doubles the while.
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
    }

    private let threshold: Int
    private let pauses: ClosedRange<Duration>
    private var records: [WebURL.Origin: Record] = [:]

    /// - Parameters:
    ///   - threshold: transfers in a row that fail before an origin is absent.
    ///   - pauses: the first and the longest time for which it is.
    init(threshold: Int, pauses: ClosedRange<Duration>) {
        self.threshold = max(1, threshold)
        self.pauses = pauses
    }

    /// Whether a transfer to the origin would fail at once.
    func isAbsent(_ origin: WebURL.Origin, now: ContinuousClock.Instant) -> Bool {
        guard let record = records[origin], let until = record.until else { return false }
        return record.isProbed || now < until
    }

    /// Asks leave for a new transfer.
    mutating func admit(_ origin: WebURL.Origin, now: ContinuousClock.Instant) -> Admission {
        guard records[origin]?.until != nil else { return .normal }
        if isAbsent(origin, now: now) { return .refused }
        records[origin]?.isProbed = true
        return .probe
    }

    /// A reply came, of whatever kind.
    mutating func reached(_ origin: WebURL.Origin) {
        if !records.isEmpty { records[origin] = nil }
    }

    /// A transfer ended because the origin could not be reached.
    mutating func missed(_ origin: WebURL.Origin, now: ContinuousClock.Instant) {
        var record = records[origin] ?? Record()
        record.failures += 1
        // Failures of transfers that began before the pause say nothing new.
        if record.failures >= threshold, record.until == nil || record.isProbed {
            record.pause = min(max(record.pause * 2, pauses.lowerBound), pauses.upperBound)
            record.until = now + record.pause
            record.isProbed = false
        }
        records[origin] = record
    }

    /// A probe ended without an answer to the question: the next transfer is the probe.
    mutating func abandonedProbe(_ origin: WebURL.Origin) { records[origin]?.isProbed = false }
}
