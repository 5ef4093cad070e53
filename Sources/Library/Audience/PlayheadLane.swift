/// What a session asked for and got of one kind of media, whatever the qualities: pictures (with sound, where that is
/// muxed in), or sound of its own.
///
/// Pure. What each request means is told from the ones before it in the same rendition:
///
/// - *on*: the next segment, or one of the next few, since players leave out what they cannot get;
/// - *again*: one of the last two, since players try again, and some have two requests under way;
/// - *elsewhere*: anything else, which is a seek.
///
/// The first request in another rendition is a change of quality where it lies in what was asked for, or right behind
/// it. One for the first two segments is neither a change nor a seek: libavformat opens every variant and rendition so,
/// and adaptive players begin so. The choice of a rendition shows in its third segment in sequence.
struct PlayheadLane {
    /// What a request means.
    enum Step: Equatable {
        /// A segment after what was asked for, or the same again.
        case on
        /// The opening of a rendition, of which others may follow: nothing plays before that is over.
        case opening
        /// A seek to where the segment begins.
        case jump
    }

    /// One rendition's requests in sequence.
    private struct Run {
        var last: SegmentSpan
        /// How many segments in sequence.
        var count = 1
    }

    private var runs: [String: Run] = [:]
    /// The rendition that is played, as far as is known.
    private(set) var choice: String?
    /// Where the delivered media begins and ends that the last jump led to, in seconds.
    private(set) var start: Double
    private(set) var front: Double
    /// Where the media ends that was asked for.
    private(set) var askedEnd: Double
    /// The number of segments that were asked for since the last jump.
    private var requests = 0

    /// So many segments further on is still no seek.
    static let reach = 3
    /// So many segments in sequence show a choice.
    static let sequence = 3

    /// A lane that begins with this segment.
    init(_ span: SegmentSpan) {
        (start, front, askedEnd) = (span.start, span.start, span.start)
    }

    /// Takes a request.
    ///
    /// - Parameter position: the session's playhead.
    mutating func asked(_ span: SegmentSpan, of rendition: String, position: Double) -> Step {
        let step = self.step(to: span, of: rendition, isNear: isNear(span, position))
        requests += 1
        note(span, of: rendition, isElsewhere: step == .jump)
        switch step {
        case .jump: (start, front, askedEnd, requests) = (span.start, span.start, span.end, 1)
        case .on: askedEnd = max(askedEnd, span.end)
        case .opening: if requests == 1 { askedEnd = span.end }
        }
        return step
    }

    /// Takes a segment that the session has got.
    mutating func delivered(_ span: SegmentSpan) {
        // What a player has left out, or gets in another order, holds up nothing.
        let slack = Double(Self.reach) * span.duration
        if span.start <= front + slack, span.start >= start - slack { front = max(front, span.end) }
    }

    /// Takes it that everything up to this segment was asked for and delivered; nothing where that lies behind.
    mutating func flooded(to span: SegmentSpan, of rendition: String) {
        guard span.end > askedEnd else { return }
        (askedEnd, front) = (span.end, span.end)
        runs[rendition] = Run(last: span, count: Self.sequence)
        choice = rendition
    }

    // MARK: Judging

    private func step(to span: SegmentSpan, of rendition: String, isNear: Bool) -> Step {
        guard let run = runs[rendition] else { return first(span, isNear: isNear) }
        guard (-1...Self.reach).contains(span.number - run.last.number) else {
            // It may come back to a quality that it had left.
            return choice != rendition && isNear ? .on : .jump
        }
        if rendition == choice || isNear { return .on }
        return run.count + 1 < Self.sequence ? .opening : .jump
    }

    /// The first request of a rendition.
    private func first(_ span: SegmentSpan, isNear: Bool) -> Step {
        let isAtStart = abs(span.start - start) < 0.5 * span.duration
        if requests == 0 || (choice == nil && isAtStart) { return .opening }
        return isNear ? .on : isBeginning(span) ? .opening : .jump
    }

    /// Whether it lies in what was asked for and is not over, or close behind: renditions may be cut at different
    /// places.
    private func isNear(_ span: SegmentSpan, _ position: Double) -> Bool {
        span.end > position - 0.5 * span.duration
            && span.start <= askedEnd + Double(Self.reach - 1) * span.duration
    }

    private func isBeginning(_ span: SegmentSpan) -> Bool { span.start < 1.5 * span.duration }

    private mutating func note(_ span: SegmentSpan, of rendition: String, isElsewhere: Bool) {
        if isElsewhere { runs = [:] }
        guard var run = runs[rendition] else {
            runs[rendition] = Run(last: span)
            return
        }
        let step = span.number - run.last.number
        run.count = (0...Self.reach).contains(step) ? run.count + min(step, 1) : step < 0 ? run.count : 1
        if step > 0 || step < -1 { run.last = span }
        runs[rendition] = run
        if run.count >= Self.sequence { choice = rendition }
    }
}
