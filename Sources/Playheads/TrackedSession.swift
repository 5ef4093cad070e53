import EventLoop

/// A session that the tracker knows: its asset, its playhead, and its waits for an origin.
@LoopActor final class TrackedSession {
    let asset: any PlayedAsset
    let since: ContinuousClock.Instant
    var playhead: SessionPlayhead
    /// By the names of the renditions' folders.
    var cursors: [String: RenditionCursor] = [:]
    /// Number of pieces that the session waits for, on their way from the origin.
    var awaited = 0
    /// Time of the latest begin or end of a wait for an origin; nil before the first one.
    var lastWait: ContinuousClock.Instant?
    /// Recent consumption by kind of media, in bytes per second of media.
    private var rates: [MediaKind: Double] = [:]
    /// Duration of a recent segment, in seconds.
    private var segment = 0.0

    private static let shortestPause = 10.0

    init(_ asset: any PlayedAsset, at now: ContinuousClock.Instant) {
        (self.asset, since) = (asset, now)
        playhead = SessionPlayhead(at: now)
    }

    /// Records the size of a segment that the player got.
    func consumed(_ bytes: Int64, _ span: SegmentSpan, _ kind: MediaKind) {
        guard span.duration > 0, bytes > 0 else { return }
        let rate = Double(bytes) / span.duration
        // Segments differ in size: half of the old figure stays.
        rates[kind] = rates[kind].map { ($0 + rate) / 2 } ?? rate
        segment = kind == .main || segment == 0 ? span.duration : segment
    }

    /// True if the session waits for a piece, or has not been idle for too long.
    func isPresent(at now: ContinuousClock.Instant) -> Bool { awaited > 0 || !playhead.isOver(at: now) }

    /// True if the session waits for an origin, or will soon do so again, for the next segment.
    func isDrawing(at now: ContinuousClock.Instant) -> Bool {
        guard let lastWait else { return false }
        return awaited > 0 || (now - lastWait).inSeconds < max(2 * segment, Self.shortestPause)
    }

    /// True once the session has requested a segment.
    var isWatching: Bool { playhead.requestedEnd != nil }

    func demand(at now: ContinuousClock.Instant) -> YieldPolicy.Demand {
        YieldPolicy.Demand(buffer: playhead.buffer(at: now), rate: rates.values.reduce(0, +), segment: segment)
    }
}
