/// The rate of a download, from the bytes that have arrived, those of unfinished pieces included. Pure.
///
/// Pieces end in bursts, and on a slow link minutes lie between two ends, so bytes count as they arrive. The rate is that of the
/// last 5 s, or of the last 15 s on a slow link, and falls to 0 while nothing arrives.
struct ReceivedRate: Sendable {
    /// The rate at one moment.
    struct Reading: Equatable, Sendable {
        /// Bytes per second; nil until it is known.
        var rate: Double?
        /// The time since the last byte; nil unless it is long.
        var silence: Duration?
    }

    private struct Sample {
        let at: ContinuousClock.Instant
        let bytes: Int64
    }

    /// The first one is the latest moment before the first byte.
    private var samples: [Sample] = []
    private var latest: Sample
    private var lastArrival: ContinuousClock.Instant
    private var hasBegun = false

    private static let short = Duration.seconds(5)
    private static let long = Duration.seconds(15)
    /// Bytes per second below which the long window applies: 1 Mb/s.
    private static let slow = 125_000.0
    /// The rate is known after this time.
    private static let shortest = Duration.seconds(1)
    private static let spacing = Duration.milliseconds(200)
    /// A time without a byte that is told.
    static let silence = Duration.seconds(10)
    /// The window of the time left, and the least time after which it is known.
    private static let history = Duration.seconds(60)
    private static let leastHistory = Duration.seconds(5)

    /// Begins to measure; nothing was received yet.
    init(at now: ContinuousClock.Instant = .now) {
        latest = Sample(at: now, bytes: 0)
        lastArrival = now
    }

    /// Records the number of bytes received since the start. Call it about twice a second, whether it has changed or not.
    mutating func record(_ bytes: Int64, at now: ContinuousClock.Instant) {
        if bytes > latest.bytes {
            if !hasBegun {
                samples = [latest]
            }
            hasBegun = true
            lastArrival = now
        }
        latest = Sample(at: now, bytes: bytes)
        guard hasBegun, samples.last.map({ now - $0.at >= Self.spacing }) ?? true else { return }
        samples.append(latest)
        // The last sample before the window counts for its beginning.
        if let first = samples.firstIndex(where: { now - $0.at <= Self.history }), first > 16 {
            samples.removeFirst(first - 1)
        }
    }

    func reading(at now: ContinuousClock.Instant) -> Reading {
        let silence = now - lastArrival
        if silence >= Self.silence {
            return Reading(rate: hasBegun ? 0 : nil, silence: silence)
        }
        guard let first = samples.first, now - first.at >= Self.shortest else { return Reading() }
        let smooth = rate(over: Self.long, at: now)
        return Reading(rate: smooth < Self.slow ? smooth : rate(over: Self.short, at: now))
    }

    /// The time in which these bytes arrive; nil unless it is known to a factor of two.
    func timeLeft(for bytes: Int64, at now: ContinuousClock.Instant) -> Duration? {
        guard let first = samples.first, now - lastArrival < Self.leastHistory else { return nil }
        let window = min(now - first.at, Self.history)
        guard window >= Self.leastHistory else { return nil }
        let windows = [window, window / 2, window / 4].filter { $0 == window || $0 >= Self.leastHistory / 2 }
        let rates = windows.map { rate(over: $0, at: now) }
        guard let least = rates.min(), let most = rates.max(), least > 0, most <= 2 * least else { return nil }
        return .seconds(min(Double(max(0, bytes)) / rates[0], 1e9))
    }

    /// Bytes per second from `window` ago until now, or from the first byte.
    private func rate(over window: Duration, at now: ContinuousClock.Instant) -> Double {
        guard let start = samples.last(where: { now - $0.at >= window }) ?? samples.first, now > start.at else {
            return 0
        }
        return Double(latest.bytes - start.bytes) / ((now - start.at) / .seconds(1))
    }
}
