import EventLoop

/// A session in the audience: what it plays, its playhead, and what it waits for.
@LoopActor final class Attendee {
    let asset: Asset
    var playhead: SessionPlayhead
    /// Its seats, by the names of the renditions' folders.
    var seats: [String: Seat] = [:]
    /// The pieces that are on their way to it from the origin.
    var awaited = 0
    /// When it last began or ended to wait for anything of the origin's; nil if it never did.
    var lastWait: ContinuousClock.Instant?

    init(_ asset: Asset, at now: ContinuousClock.Instant) {
        self.asset = asset
        playhead = SessionPlayhead(at: now)
    }

    /// Whether it has asked for a segment.
    var isWatching: Bool { playhead.askedEnd != nil }
}
