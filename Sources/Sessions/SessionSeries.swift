import AccessLog

/// The deliveries of one session over time, for its timeline. Bounded, whatever the length of the session. Pure: times
/// are seconds since the session began.
struct SessionSeries {
    /// The arrival of one segment from the origin, or from a fetch in progress.
    struct Arrival: Equatable {
        /// Sent to the player.
        var bytes: Int64
        /// Received from the origin meanwhile.
        var fetched: Int64
        /// Time from the request to the last byte.
        var wait: Double
    }

    /// One delivered segment and its circumstances.
    struct Delivery {
        var segment: PlayedSegment
        var source: PieceSource
        /// The rendition whose piece was sent instead; nil for the segment's own.
        var substitute: String?
        /// Nil if the player did not wait, or if its reply has not ended yet.
        var arrival: Arrival?
        /// Delivered media ahead of the playhead just before, in seconds.
        var bufferBefore: Double
        /// As `bufferBefore`, just after.
        var buffer: Double
        var playhead: Double
    }

    private(set) var renditions: [TimelineRendition] = []
    private(set) var segments: [TimelineSegment] = []
    /// Number of the oldest segments that were dropped.
    private(set) var omitted = 0
    /// Maximum number of entries. At two seconds a segment, a film of a quarter of an hour is kept in full.
    static let limit = 512
    /// Number of the latest entries among which the one of an arrival is searched.
    private static let recent = 8

    mutating func add(_ delivery: Delivery, at time: Double) {
        let media = delivery.segment
        let rendition = index(of: media.rendition, isAudio: media.isAudio)
        let substitute = delivery.substitute.map { index(of: $0, isAudio: media.isAudio) }
        let start = Self.rounded(media.start)
        let end = max(start, Self.rounded(media.start + media.duration))
        var entry = TimelineSegment(
            media.number, of: rendition, substitute: substitute, from: delivery.source, media: start..<end,
            at: Self.rounded(time))
        entry.bufferBefore = Self.rounded(delivery.bufferBefore)
        entry.buffer = Self.rounded(delivery.buffer)
        entry.playhead = Self.rounded(delivery.playhead)
        if let arrival = delivery.arrival {
            entry.record(arrival)
        }

        // A player that requests a segment in several ranges receives it several times.
        if let last = segments.last, last.count == 1, last.rendition == entry.rendition, last.number == entry.number {
            entry.bufferBefore = last.bufferBefore
            entry.bytes += last.bytes
            entry.wait = entry.wait ?? last.wait
            entry.rate = entry.rate ?? last.rate
            segments[segments.count - 1] = entry
            return
        }

        if segments.count >= Self.limit {
            thin()
        }
        segments.append(entry)
    }

    /// Records an arrival after the delivery of its segment.
    mutating func record(_ arrival: Arrival, of number: Int, in rendition: String) {
        let index = segments.suffix(Self.recent).lastIndex { segment in
            segment.number == number && segment.count == 1 && renditions[segment.rendition].id == rendition
        }
        if let index {
            segments[index].record(arrival)
        }
    }

    /// Counts bytes sent from the store towards the segment that was delivered last, if it is from there.
    mutating func addStored(_ bytes: Int64) {
        guard let last = segments.indices.last, segments[last].source == .store else { return }
        segments[last].bytes += bytes
    }

    private mutating func index(of id: String, isAudio: Bool) -> Int {
        if let known = renditions.firstIndex(where: { $0.id == id }) {
            return known
        }
        renditions.append(TimelineRendition(id: id, isAudio: isAudio))
        return renditions.count - 1
    }

    /// Merges neighbours that differ only in their number, two into one; then drops the oldest if there are too many.
    private mutating func thin() {
        var kept: [TimelineSegment] = []
        kept.reserveCapacity(segments.count)
        // By rendition: the entry that the next one of the rendition may be merged into.
        var open: [Int: Int] = [:]
        for segment in segments {
            if let index = open[segment.rendition], kept[index].isAlike(segment) {
                kept[index].merge(segment)
                open[segment.rendition] = nil
            } else {
                open[segment.rendition] = kept.count
                kept.append(segment)
            }
        }
        let excess = kept.count - Self.limit * 3 / 4
        if excess > 0 {
            omitted += kept.prefix(excess).reduce(0) { $0 + $1.count }
            kept.removeFirst(excess)
        }
        segments = kept.sorted { $0.time < $1.time }
    }

    /// Rounds to milliseconds; finer digits are noise, and take space in the log.
    static func rounded(_ seconds: Double) -> Double { SessionEvents.milliseconds(seconds) }
}

extension TimelineSegment {
    fileprivate mutating func record(_ arrival: SessionSeries.Arrival) {
        bytes += arrival.bytes
        guard arrival.fetched > 0, arrival.wait > 0 else { return }
        wait = SessionSeries.rounded(arrival.wait)
        rate = (Double(arrival.fetched) * 8 / arrival.wait).rounded()
    }

    /// True if another segment follows this one in the same rendition, from the same source.
    fileprivate func isAlike(_ next: TimelineSegment) -> Bool {
        rendition == next.rendition && substitute == next.substitute && source == next.source
            && number.addingReportingOverflow(count) == (next.number, false)
    }

    fileprivate mutating func merge(_ next: TimelineSegment) {
        if let rate, let wait, let otherRate = next.rate, let otherWait = next.wait {
            self.rate = ((rate * wait + otherRate * otherWait) / (wait + otherWait)).rounded()
            self.wait = SessionSeries.rounded(wait + otherWait)
        } else {
            rate = rate ?? next.rate
            wait = wait ?? next.wait
        }
        time = next.time
        buffer = next.buffer
        playhead = next.playhead
        bufferBefore = min(bufferBefore, next.bufferBefore)
        count += next.count
        duration = SessionSeries.rounded(duration + next.duration)
        bytes += next.bytes
    }
}

/// The periods of the stalls that `PlayWatch` counts. Bounded: the oldest are dropped. Pure.
struct StallSpans {
    private(set) var spans: [TimelineStall] = []
    /// Inferred stalls that the player has not confirmed yet.
    private var pending: [TimelineStall] = []
    private static let limit = 256

    mutating func add(_ length: Double, until end: Double) {
        if spans.count >= Self.limit {
            spans.removeFirst(Self.limit / 2)
        }
        spans.append(Self.span(length, until: end))
    }

    mutating func addPending(_ length: Double, until end: Double) { pending.append(Self.span(length, until: end)) }

    /// Counts the pending stalls, or a stall of unknown length if there is none.
    mutating func confirm(at time: Double, isOpen: Bool) {
        if pending.isEmpty, !isOpen {
            add(0, until: time)
        }
        spans += pending
        pending = []
    }

    mutating func discardPending() { pending = [] }

    /// Adds time that the player reports to have stalled. It belongs to the latest stall unless there are new ones.
    mutating func addReported(_ count: Int, _ length: Double, until end: Double) {
        guard count > 0 || length > 0 else { return }
        if count == 0, !spans.isEmpty {
            spans[spans.count - 1].until = SessionSeries.rounded(end)
        } else {
            add(max(0, length), until: end)
        }
    }

    private static func span(_ length: Double, until end: Double) -> TimelineStall {
        TimelineStall(since: SessionSeries.rounded(max(0, end - length)), until: SessionSeries.rounded(end))
    }
}
