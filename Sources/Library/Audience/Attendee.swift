import EventLoop

/// A session in the audience: what it plays, its playhead, and what it waits for.
@LoopActor final class Attendee {
    let asset: Asset
    /// When it began.
    let since: ContinuousClock.Instant
    var playhead: SessionPlayhead
    /// Its seats, by the names of the renditions' folders.
    var seats: [String: Seat] = [:]
    /// The pieces that are on their way to it from the origin.
    var awaited = 0
    /// When it last began or ended to wait for anything of the origin's; nil if it never did.
    var lastWait: ContinuousClock.Instant?

    init(_ asset: Asset, at now: ContinuousClock.Instant) {
        (self.asset, since) = (asset, now)
        playhead = SessionPlayhead(at: now)
    }

    /// Whether it waits for something, or has not been silent for too long.
    func isPresent(at now: ContinuousClock.Instant) -> Bool { awaited > 0 || !playhead.isOver(at: now) }

    /// What it consumes of each kind, in bytes a second of media, as of late.
    private var rates: [SessionPlayhead.Kind: Double] = [:]
    /// How long its segments are, in seconds.
    private var segment = 0.0

    /// Takes the size of a segment that it has got.
    func consumed(_ bytes: Int64, _ span: SegmentSpan, _ kind: SessionPlayhead.Kind) {
        guard span.duration > 0, bytes > 0 else { return }
        let rate = Double(bytes) / span.duration
        // Segments differ; half of the old figure stays.
        rates[kind] = rates[kind].map { ($0 + rate) / 2 } ?? rate
        segment = kind == .main || segment == 0 ? span.duration : segment
    }

    /// What yielding must know of it.
    func viewer(at now: ContinuousClock.Instant) -> YieldPolicy.Viewer {
        YieldPolicy.Viewer(buffer: playhead.buffer(at: now), rate: rates.values.reduce(0, +), segment: segment)
    }

    /// Whether it draws from the origin: it waits, or will do so again when its player's buffer wants the next segment.
    func isDrawing(at now: ContinuousClock.Instant) -> Bool {
        guard let lastWait else { return false }
        return awaited > 0 || (now - lastWait).inSeconds < max(2 * segment, Self.shortestPause)
    }

    private static let shortestPause = 10.0

    /// Whether it has asked for a segment.
    var isWatching: Bool { playhead.askedEnd != nil }
}
