import Origin

/// How much of the link background transfers may take while sessions draw from it.
///
/// Pure. Two ideas that are published and plain:
///
/// - Less than best effort (RFC 6297; LEDBAT, RFC 6817): background takes what players leave, gives way at once when
///   one wants something, and puts no more into the bottleneck's queue than a bounded delay.
/// - Buffer thresholds (BBA: Huang et al., "A Buffer-Based Approach to Rate Adaptation", SIGCOMM 2014): below a
///   *reservoir* of buffered media nothing is risked; in a *cushion* above it the rate grows with the buffer.
///
/// Here, for a session that waits for bytes of the origin's: in the reservoir, background stops. In the cushion it may
/// have what the link has beyond what the sessions consume, in proportion: their buffers still grow, or stay. Above,
/// all. What a reservoir is in seconds follows from what was measured: the larger the share of the link that the media
/// needs, the more. On a link that is a hundred times as fast it is next to nothing, and no download is held up by
/// playback.
///
/// A session that waits for nothing has what it wants, is paused or is gone, whatever its buffer is reckoned to be.
struct YieldPolicy {
    /// A session that draws from the origin.
    struct Viewer {
        /// The media ahead of its playhead, in seconds.
        var buffer: Double
        /// What it consumes, in bytes a second of media.
        var rate: Double
        /// How long its segments are, in seconds.
        var segment: Double
    }

    /// How hard background is held.
    private enum Level: Int, Comparable {
        case stopped, bounded, full
        static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    private var level = Level.full
    private var since: ContinuousClock.Instant?

    /// A higher level must hold for so long before it counts, so that a player that asks for one segment after the
    /// other finds the link as it left it.
    private static let calm = Duration.milliseconds(600)
    /// How many segments' worth of transfer time the reservoir is, and how many reservoirs the cushion reaches up to.
    private static let reserve = 2.0
    private static let cushion = 3.0
    /// A segment counts as so many seconds at least: requests have a cost of their own.
    private static let shortestSegment = 4.0
    /// What may wait at the bottleneck, in seconds of the link. LEDBAT allows 0.1; this bounds a window, which must
    /// also cover the round trip of a slow link.
    private static let queue = 0.5
    /// Transfers at once, while sessions draw: each has a window.
    private static let places = 2

    /// What background may take now.
    ///
    /// - Parameters:
    ///   - waiting: the sessions that wait for bytes of the origin's.
    ///   - isWatched: sessions draw from the origin, whether they wait or not.
    ///   - link: what the link carries, in bytes a second; nil before that is known.
    mutating func allowance(
        for waiting: [Viewer], isWatched: Bool, link: Double?, at now: ContinuousClock.Instant
    ) -> BackgroundAllowance {
        let share = Self.share(for: waiting, link: link)
        let wanted: Level = share <= 0 ? .stopped : share < 1 ? .bounded : .full
        settle(on: wanted, at: now)
        guard isWatched || level < .full else { return .full }
        switch level {
        case .stopped: return .nothing
        case .full: return BackgroundAllowance(window: Self.window(link), places: Self.places)
        case .bounded:
            let spare = (link ?? 0) - waiting.reduce(0) { $0 + $1.rate }
            let rate = Int64(max(0, spare * min(share, 1)))
            if rate < Self.smallest { return .nothing }
            return BackgroundAllowance(rate: rate, window: Self.window(link), places: Self.places)
        }
    }

    /// A lower level counts at once.
    private mutating func settle(on wanted: Level, at now: ContinuousClock.Instant) {
        guard wanted > level else {
            (level, since) = (wanted, nil)
            return
        }
        guard let since else { return since = now }
        if now - since >= Self.calm { (level, self.since) = (wanted, nil) }
    }

    /// 0 in the reservoir of any, 1 above the cushions of all.
    private static func share(for waiting: [Viewer], link: Double?) -> Double {
        guard let link, link > 0 else { return waiting.isEmpty ? 1 : 0 }
        let load = waiting.reduce(0) { $0 + $1.rate } / link
        let shares = waiting.map { viewer in
            let reservoir = reserve * max(viewer.segment, shortestSegment) * load
            return (viewer.buffer - reservoir) / max(reservoir * (cushion - 1), 0.001)
        }
        return min(max(shares.min() ?? 1, 0), 1)
    }

    private static func window(_ link: Double?) -> Int64? {
        link.map { max(BackgroundAllowance.smallestWindow, Int64($0 * queue)) }
    }

    /// A rate below this is not worth its while: a few packets a second.
    private static let smallest: Int64 = 4 << 10
}
