/// One kind of media that a session requests and receives, in all qualities: video (with its muxed audio), or separate
/// audio.
///
/// Pure. Earlier requests in the same rendition give each request its meaning:
///
/// - *on*: the next segment, or one of the next few, since players omit segments that they cannot get;
/// - *again*: one of the last two, since players retry, and some have two requests under way;
/// - *elsewhere*: any other segment, which is a seek.
///
/// The first request in another rendition is a change of quality if its segment is in the requested media, or directly
/// behind it. A request for one of the first two segments is neither a change nor a seek: libavformat opens every variant
/// and rendition that way, and adaptive players begin that way. The third segment in sequence shows the choice of a
/// rendition.
struct PlayheadLane {
    enum Step: Equatable {
        /// A segment after the requested ones, or one of these again.
        case on
        /// The opening of a rendition. Others may follow, and playback begins after the last one.
        case opening
        /// A seek to the start of the segment.
        case jump
    }

    private struct Run {
        var last: SegmentSpan
        var count = 1
    }

    private var runs: [String: Run] = [:]
    /// The rendition that is played, once that is known.
    private(set) var choice: String?
    /// True from the opening of a second rendition to a seek, or to the request for a third segment.
    private(set) var isOpening = false
    /// Start and end of the delivered media since the last jump, in seconds.
    private(set) var start: Double
    private var deliveredEnd: Double
    /// The two latest segments in sequence that were requested.
    private var latest: SegmentSpan?
    private var earlier: SegmentSpan?
    /// A request whose reply has not begun, and the start of the media that the player does not read until then.
    private var opening: (number: Int, unread: Double)?
    /// End of the requested media, in seconds.
    private(set) var requestedEnd: Double
    private var requests = 0
    /// A request up to this many segments further on is not a seek.
    static let reach = 3
    /// Largest gap between two segments in sequence, in seconds.
    private static let joint = 0.1
    /// This many segments in sequence show a choice.
    static let sequence = 3

    init(_ span: SegmentSpan) {
        start = span.start
        deliveredEnd = span.start
        requestedEnd = span.start
    }

    /// End of the delivered media that the player can read, in seconds.
    var front: Double { min(deliveredEnd, opening?.unread ?? .infinity) }

    /// Records a request while the session's playhead is at `position`.
    mutating func requested(_ span: SegmentSpan, of rendition: String, position: Double) -> Step {
        let step = self.step(to: span, of: rendition, isNear: isNear(span, position))
        requests += 1
        record(span, of: rendition, isElsewhere: step == .jump)

        if step == .jump {
            latest = nil
            earlier = nil
            opening = nil
        }
        if span.number > latest?.number ?? -1 {
            earlier = latest
            latest = span
        }

        switch step {
        case .jump:
            start = span.start
            deliveredEnd = span.start
            requestedEnd = span.end
            requests = 1
            isOpening = false
        case .on:
            requestedEnd = max(requestedEnd, span.end)
            if span.start > start + 1.5 * span.duration {
                isOpening = false
            }
        case .opening:
            if requests == 1 {
                requestedEnd = span.end
            }
            isOpening = runs.count > 1
        }
        return step
    }

    mutating func delivered(_ span: SegmentSpan) {
        // Segments that a player omits, or gets in another order, do not stop the front.
        let slack = Double(Self.reach) * span.duration
        if span.start <= deliveredEnd + slack, span.start >= start - slack {
            deliveredEnd = max(deliveredEnd, span.end)
        }
    }

    /// Records that a part of a segment was delivered, from its start on. Ignored for a segment that does not continue the front.
    mutating func progressed(_ span: SegmentSpan, share: Double) {
        // libavformat requests the next segment while it reads one: its part is of use only once that one is complete.
        guard span.start <= deliveredEnd + Self.joint, span.start >= start - 0.5 * span.duration else { return }
        deliveredEnd = max(deliveredEnd, span.start + min(max(share, 0), 1) * span.duration)
    }

    /// Records that the reply with this segment does not begin. The player does not read the segment before it until then.
    mutating func withheld(_ span: SegmentSpan) {
        guard let latest, latest.number == span.number, let earlier, abs(earlier.end - span.start) < Self.joint else {
            return
        }
        opening = (span.number, max(start, earlier.start))
    }

    /// Records that the reply with this segment has begun, or failed.
    mutating func answered(_ span: SegmentSpan) {
        if opening?.number == span.number {
            opening = nil
        }
    }

    /// Records that everything up to this segment was requested and delivered; ignored if the segment is behind.
    mutating func deliveredInBulk(upTo span: SegmentSpan, of rendition: String) {
        guard span.end > requestedEnd else { return }
        requestedEnd = span.end
        deliveredEnd = span.end
        opening = nil
        runs[rendition] = Run(last: span, count: Self.sequence)
        choice = rendition
    }

    private func step(to span: SegmentSpan, of rendition: String, isNear: Bool) -> Step {
        guard let run = runs[rendition] else { return first(span, isNear: isNear) }
        guard (-1...Self.reach).contains(span.number - run.last.number) else {
            // The player may come back to a quality that it had left.
            guard isNear, choice != rendition else { return .jump }
            return .on
        }
        if rendition == choice || isNear {
            return .on
        }
        guard run.count + 1 < Self.sequence else { return .jump }
        return .opening
    }

    private func first(_ span: SegmentSpan, isNear: Bool) -> Step {
        let isAtStart = abs(span.start - start) < 0.5 * span.duration
        if requests == 0 || (choice == nil && isAtStart) {
            return .opening
        }
        if isNear {
            return .on
        }
        return isBeginning(span) ? .opening : .jump
    }

    /// True if the segment is between playhead and requested end, or close behind: renditions may be cut differently.
    private func isNear(_ span: SegmentSpan, _ position: Double) -> Bool {
        span.end > position - 0.5 * span.duration && span.start <= requestedEnd + Double(Self.reach - 1) * span.duration
    }

    private func isBeginning(_ span: SegmentSpan) -> Bool { span.start < 1.5 * span.duration }

    private mutating func record(_ span: SegmentSpan, of rendition: String, isElsewhere: Bool) {
        if isElsewhere {
            runs = [:]
        }
        guard var run = runs[rendition] else {
            runs[rendition] = Run(last: span)
            return
        }
        let step = span.number - run.last.number
        switch step {
        case 0...Self.reach: run.count += min(step, 1)
        case ..<0: break
        default: run.count = 1
        }
        if step > 0 || step < -1 {
            run.last = span
        }
        runs[rendition] = run
        if run.count >= Self.sequence {
            choice = rendition
        }
    }
}
