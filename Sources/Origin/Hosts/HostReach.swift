import HTTPMessage

/// Decides if a host is dead or the network is lost, by the replies and failures of all hosts. Pure.
///
/// A host that refuses connections, or whose name has no address, is *dead* while another host answers: nothing is gained
/// by waiting for it. If no other host has answered since the network last changed, the network is lost, and each host is
/// waited for. A host that answered a moment ago may be restarting, and is waited for a little.
///
/// | it fails with | it is dead if another host |
/// |---|---|
/// | a refused connection, a name without an address | has answered since the network last changed, and has not failed since |
/// | no route, no answer of the DNS | has answered after this host's first failure: the network itself fails like this |
///
/// A timeout shows nothing about the host, but what its own replies showed is not certain any more.
struct HostReach {
    /// A failure that may be the host's own.
    enum Fault: Hashable, Sendable {
        /// The host refuses connections, or its name has no address.
        case refusal
        /// No route leads to it, or the DNS does not answer.
        case noWay
    }

    enum Verdict: Equatable {
        /// No failure is known.
        case reachable
        /// It fails, and is waited for: the network may be lost, or the host may be restarting.
        case awaited
        case dead
    }

    private struct Failure {
        let first: ContinuousClock.Instant
        let hadAnswered: Bool
        var fault: Fault
        /// In words for the user.
        var reason: String?
    }

    private var replies: [WebURL.Origin: ContinuousClock.Instant] = [:]
    private var failures: [WebURL.Origin: Failure] = [:]
    private var looks: [WebURL.Origin: ContinuousClock.Instant] = [:]
    /// Bounds the memory: a playlist may name hosts without end.
    private static let maximumCount = 1000

    mutating func recordReply(_ origin: WebURL.Origin, now: ContinuousClock.Instant) {
        if !failures.isEmpty {
            failures[origin] = nil
        }
        if replies.count >= Self.maximumCount, replies[origin] == nil {
            replies = [:]
        }
        replies[origin] = now
    }

    mutating func recordFault(
        _ fault: Fault, of origin: WebURL.Origin, reason: String? = nil, now: ContinuousClock.Instant
    ) {
        if failures.count >= Self.maximumCount, failures[origin] == nil {
            failures = [:]
        }
        var failure = failures[origin] ?? Failure(first: now, hadAnswered: hasAnswered(origin, now: now), fault: fault)
        failure.fault = fault
        failure.reason = reason
        failures[origin] = failure
    }

    /// The reason of the latest failure; nil if there is none.
    func reason(of origin: WebURL.Origin) -> String? { failures[origin]?.reason }

    /// Begins a look at a host. Returns false if none is needed, because it answered or was looked at a moment ago.
    mutating func beginLook(at origin: WebURL.Origin, now: ContinuousClock.Instant) -> Bool {
        guard !hasAnswered(origin, now: now) else { return false }
        if let look = looks[origin], now - look < GiveUpRule.lookPause {
            return false
        }
        if looks.count >= Self.maximumCount {
            looks = [:]
        }
        looks[origin] = now
        return true
    }

    /// Records that a host did not answer in time, or broke a connection.
    mutating func recordSilence(of origin: WebURL.Origin) { replies[origin] = nil }

    /// Forgets everything: the network is another one.
    mutating func recordNetworkChange() {
        replies = [:]
        failures = [:]
        looks = [:]
    }

    /// True if the host answered a moment ago, and has not failed since.
    func hasAnswered(_ origin: WebURL.Origin, now: ContinuousClock.Instant) -> Bool {
        guard failures[origin] == nil, let reply = replies[origin] else { return false }
        return now - reply < GiveUpRule.recentReply
    }

    func verdict(on origin: WebURL.Origin, now: ContinuousClock.Instant) -> Verdict {
        guard let failure = failures[origin] else { return .reachable }
        if failure.hadAnswered, now - failure.first < GiveUpRule.restartTime {
            return .awaited
        }
        guard isNetworkKnown(beside: origin, failure) else { return .awaited }
        return .dead
    }

    func isDead(_ origin: WebURL.Origin, now: ContinuousClock.Instant) -> Bool {
        !failures.isEmpty && verdict(on: origin, now: now) == .dead
    }

    /// True if a reply of another host shows that the network is not lost.
    private func isNetworkKnown(beside origin: WebURL.Origin, _ failure: Failure) -> Bool {
        replies.contains { other, reply in
            guard other != origin, failures[other] == nil else { return false }
            return failure.fault == .refusal || reply > failure.first
        }
    }
}
