/// The rate at which the bytes of a transfer arrive. Pure.
///
/// It is the mean of the last one to two spans: short enough to follow the link, and long enough for bytes that arrive in bursts.
struct ArrivalRate: Sendable {
    private var start: ContinuousClock.Instant
    private var bytes: Int64 = 0
    private var former: (bytes: Int64, time: Duration) = (0, .zero)
    private static let span = Duration.seconds(1)
    /// The first bytes come at once: those of a window, and those that the system has gathered.
    private static let shortest = Duration.milliseconds(50)

    init(at now: ContinuousClock.Instant) { start = now }

    mutating func record(_ count: Int, at now: ContinuousClock.Instant) {
        if now - start >= Self.span {
            former = (bytes, now - start)
            start = now
            bytes = 0
        }
        bytes += Int64(count)
    }

    /// Bytes per second; nil before the first byte.
    func value(at now: ContinuousClock.Instant) -> Double? {
        let all = bytes + former.bytes
        guard all > 0 else { return nil }
        return Double(all) / (max(now - start + former.time, Self.shortest) / .seconds(1))
    }
}

/// A transfer for which no reader waits any more: decides if it is finished all the same. Pure.
///
/// An abandoned transfer takes the link from the request that a reader waits for: after a seek on a slow link, from the segment at
/// the new slot. So it stops, and its bytes are continued later by Range. A small rest is read to its end, which is
/// cheaper than another connection with its handshakes.
public struct AbandonedTransfer: Sendable {
    /// The decision about the rest.
    public enum Verdict: Sendable {
        /// Stop now; the bytes are kept.
        case stop
        /// Read the rest behind the transfers that a player waits for, and stop after `grace`.
        case finishSoon
        /// Read the rest behind the transfers that a player waits for: the bytes cannot be continued later.
        case finishLast
    }

    /// The longest time for which a rest is read.
    public static let grace = Duration.seconds(1)
    /// Bytes of the resource that are there.
    var received: Int64
    /// Bytes of the resource that are not there; nil if that is unknown.
    var missing: Int64?
    /// Bytes per second; nil if the present request has brought none.
    var rate: Double?
    /// True if the origin continues the resource by Range.
    var isContinuable: Bool

    /// Describes a transfer by its facts.
    public init(received: Int64, missing: Int64?, rate: Double?, isContinuable: Bool) {
        self.received = received
        self.missing = missing
        self.rate = rate
        self.isContinuable = isContinuable
    }

    /// The decision.
    public var verdict: Verdict {
        guard let missing else { return .stop }
        if missing <= 0 {
            return .finishSoon
        }
        // Without a byte of its own it has nothing to lose.
        guard let rate else { return .stop }
        if Double(missing) <= rate * (Self.grace / .seconds(1)) {
            return .finishSoon
        }
        // Stopping would lose more bytes than finishing costs.
        guard !isContinuable, missing < received else { return .stop }
        return .finishLast
    }
}
