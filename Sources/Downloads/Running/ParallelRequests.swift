/// The number of requests that a download sends at once, found by measurement. Pure.
///
/// On a thin link one transfer has all of it: more would only divide it, so that the first piece, and the next one for a
/// player, come later. On a long path, and at an origin that limits each connection, more transfers bring more. So it begins
/// with one, doubles the number as long as the rate rises with it, and goes back to the last number that paid. A fast link is
/// used in full at once. A far one, whose bodies start late and then arrive fast, is tried in full after two segments. Where
/// packets are lost, requests mostly wait, and the bytes of a second depend on chance: there an attempt goes on with more.
struct ParallelRequests {
    /// The times of a request for one segment.
    struct Request {
        /// From the request to its first byte.
        var wait: Duration
        /// From the first byte to the last.
        var body: Duration
        var bytes: Int64

        /// Fewer bytes may come in few packets, and show no rate.
        private static let leastBytes: Int64 = 8 << 10
        /// Bytes per second that a thin link does not carry.
        private static let leastRate = 300_000.0

        /// True if more requests would mostly fill waiting time: the body took no longer than the wait, and came fast.
        var isFar: Bool {
            guard bytes >= Self.leastBytes, body <= wait else { return false }
            return ParallelRequests.rate(bytes, in: body) >= Self.leastRate
        }
    }

    /// The totals of a download at one moment.
    struct Count {
        var bytes: Int64
        var pieces: Int
        var at: ContinuousClock.Instant
        /// The latest request that has ended since the count before; nil if none has.
        var request: Request?
    }

    /// Requests at once.
    private(set) var width = 1
    private struct Proven {
        var width = 1
        /// Bytes per second.
        var rate = 0.0
    }

    /// The time without a byte within the last seconds.
    private struct Silence {
        /// Each ends at the last count with the bytes of those before.
        private var spans: [(end: ContinuousClock.Instant, time: Duration)] = []
        private var last: (bytes: Int64, at: ContinuousClock.Instant)
        private let begin: ContinuousClock.Instant

        private static let window = Duration.seconds(8)
        /// The share is known after this time.
        private static let least = Duration.seconds(3)

        init(from count: Count) {
            last = (count.bytes, count.at)
            begin = count.at
        }

        mutating func record(_ count: Count) {
            if count.bytes == last.bytes {
                let time = count.at - last.at
                if let span = spans.last, span.end == last.at {
                    spans[spans.count - 1] = (count.at, span.time + time)
                } else {
                    spans.removeAll { count.at - $0.end >= Self.window }
                    spans.append((count.at, time))
                }
            }
            last = (count.bytes, count.at)
        }

        /// The share of the time; 0 until it is known.
        var share: Double {
            let window = min(last.at - begin, Self.window)
            guard window >= Self.least else { return 0 }
            var sum = Duration.zero
            for span in spans where last.at - span.end < window {
                sum += min(span.time, window - (last.at - span.end))
            }
            return sum / window
        }
    }

    private var silence: Silence
    /// The last number that paid.
    private var proven = Proven()
    private var isTrying = false
    /// The start of the present measurement.
    private var mark: Count
    /// The start of the latest interval.
    private var recent: Count
    /// Bytes before this moment do not count: new connections have to begin.
    private var settled: ContinuousClock.Instant?
    private var hasBegun = false
    /// True if the measurement began at the end of a far request: it has the whole next one, without a handshake.
    private var followsFar = false
    /// The next attempt, and the pause before the one after it.
    private var next: ContinuousClock.Instant?
    private var pause: Duration

    /// Bytes per second of a link that is not thin: a segment takes a moment.
    private static let fast = 1_000_000.0
    /// Bytes that show a fast link.
    private static let leastFast: Int64 = 64 << 10
    /// The shortest interval whose rate shows one.
    private static let interval = Duration.milliseconds(250)
    private static let span = Duration.milliseconds(1200)
    private static let settling = Duration.milliseconds(500)
    /// The least time in which several pieces per request are a measurement.
    private static let shortest = Duration.milliseconds(150)
    /// Without a byte for this time, the link is not what is waited for.
    private static let idle = Duration.milliseconds(1500)
    /// From this share of silence on, requests mostly wait. A link that carries nothing for a second now and then is below it.
    private static let mostlySilent = 0.4
    private static let pauses = Duration.seconds(10)...Duration.seconds(300)
    /// The least rise that pays.
    private static let rise = 1.2
    /// A fall to less than this share shows another link.
    private static let fall = 1.0 / 3

    init(at now: ContinuousClock.Instant) {
        mark = Count(bytes: 0, pieces: 0, at: now)
        recent = mark
        silence = Silence(from: mark)
        pause = Self.pauses.lowerBound
    }

    /// Begins a new measurement: the link was shared with players.
    mutating func skip(_ count: Count) {
        begin(count)
        recent = count
        silence = Silence(from: count)
    }

    private mutating func begin(_ count: Count) {
        mark = count
        settled = nil
        followsFar = false
    }

    /// Records the totals so far; true if the requests beyond `width` do not pay and are to stop. Call it after each piece, and
    /// about twice a second.
    /// - Parameter most: the largest width.
    mutating func record(_ count: Count, most: Int) -> Bool {
        silence.record(count)
        let recentRate = recentRate(count)
        let bytes = count.bytes - mark.bytes
        let time = count.at - mark.at
        guard bytes > 0 else {
            // An origin that takes its time before each answer: more requests do not divide anything.
            if time >= Self.idle, width < most {
                width += 1
                mark.at = count.at
            }
            return false
        }
        let rate = Self.rate(bytes, in: time)
        // A new connection becomes faster with each round trip: before the first measurement the mean is too low.
        let latest = proven.rate == 0 ? max(rate, recentRate) : rate
        if bytes >= Self.leastFast, latest >= Self.fast {
            width = most
            proven = Proven(width: most, rate: latest)
            isTrying = false
            next = nil
            pause = Self.pauses.lowerBound
            hasBegun = true
            settled = nil
            mark = count
            return false
        }
        let isFar = width == 1 && proven.rate == 0 && count.request?.isFar ?? false
        if isFar, !followsFar {
            begin(count)
            followsFar = true
            return false
        }
        let isMeasured = isFar || count.pieces - mark.pieces >= 2 * width && time >= Self.shortest
        if !isMeasured {
            if !hasBegun {
                hasBegun = true
                settled = count.at + Self.settling
                if !isTrying {
                    width = proven.width
                }
            }
            if let settled {
                if count.at >= settled {
                    begin(count)
                }
                return false
            }
            guard time >= Self.span else { return false }
        }
        hasBegun = true
        return judge(rate, count, most: most, nextWidth: isFar ? most : width * 2, settles: isFar || !isMeasured)
    }

    /// Bytes per second of the interval that ends now; 0 if none does.
    private mutating func recentRate(_ count: Count) -> Double {
        let time = count.at - recent.at
        guard time >= Self.interval else { return 0 }
        defer { recent = count }
        return Self.rate(count.bytes - recent.bytes, in: time)
    }

    private static func rate(_ bytes: Int64, in time: Duration) -> Double {
        Double(bytes) / (max(time, .milliseconds(1)) / .seconds(1))
    }

    private mutating func judge(_ rate: Double, _ count: Count, most: Int, nextWidth: Int, settles: Bool) -> Bool {
        var isTooWide = false
        mark = count
        settled = nil
        if isTrying, silence.share >= Self.mostlySilent {
            // The rate is judged when bytes come again.
            if rate >= proven.rate * Self.rise {
                proven = Proven(width: width, rate: rate)
            }
            width = min(most, nextWidth)
            if settles {
                settled = count.at + Self.settling
            }
            return false
        }
        if isTrying, rate < proven.rate * Self.rise {
            isTooWide = true
            width = proven.width
            next = count.at + pause
            pause = min(pause * 2, Self.pauses.upperBound)
        } else if isTrying {
            proven = Proven(width: width, rate: rate)
            next = nil
            pause = Self.pauses.lowerBound
        } else if proven.width > 1, rate < proven.rate * Self.fall {
            // Those that run end by themselves.
            width = 1
            proven = Proven()
            next = count.at + Self.span
        } else {
            width = proven.width
            // Less for a while is the time between two pieces.
            proven.rate = max(rate, proven.rate * 0.9)
        }
        isTrying = false
        guard !isTooWide, width < most, next.map({ count.at >= $0 }) ?? true else { return isTooWide }
        width = min(most, nextWidth)
        isTrying = true
        if settles {
            settled = count.at + Self.settling
        }
        return false
    }
}
