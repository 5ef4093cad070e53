/// One session's playhead, and the buffer ahead of it, inferred from what its player asks for.
///
/// Pure: told what happens and when. Players read ahead, mpv without end, hls.js and VLC some 30 s, so requests are not
/// the playhead. It is reckoned as what would be on the screen: it begins to run when the first segment has been
/// delivered, runs in real time, and stops where delivered media ends, until more of it comes. A seek moves it at once
/// (`PlayheadLane` tells what is one).
///
/// Pauses, other speeds, seeks within what a player holds, and what it does with its own buffer cannot be seen from
/// here: a player that is paused is taken to play on to the end of what it has.
struct SessionPlayhead {
    /// What a rendition carries, as far as the playhead is concerned; subtitles have no say in it.
    enum Kind { case main, audio }

    private var lanes: [Kind: PlayheadLane] = [:]
    /// The playhead at an instant; it runs from there if it `isRunning`.
    private var anchor: (position: Double, at: ContinuousClock.Instant)
    private(set) var isRunning = false
    /// When anything was last asked for or delivered.
    private(set) var lastEvent: ContinuousClock.Instant

    init(at now: ContinuousClock.Instant) {
        anchor = (0, now)
        lastEvent = now
    }

    // MARK: Events

    /// The session asks for a segment. True if that is a seek.
    mutating func asked(
        _ span: SegmentSpan, of rendition: String, _ kind: Kind, at now: ContinuousClock.Instant
    ) -> Bool {
        settle(at: now)
        let isFirst = lanes.isEmpty
        var lane = lanes[kind] ?? PlayheadLane(span)
        let step = lane.asked(span, of: rendition, position: anchor.position)
        lanes[kind] = lane
        if isFirst { anchor.position = span.start }
        switch step {
        case .on: return false
        case .opening:
            // Nothing plays before a player has opened all that it opens.
            if lane.choice == nil { (anchor.position, isRunning) = (frontmostStart, false) }
            return false
        case .jump: return jump(to: span)
        }
    }

    /// A segment was delivered to its last byte.
    mutating func delivered(_ span: SegmentSpan, _ kind: Kind, at now: ContinuousClock.Instant) {
        settle(at: now)
        lanes[kind]?.delivered(span)
        if !isRunning, let front, front > anchor.position { isRunning = true }
    }

    /// So much was taken at once that not each segment was looked at: everything up to this one.
    mutating func flooded(
        to span: SegmentSpan, of rendition: String, _ kind: Kind, at now: ContinuousClock.Instant
    ) {
        settle(at: now)
        var lane = lanes[kind] ?? PlayheadLane(span)
        lane.flooded(to: span, of: rendition)
        lanes[kind] = lane
        if let front, front > anchor.position { isRunning = true }
    }

    /// Another kind of media follows a seek a moment later, to where its own segment begins: that is no second one.
    private mutating func jump(to span: SegmentSpan) -> Bool {
        let follows = abs(span.start - anchor.position) <= 1.5 * span.duration && lanes.count > 1
        if !follows { (anchor.position, isRunning) = (span.start, false) }
        return !follows
    }

    private mutating func settle(at now: ContinuousClock.Instant) {
        anchor = (position(at: now), now)
        lastEvent = now
    }

    // MARK: Answers

    /// What would be on the screen, in seconds of media time.
    func position(at now: ContinuousClock.Instant) -> Double {
        guard isRunning, let front else { return anchor.position }
        return max(anchor.position, min(front, anchor.position + (now - anchor.at).inSeconds))
    }

    /// Where the delivered media ends; nil before any was asked for.
    var front: Double? { current.map(\.front).min() }

    /// Where the media ends that was asked for: a download for this session goes on from there.
    var askedEnd: Double? { current.map(\.askedEnd).min() }

    /// The media ahead of the playhead, in seconds.
    func buffer(at now: ContinuousClock.Instant) -> Double { max(0, (front ?? 0) - position(at: now)) }

    /// The rendition that is played; nil while that is not clear: from the third segment in sequence on it is.
    var choice: String? { lanes[.main]?.choice ?? lanes[.audio]?.choice }

    /// Whether the session has ended by idleness. A player that holds much asks for nothing for as long as that lasts,
    /// and may be paused meanwhile: hence twice its buffer, and never less than a minute.
    func isOver(at now: ContinuousClock.Instant) -> Bool {
        let held = max(0, (front ?? 0) - anchor.position)
        return (now - lastEvent).inSeconds > max(2 * held, Self.shortestIdleness)
    }

    private static let shortestIdleness = 60.0

    /// The lanes that are in use: sound of its own may have been left for sound that is muxed in, and after a seek each
    /// lane counts once it has followed.
    private var current: [PlayheadLane] {
        guard lanes.count > 1, let furthest = lanes.values.map(\.askedEnd).max() else { return Array(lanes.values) }
        return lanes.values.filter { $0.askedEnd >= furthest - Self.slack }
    }

    /// So far may lanes of one session be apart, in seconds: more than two long segments.
    private static let slack = 30.0

    private var frontmostStart: Double { current.map(\.start).min() ?? anchor.position }
}

extension Duration {
    /// The whole of it in seconds.
    var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}
