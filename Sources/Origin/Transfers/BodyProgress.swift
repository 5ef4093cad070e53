/// The bytes of one attempt's body, and the verdict when they stop. Knows no clock.
///
/// The watchdog looks at a body in steps that are shorter than its limits: an origin that states too great a length keeps the
/// connection, and is silent behind the end of the media. An object, because a question to one with times in it would copy it.
final class BodyProgress {
    /// The position of the body, as `TransferState` knows it.
    struct Position {
        var awaitsEndOfStream = false
        var isAtCheckedLength = false
        var mayBeShort = false
        var mayEndInSilence = false
    }

    enum Verdict: Equatable {
        /// Look again after this time. `left` is the rest of the span behind it.
        case watch(Duration, left: Duration)
        /// The body is complete, if the receiver recognises its end; otherwise go on, by `watch(for:at:rule:)`.
        case ask
        case end(TransferState.Outcome)
    }

    /// The number of bytes.
    private(set) var count: Int64 = 0
    /// The number of bytes when the body was last found silent or not.
    private var countBefore: Int64 = 0
    /// The time of the last byte, or of the attempt's start.
    private(set) var lastArrival: ContinuousClock.Instant
    private var arrivals: ArrivalRate
    private static let harmlessCount = 16 * 1024

    init(at now: ContinuousClock.Instant) {
        lastArrival = now
        arrivals = ArrivalRate(at: now)
    }

    /// Bytes per second; nil before the first byte.
    func rate(at now: ContinuousClock.Instant) -> Double? { arrivals.value(at: now) }

    /// An attempt begins.
    func begin(at now: ContinuousClock.Instant) {
        count = 0
        lastArrival = now
    }

    /// The attempt waits for its reply from now on.
    func connect(at now: ContinuousClock.Instant) { lastArrival = now }

    /// The body begins.
    func beginBody(at now: ContinuousClock.Instant) {
        arrivals = ArrivalRate(at: now)
        countBefore = 0
    }

    func record(_ byteCount: Int, at now: ContinuousClock.Instant) {
        count += Int64(byteCount)
        lastArrival = now
        arrivals.record(byteCount, at: now)
    }

    /// The last byte of a stream has arrived, if the end of the stream follows now.
    func awaitEndOfStream() { countBefore = count }

    /// Decides about a body, of whose span this time is left.
    func check(at position: Position, for span: Duration, rule: GiveUpRule) -> Verdict {
        guard count > 0, count == countBefore else { return watch(at: position, for: span, rule: rule) }
        if position.awaitsEndOfStream {
            return .end(.stopped)
        }
        if position.isAtCheckedLength {
            return .end(.finished)
        }
        guard position.mayBeShort else { return watch(at: position, for: span, rule: rule) }
        return .ask
    }

    /// The next step of the span.
    func watch(at position: Position, for span: Duration, rule: GiveUpRule) -> Verdict {
        let limit = position.mayEndInSilence ? rule.silenceBehindLength : rule.silenceAtEnd
        let step = min(span, limit)
        return .watch(step, left: span - step)
    }

    /// A step has begun.
    func beginStep() { countBefore = count }

    /// True if the decoded bytes are too many for the encoded ones. libcurl's count of a chunked body lags by up to its buffer. Short
    /// texts that compress well are no bombs.
    func isOutOfProportion(to encoded: Int64, lag: Int, limit: Int64) -> Bool {
        count > limit * (encoded + Int64(max(lag, Self.harmlessCount)))
    }
}
