/// One session's playhead and the buffer ahead of it, inferred from what its player requests. Knows no clock: takes events
/// with their times. An object, because a question to one with times in it would copy it. Players read ahead, mpv without
/// limit, hls.js and VLC by about 30 s, so a request is not the playhead.
/// The playhead models the media on the screen: it starts when the first segment has been delivered, advances in real
/// time, and stops at the end of the delivered media until more arrives. A seek moves it at once (`PlayheadLane`
/// recognizes seeks). Pauses and other speeds show in the requests of players that read ahead by a fixed amount
/// (`ReadAhead`). Those of a player that has everything, seeks within its buffer, and evictions from that buffer cannot be
/// seen from here: unless the player reports them (`PlayheadCorrection`), it is assumed to play on to the end of what it
/// has.
final class SessionPlayhead {
    /// End of the asset in seconds; nil while that is unknown, and for live streams.
    var end: Double?
    private let traits: PlayerTraits
    private var readAhead = ReadAhead()
    private var lastDelivery: ContinuousClock.Instant
    /// True if the player reports its position, so that nothing is inferred from its read-ahead.
    private var isReported = false
    private var lanes = PlayheadLanes()
    /// The playhead at an instant. Its front and choice are set when it is read.
    private var anchor = PlayheadReading(position: 0, front: nil, isRunning: false)
    private var anchored: ContinuousClock.Instant
    /// Time of the latest request or delivery.
    private(set) var lastEvent: ContinuousClock.Instant

    init(at now: ContinuousClock.Instant, _ traits: PlayerTraits = PlayerTraits(), end: Double? = nil) {
        anchored = now
        lastEvent = now
        lastDelivery = now
        self.traits = traits
        self.end = end
    }

    /// Records that the session requests a segment. True if that is a seek.
    func requested(
        _ span: SegmentSpan, of rendition: String, _ kind: MediaKind, at now: ContinuousClock.Instant
    ) -> Bool {
        advance(to: now)
        let isFirst = lanes.isEmpty
        // Taken out, so that its tables are changed in place.
        var lane = lanes[kind].take() ?? PlayheadLane(span)
        let before = (front: lane.front, end: lane.requestedEnd)
        let step = lane.requested(span, of: rendition, position: anchor.position)
        lanes[kind] = lane

        if isFirst {
            move(to: span.start)
        }

        switch step {
        case .on:
            guard kind == .main, lane.requestedEnd > before.end else { return false }
            // While a segment is under way, a small buffer shows a slow link, and no pause.
            if before.front >= before.end - 0.001 {
                pace(span, delivered: before.front, at: now)
            } else {
                anchor.limit = nil
                readAhead.restart()
            }
            return false
        case .opening:
            // Playback begins only after the player has opened all renditions that it opens.
            if lane.choice == nil {
                move(to: frontmostStart)
            }
            return false
        case .jump: return jump(to: span)
        }
    }

    func delivered(_ span: SegmentSpan, _ kind: MediaKind, at now: ContinuousClock.Instant) {
        advance(to: now)
        let before = front ?? 0
        lanes[kind]?.delivered(span)
        lastDelivery = now
        run(isFurther: front ?? 0 > before)
        if kind == .main {
            bound(after: span)
        }
    }

    /// Records that the player has a part of a segment. Playback does not begin with a part: libavformat reads the
    /// beginnings of all renditions first.
    /// - Parameter share: the part, from 0 to 1.
    func progressed(_ span: SegmentSpan, share: Double, _ kind: MediaKind, at now: ContinuousClock.Instant) {
        guard traits.playsParts, anchor.isRunning || anchor.isStarved else { return }
        advance(to: now)
        let before = front ?? 0
        lanes[kind]?.progressed(span, share: share)
        run(isFurther: front ?? 0 > before)
    }

    /// Records that the reply with a segment has not begun for some time, or that it begins or fails at last. libavformat opens
    /// the next segment before it reads the present one, and has nothing of that one while it waits (hls.c, `read_data`).
    func opened(_ span: SegmentSpan, isAnswered: Bool, _ kind: MediaKind, at now: ContinuousClock.Instant) {
        guard traits.playsParts else { return }
        advance(to: now)
        let before = front ?? 0
        if isAnswered {
            lanes[kind]?.answered(span)
        } else {
            lanes[kind]?.withheld(span)
        }
        if front ?? 0 > before {
            run(isFurther: true)
        }
    }

    /// Corrects the playhead by a request of a player that keeps a fixed amount of media ahead of it.
    /// - Parameter delivered: end of the delivered media in seconds.
    private func pace(_ span: SegmentSpan, delivered: Double, at now: ContinuousClock.Instant) {
        anchor.limit = nil
        guard end != nil, !isReported, anchor.isRunning else { return readAhead.restart() }
        let buffer = delivered - anchor.position
        let wait = (now - lastDelivery).inSeconds
        if let right = readAhead.requested(buffer: buffer, after: wait, segment: span.duration) {
            anchor.position = max(anchor.start, delivered - right)
        }
    }

    /// Bounds the playhead of a player that keeps a fixed amount of media ahead: it would request the next segment at a
    /// position, now that it has all that it requested.
    private func bound(after span: SegmentSpan) {
        guard let end, !isReported, readAhead.isSteady, let target = readAhead.target, let lane = lanes[.main],
            lane.front >= lane.requestedEnd - 0.001, lane.requestedEnd < end - 0.001
        else { return }
        anchor.limit = max(anchor.position, lane.requestedEnd - target + ReadAhead.tolerance(span.duration))
    }

    /// Records that so many segments were delivered at once that only this one, the last of them, was examined.
    func deliveredInBulk(
        upTo span: SegmentSpan, of rendition: String, _ kind: MediaKind, at now: ContinuousClock.Instant
    ) {
        advance(to: now)
        let before = front ?? 0
        lastDelivery = now
        var lane = lanes[kind] ?? PlayheadLane(span)
        lane.deliveredInBulk(upTo: span, of: rendition)
        lanes[kind] = lane
        run(isFurther: front ?? 0 > before)
    }

    func apply(_ correction: PlayheadCorrection, at now: ContinuousClock.Instant) {
        anchor = reading(at: now)
        anchored = now
        if case .report = correction {
            isReported = true
        }
        anchor.apply(correction)
    }

    /// After a seek, the other kind of media follows to the start of its own segment: that is no second seek.
    private func jump(to span: SegmentSpan) -> Bool {
        let follows = abs(span.start - anchor.position) <= 1.5 * span.duration && lanes.hasBoth
        if !follows {
            move(to: span.start)
        }
        return !follows
    }

    /// Begins a range of media; the playhead stands still until a segment is delivered.
    private func move(to start: Double) {
        anchor.position = start
        anchor.start = start
        anchor.isRunning = false
        anchor.isHeld = false
        anchor.isStarved = false
        anchor.limit = nil
        readAhead.restart()
    }

    /// Lets the playhead advance if there is media ahead of it.
    /// - Parameter isFurther: true if there is more than before.
    private func run(isFurther: Bool) {
        if isFurther {
            anchor.isHeld = false
        }
        guard !anchor.isHeld, let front, front > anchor.position else { return }
        if anchor.isStarved, front - anchor.position < traits.resume, front < (end ?? .infinity) - 0.001 {
            return
        }
        anchor.isRunning = true
        anchor.isStarved = false
    }

    private func advance(to now: ContinuousClock.Instant) {
        anchor = reading(at: now)
        anchored = now
        lastEvent = now
        guard anchor.isRunning, anchor.rate > 0, let front, anchor.position >= front - 1e-6,
            front < (end ?? .infinity) - 0.001
        else { return }
        readAhead.restart()
        if traits.resume > 0 {
            anchor.isRunning = false
            anchor.isStarved = true
        }
    }

    func position(at now: ContinuousClock.Instant) -> Double { reading(at: now).position }

    /// End of the delivered media in seconds; nil before the first request.
    var front: Double? { lanes.least { $0.front } }
    /// End of the requested media in seconds: a download for this session continues there.
    var requestedEnd: Double? { lanes.least { $0.requestedEnd } }

    func buffer(at now: ContinuousClock.Instant) -> Double { reading(at: now).buffer }

    /// See `PlayheadLanes`.
    var choice: String? { lanes.choice }

    func reading(at now: ContinuousClock.Instant) -> PlayheadReading {
        var reading = anchor
        reading.front = front
        reading.choice = lanes.choice
        reading.isOpening = lanes.isOpening
        reading.position = reading.position(after: (now - anchored).inSeconds)
        return reading
    }

    /// True if the session has ended by idleness. A player with a long buffer requests nothing until it has played that,
    /// and may be paused meanwhile: the limit is twice the buffer, and at least a minute.
    func isOver(at now: ContinuousClock.Instant) -> Bool {
        let held = max(0, (front ?? 0) - anchor.position)
        return (now - lastEvent).inSeconds > max(2 * held, Self.shortestIdleness)
    }

    private static let shortestIdleness = 60.0

    private var frontmostStart: Double { lanes.least { $0.start } ?? anchor.position }
}

extension Duration {
    /// The duration in seconds.
    package var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}
