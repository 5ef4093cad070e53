import AccessLog
import HTTPMessage
import Playheads

/// Turns what happens in one session into its access events. Pure: times are passed, in seconds since its begin.
struct SessionMeter {
    struct Stream: Equatable {
        var uri: String?
        /// BANDWIDTH, if a variant refers to the rendition.
        var bandwidth: Int?
        /// Height of its video in pixels, if the variant has one.
        var height: Int?
    }

    /// A segment, by its rendition and its media sequence number.
    private struct Key: Hashable {
        let rendition: String
        let number: Int
    }

    private struct Awaited {
        let source: PieceSource
        let since: Double
        /// The time at which every byte had arrived from the origin, if the player had not read all of them then.
        var arrived: Double?
        var arrival: SessionSeries.Arrival?
    }

    private let isAdaptive: Bool
    private var events: SessionEvents
    private var streams: [String: Stream] = [:]
    private var awaited: [Key: Awaited] = [:]
    /// The renditions that were substituted for segments; `isStored` is true if the substitute came from the store.
    private var substitutes: [Key: (rendition: String, isStored: Bool)] = [:]
    private static let substituteLimit = 4096
    /// Limits for awaited pieces that never arrive: above this number, those older than this many seconds are dropped.
    private static let awaitedLimit = 64
    private static let longestReply = 600.0
    /// Number of replies on their way that the playhead waits for.
    private var replies = 0
    /// Time at which the current startup began; nil once a segment has ended it.
    private var starting: Double?
    private var isUrgent = false
    private var choice: String?
    /// The video rendition requested last, the start of this run of requests, and its length.
    private var run: (rendition: String, start: Double, count: Int)?
    private var lastNumber: Int?
    /// End of the video segment requested last, in media time.
    private var lastEnd: Double?
    /// True if one segment was requested in several renditions: libavformat reads the beginnings of all in turns.
    private var isRepeating = false
    /// Number of requests that are counted only when the rendition of their answer is known.
    private var unanswered = 0
    private var lastEvent = 0.0
    private(set) var history = PieceHistory()
    private var series = SessionSeries()
    private(set) var switches = 0

    /// - Parameters:
    ///   - event: the first event; holds the fields that all events share.
    ///   - isEntered: true if the session began with its entry playlist; otherwise its startup time is unknown.
    ///   - isAdaptive: true if the player is given one variant with pieces of others in it; the variant on the screen
    ///     is then the one that the piece belongs to.
    init(_ event: AccessEvent, isEntered: Bool, isAdaptive: Bool = false) {
        events = SessionEvents(event)
        self.isAdaptive = isAdaptive
        if isEntered {
            starting = 0
        }
    }

    // MARK: Replies

    /// Records that the player waits for a resource that is not in the store and that it cannot play on without.
    /// - Parameter number: the segment's media sequence number; nil for an initialization section.
    mutating func beginWait(for number: Int?, of rendition: String, from source: PieceSource, at time: Double) {
        if awaited.count >= Self.awaitedLimit {
            awaited = awaited.filter { time - $0.value.since < Self.longestReply }
        }
        if let number {
            awaited[Key(rendition: rendition, number: number)] = Awaited(source: source, since: time)
            substitutes[Key(rendition: rendition, number: number)] = nil
        }
        replies += 1
        events.advance(to: time)
        events.watch.requestBegan(at: time)
    }

    /// Records that a segment is answered with a substitute, or with its own piece again if `other` is nil. `isStored` is
    /// true if the substitute came from the store.
    mutating func recordSubstitute(_ other: String?, for number: Int, of rendition: String, isStored: Bool = true) {
        let key = Key(rendition: rendition, number: number)
        if substitutes.count >= Self.substituteLimit {
            substitutes = [:]
        }
        substitutes[key] = other.map { ($0, isStored) }
        guard other != nil, isStored, let piece = awaited[key] else { return }
        awaited[key] = Awaited(source: .store, since: piece.since, arrived: piece.arrived, arrival: piece.arrival)
    }

    func substitute(for number: Int, of rendition: String) -> String? {
        substitutes[Key(rendition: rendition, number: number)]?.rendition
    }

    func isSubstitutedFromStore(_ number: Int, of rendition: String) -> Bool {
        substitutes[Key(rendition: rendition, number: number)]?.isStored ?? false
    }

    mutating func abandonWait(for number: Int, of rendition: String) {
        awaited[Key(rendition: rendition, number: number)] = nil
    }

    /// Records that a reply has every byte from the origin. The rest of its time depends on the player, which may be paused.
    mutating func replyArrived(_ reply: ReplyRecord, at time: Double) {
        events.advance(to: time)
        if let number = reply.number {
            awaited[Key(rendition: reply.rendition, number: number)]?.arrived = time
        }
        if reply.isAwaited {
            endWait(hasFailed: false, at: time)
        }
    }

    private mutating func endWait(hasFailed: Bool, at time: Double) {
        replies = max(0, replies - 1)
        if replies == 0 {
            events.watch.requestsEnded(hasFailed: hasFailed, at: time)
        }
    }

    mutating func replyEnded(_ reply: ReplyRecord, at time: Double) {
        lastEvent = time
        events.advance(to: time)
        events.newest.bytes.add(reply.bytes, from: reply.source)
        if reply.isComplete {
            let arrived = reply.arrived ?? time
            events.newest.observed.add(bytes: reply.fetched, seconds: arrived - reply.since)
            recordArrival(reply, at: arrived)
        }
        if reply.isAwaited, reply.arrived == nil {
            endWait(hasFailed: reply.hasFailed, at: time)
        }
    }

    /// The reply of a segment ends before its delivery is recorded, or just after that.
    private mutating func recordArrival(_ reply: ReplyRecord, at time: Double) {
        guard let number = reply.number else { return }
        let arrival = SessionSeries.Arrival(bytes: reply.bytes, fetched: reply.fetched, wait: time - reply.since)
        let key = Key(rendition: reply.rendition, number: number)
        if awaited[key] != nil {
            awaited[key]?.arrival = arrival
        } else {
            series.record(arrival, of: number, in: reply.rendition)
        }
    }

    mutating func addStored(_ bytes: Int64) {
        guard bytes > 0 else { return }
        events.newest.bytes.store += bytes
        series.addStored(bytes)
    }

    mutating func recordServer(_ address: String) {
        if let known = events.newest.serverAddress, known != address {
            events.newest.serverAddressChanges += 1
        }
        events.newest.serverAddress = address
    }

    // MARK: Segments

    /// Adds the facts about a rendition, unless they are known.
    mutating func describe(_ rendition: String, _ stream: () -> Stream?) {
        if streams[rendition] == nil {
            streams[rendition] = stream()
        }
    }

    mutating func requested(_ segment: PlayedSegment, isSeek: Bool, _ reading: PlayheadReading, at time: Double) {
        lastEvent = time
        events.advance(to: time)
        if isSeek {
            seek(to: segment.start, at: time)
        }
        events.watch.update(reading, isSeek: isSeek, at: time)
        if events.isFirst, events.newest.requests == 0 {
            events.newest.startOffset = segment.start
        }
        if !isSeek {
            change(to: segment, at: time)
        }
        if isAdaptive, !segment.isAudio {
            unanswered += 1
        } else {
            events.newest.requests += 1
        }
        recordRequest(for: segment)
        if !isAdaptive, let choice = reading.choice {
            choose(choice, at: time)
        }
    }

    private mutating func recordRequest(for segment: PlayedSegment) {
        guard !segment.isAudio else { return }
        lastNumber = segment.number
        lastEnd = segment.start + segment.duration
        if isAdaptive {
            return
        }
        if run?.rendition != segment.rendition {
            run = (segment.rendition, segment.start, 0)
        }
        run?.count += 1
        if events.newest.uri == nil {
            show(segment.rendition)
        }
    }

    /// Detects a variant change: a segment of another variant that begins where the last one ended.
    private mutating func change(to segment: PlayedSegment, at time: Double) {
        guard !isAdaptive, !segment.isAudio, let run, run.rendition != segment.rendition, let lastEnd else { return }
        let gap = segment.start - lastEnd
        if gap < -0.5 * segment.duration {
            isRepeating = true
        }
        guard !isRepeating, abs(gap) <= 0.5 * segment.duration, choice ?? run.rendition == run.rendition else { return }
        switched(to: segment.rendition, from: segment.start, at: time)
    }

    private mutating func switched(to rendition: String, from start: Double, at time: Double) {
        switches += 1
        events.change(to: start, at: time)
        starting = nil
        choice = rendition
        show(rendition)
    }

    private mutating func show(_ rendition: String) {
        events.newest.uri = streams[rendition]?.uri
        events.newest.indicated = streams[rendition]?.bandwidth
    }

    private mutating func seek(to start: Double, at time: Double) {
        countUnanswered()
        events.jump(to: start, at: time)
        isRepeating = false
        lastEnd = nil
        if let choice {
            show(choice)
        }
        starting = time
        isUrgent = false
    }

    /// Accepts a variant only after two requests in a row, because libavformat reads the beginnings of all variants in
    /// turns. A change of audio is no variant change: only renditions with video, or the only rendition, form a run.
    private mutating func choose(_ rendition: String, at time: Double) {
        guard rendition != choice, let run, run.rendition == rendition, run.count > 1 else { return }
        isRepeating = false
        if choice != nil {
            return switched(to: rendition, from: run.start, at: time)
        }
        choice = rendition
        show(rendition)
    }

    /// Shows the rendition that a delivered piece belongs to. It is known only at delivery, because a substitute may be
    /// chosen until then. The request counts towards the event of its answer.
    private mutating func showSource(of segment: PlayedSegment, at time: Double) {
        guard isAdaptive, !segment.isAudio else { return }
        let source = substitute(for: segment.number, of: segment.rendition) ?? segment.rendition
        if choice == nil {
            choice = source
            show(source)
        } else if source != choice {
            switched(to: source, from: segment.start, at: time)
        }
        guard unanswered > 0 else { return }
        unanswered -= 1
        events.newest.requests += 1
    }

    private mutating func countUnanswered() {
        events.newest.requests += unanswered
        unanswered = 0
    }

    mutating func delivered(_ segment: PlayedSegment, _ reading: PlayheadReading, at time: Double) {
        lastEvent = time
        events.advance(to: time)
        let before = events.watch.buffer
        events.watch.update(reading, isSeek: false, at: time)
        showSource(of: segment, at: time)

        let piece = awaited.removeValue(forKey: Key(rendition: segment.rendition, number: segment.number))
        let latest = history.runs.last
        let isAgain = latest?.rendition == segment.rendition && latest?.last == segment.number
        history.add(
            segment.number, of: segment.rendition, from: piece?.source ?? .store,
            substitute: substitute(for: segment.number, of: segment.rendition))
        draw(segment, from: piece?.source ?? .store, piece?.arrival, bufferBefore: before, at: time)

        if let piece, (piece.arrived ?? time) - piece.since > segment.duration {
            events.newest.overdue += 1
        }
        if !segment.isAudio, !isAgain {
            events.newest.downloaded += segment.duration
        }
        started(at: time)
    }

    /// Adds a delivered segment to the series.
    private mutating func draw(
        _ segment: PlayedSegment, from source: PieceSource, _ arrival: SessionSeries.Arrival? = nil,
        bufferBefore: Double, at time: Double
    ) {
        let delivery = SessionSeries.Delivery(
            segment: segment, source: source, substitute: substitute(for: segment.number, of: segment.rendition),
            arrival: arrival, bufferBefore: bufferBefore, buffer: events.watch.buffer, playhead: events.watch.playhead)
        series.add(delivery, at: time)
    }

    /// Records that the player has more of a segment than before.
    mutating func progressed(_ reading: PlayheadReading, at time: Double) {
        events.advance(to: time)
        events.watch.update(reading, isSeek: false, at: time)
    }

    /// Records many segments that were read from the store at once; only the last one is known.
    mutating func deliveredInBulk(upTo segment: PlayedSegment, _ reading: PlayheadReading, at time: Double) {
        lastEvent = time
        events.advance(to: time)
        let before = events.watch.buffer
        events.watch.update(reading, isSeek: false, at: time)
        let count = segmentsInBulk(upTo: segment)
        showSource(of: segment, at: time)
        events.newest.requests += count
        if !segment.isAudio {
            events.newest.downloaded += Double(count) * segment.duration
        }
        for number in (segment.number - count + 1)...segment.number {
            history.add(
                number, of: segment.rendition, from: .store, substitute: substitute(for: number, of: segment.rendition))
            var one = segment
            one.number = number
            one.start = segment.start - Double(segment.number - number) * segment.duration
            draw(one, from: .store, bufferBefore: before, at: time)
        }
        recordRequest(for: segment)
        started(at: time)
    }

    /// The number of segments from the last request on; 1 where the numbers jump, as those of another rendition may.
    private func segmentsInBulk(upTo segment: PlayedSegment) -> Int {
        guard let lastNumber, lastNumber < segment.number else { return 1 }
        let count = segment.number.subtractingReportingOverflow(lastNumber)
        guard !count.overflow, count.partialValue <= Self.mostInBulk else { return 1 }
        return count.partialValue
    }

    /// More segments than a player reads from the store in a moment.
    private static let mostInBulk = 10_000

    private mutating func started(at time: Double) {
        guard let since = starting else { return }
        events.newest.startup = SessionEvents.milliseconds(time - since)
        if !isUrgent {
            starting = nil
        }
    }

    mutating func apply(_ data: CMCD, _ tracked: PlayheadReading? = nil, at time: Double) {
        events.advance(to: time)
        events.watch.apply(data, isPlaced: isPlaced, tracked, at: time)
        isUrgent = data.isUrgent
        if !isUrgent, events.newest.startup != nil {
            starting = nil
        }
    }

    mutating func apply(_ report: PlayerReport, _ tracked: PlayheadReading? = nil, at time: Double) {
        events.apply(report, tracked, at: time)
        if report.startup != nil {
            starting = nil
        }
    }

    // MARK: Events

    /// The open events at a time: the first one is on the screen, the last one is being loaded.
    mutating func current(at time: Double) -> [AccessEvent] {
        events.advance(to: time)
        return events.open
    }

    func total(at time: Double) -> AccessEvent {
        var events = events
        events.advance(to: time)
        return events.total
    }

    /// The playhead at a time; `isStalled` is true if it stands still for lack of media.
    func playhead(at time: Double) -> (position: Double, isStalled: Bool) {
        var watch = events.watch
        watch.advance(to: time)
        return (watch.playhead, watch.isStalled)
    }

    var isPlaced: Bool { events.isPlaced }

    /// Completes a timeline with the deliveries and stalls up to a time.
    func fill(_ timeline: inout SessionTimeline, at time: Double) {
        var watch = events.watch
        watch.advance(to: time)
        timeline.segments = series.segments
        timeline.omitted = series.omitted
        timeline.stalls = watch.stallSpans
        timeline.renditions = series.renditions.map { rendition in
            let stream = streams[rendition.id]
            return TimelineRendition(
                id: rendition.id, isAudio: rendition.isAudio, height: stream?.height, bandwidth: stream?.bandwidth)
        }
    }

    /// Ends the session. Returns its end, which may be earlier than `now`.
    mutating func close(at now: Double) -> Double {
        countUnanswered()
        return events.close(at: now, lastRequest: lastEvent)
    }

    mutating func takeFinished() -> [AccessEvent] { events.takeFinished() }
}

/// The end of a reply whose bytes were not in the store when it began, as input of the meter.
struct ReplyRecord: Equatable {
    /// Time of the request, in seconds since the session began.
    var since: Double
    /// True if the meter counts this reply as awaited.
    var isAwaited = true
    var source: PieceSource
    /// The segment's media sequence number; nil for other resources.
    var number: Int?
    /// The id of the requested rendition.
    var rendition = ""
    var bytes: Int64 = 0
    /// Bytes received from the origin meanwhile.
    var fetched: Int64 = 0
    /// The time at which every byte had arrived from the origin, if the player had not read all of them then.
    var arrived: Double?
    /// True if the player received everything that it requested.
    var isComplete = false
    /// True if the reply failed, rather than being ended by the player.
    var hasFailed = false
}

/// A segment, as input of the meter.
struct PlayedSegment: Equatable {
    var rendition: String
    /// True if it is an audio segment beside video.
    var isAudio: Bool
    var number: Int
    /// Start in media time, in seconds.
    var start: Double
    /// In seconds.
    var duration: Double
}

/// The sources of a session's segments, in order of delivery, as runs of one rendition and one source. Pure.
struct PieceHistory {
    private(set) var runs: [PieceRun] = []
    /// Limit for sessions that seek for days: the oldest runs are dropped.
    private static let limit = 1024

    /// - Parameter substitute: the rendition that the piece really belongs to; nil for `rendition`.
    mutating func add(_ number: Int, of rendition: String, from source: PieceSource, substitute: String? = nil) {
        if let last = runs.last, last.rendition == rendition, last.source == source, last.substitute == substitute,
            last.last + 1 == number
        {
            runs[runs.count - 1].last = number
            return
        }
        if runs.count >= Self.limit {
            runs.removeFirst(Self.limit / 2)
        }
        runs.append(PieceRun(rendition: rendition, first: number, last: number, source: source, substitute: substitute))
    }
}
