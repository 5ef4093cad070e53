import AccessLog
import HTTPMessage
import Library
import Playheads

/// Makes one session's access events of what is seen of it. Pure: told what happens, and when, in seconds since the
/// session began.
struct SessionMeter {
    /// A rendition as the log knows it.
    struct Stream: Equatable {
        var uri: String?
        /// BANDWIDTH, where a variant leads to it.
        var bandwidth: Int?
    }

    /// A piece that is on its way.
    private struct Awaited {
        let source: PieceSource
        let since: Double
    }

    private let isAdaptive: Bool
    private var events: SessionEvents
    private var streams: [String: Stream] = [:]
    private var awaited: [String: Awaited] = [:]
    /// The renditions whose pieces stood in for segments, and whether they lay in the store.
    private var standIns: [String: (rendition: String, isStored: Bool)] = [:]
    private static let standInLimit = 4096
    /// Those that never came are forgotten when there are so many, and so many seconds have passed.
    private static let awaitedLimit = 64
    private static let longestReply = 600.0
    /// How many replies are on their way that the playhead waits for.
    private var replies = 0
    /// When the start began that no segment has ended yet.
    private var starting: Double?
    private var isUrgent = false
    private var choice: String?
    /// The rendition with pictures that was asked for last, where that run of requests began, and how long it is.
    private var run: (rendition: String, start: Double, count: Int)?
    private var lastNumber: Int?
    /// Where the segment with pictures ends that was asked for last.
    private var lastEnd: Double?
    /// Whether the same was asked for in several renditions: libavformat reads the beginnings of all variants in turns.
    private var isRepeating = false
    /// Requests whose event is not known before it is known what they were answered with.
    private var unanswered = 0

    /// When something was last asked for or delivered.
    private var lastEvent = 0.0

    /// Where the segments came from.
    private(set) var trail = PieceTrail()
    /// How often the variant changed.
    private(set) var switches = 0

    /// - Parameters:
    ///   - event: the first one, which tells what all have alike.
    ///   - isEntered: whether the session began with its entry playlist: else its start is not known.
    ///   - isAdaptive: whether the player is given one variant, and pieces of others in it: what is shown is whose they
    ///     are.
    init(_ event: AccessEvent, isEntered: Bool, isAdaptive: Bool = false) {
        events = SessionEvents(event)
        self.isAdaptive = isAdaptive
        starting = isEntered ? 0 : nil
    }

    // MARK: Replies

    /// A player begins to wait for something, from elsewhere than the store, without which it cannot play on.
    ///
    /// - Parameter number: the segment's media sequence number; nil for an initialization section.
    mutating func awaits(_ number: Int?, of rendition: String, from source: PieceSource, at time: Double) {
        if awaited.count >= Self.awaitedLimit { awaited = awaited.filter { time - $0.value.since < Self.longestReply } }
        if let number {
            awaited[Self.key(rendition, number)] = Awaited(source: source, since: time)
            standIns[Self.key(rendition, number)] = nil
        }
        replies += 1
        events.advance(to: time)
        events.watch.wants(at: time)
    }

    /// A segment is answered with another rendition's piece, or with its own again where `other` is nil.
    ///
    /// - Parameter isStored: whether the other's lay in the store.
    mutating func stoodIn(_ other: String?, for number: Int, of rendition: String, isStored: Bool = true) {
        let key = Self.key(rendition, number)
        if standIns.count >= Self.standInLimit { standIns = [:] }
        standIns[key] = other.map { ($0, isStored) }
        guard other != nil, isStored, let piece = awaited[key] else { return }
        awaited[key] = Awaited(source: .store, since: piece.since)
    }

    /// Whose piece stood in for a segment when it was last answered.
    func standIn(for number: Int, of rendition: String) -> String? {
        standIns[Self.key(rendition, number)]?.rendition
    }

    /// Whether it was one out of the store.
    func isStoodInFromStore(_ number: Int, of rendition: String) -> Bool {
        standIns[Self.key(rendition, number)]?.isStored ?? false
    }

    /// What was awaited for a segment does not come any more; something else will.
    mutating func gaveUp(_ number: Int, of rendition: String) { awaited[Self.key(rendition, number)] = nil }

    /// That reply has ended.
    mutating func arrived(_ reply: ReplyNote, at time: Double) {
        lastEvent = time
        events.advance(to: time)
        events.newest.bytes.add(reply.bytes, from: reply.source)
        if reply.isWhole { events.newest.observed.add(bytes: reply.fetched, seconds: time - reply.since) }
        guard reply.isAwaited else { return }
        replies = max(0, replies - 1)
        if replies == 0 { events.watch.wantsNothing(hasFailed: reply.hasFailed, at: time) }
    }

    /// So many bytes of a body were sent from the store.
    mutating func sent(_ bytes: Int64) { events.newest.bytes.store += bytes }

    /// The origin's address that has delivered.
    mutating func served(by address: String) {
        if let known = events.newest.serverAddress, known != address { events.newest.serverAddressChanges += 1 }
        events.newest.serverAddress = address
    }

    // MARK: Segments

    /// What a rendition is called in the log.
    mutating func describe(_ rendition: String, _ stream: Stream) { streams[rendition] = stream }

    /// Whether a rendition was described.
    func knows(_ rendition: String) -> Bool { streams[rendition] != nil }

    /// A segment was asked for.
    mutating func asked(_ segment: SegmentNote, isSeek: Bool, _ reading: PlayheadReading, at time: Double) {
        lastEvent = time
        events.advance(to: time)
        if isSeek { seek(to: segment.start, at: time) }
        events.watch.take(reading, isSeek: isSeek, at: time)
        if events.isFirst, events.newest.requests == 0 { events.newest.startOffset = segment.start }
        if !isSeek { change(to: segment, at: time) }
        if isAdaptive, !segment.isSound { unanswered += 1 } else { events.newest.requests += 1 }
        note(segment)
        if !isAdaptive, let choice = reading.choice { choose(choice, at: time) }
    }

    private mutating func note(_ segment: SegmentNote) {
        guard !segment.isSound else { return }
        lastNumber = segment.number
        lastEnd = segment.start + segment.duration
        if isAdaptive { return }
        if run?.rendition != segment.rendition { run = (segment.rendition, segment.start, 0) }
        run?.count += 1
        if events.newest.uri == nil { show(segment.rendition) }
    }

    /// Another variant from where the last one ended is a change at once.
    private mutating func change(to segment: SegmentNote, at time: Double) {
        guard !isAdaptive, !segment.isSound, let run, run.rendition != segment.rendition, let lastEnd else { return }
        let gap = segment.start - lastEnd
        if gap < -0.5 * segment.duration { isRepeating = true }
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
        (isRepeating, lastEnd) = (false, nil)
        if let choice { show(choice) }
        (starting, isUrgent) = (time, false)
    }

    /// Two in a row are wanted: libavformat reads the beginnings of all variants in turns. A change of sound is no
    /// change of variant: only what has pictures, or is all there is, is a run.
    private mutating func choose(_ rendition: String, at time: Double) {
        guard rendition != choice, let run, run.rendition == rendition, run.count > 1 else { return }
        isRepeating = false
        if choice != nil { return switched(to: rendition, from: run.start, at: time) }
        choice = rendition
        show(rendition)
    }

    /// Whose piece it was is known when it was delivered: until then another may be taken. The request for it belongs
    /// to what it was answered with.
    private mutating func showSource(of segment: SegmentNote, at time: Double) {
        guard isAdaptive, !segment.isSound else { return }
        let source = standIn(for: segment.number, of: segment.rendition) ?? segment.rendition
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

    /// What was answered with nothing is counted all the same.
    private mutating func countUnanswered() {
        events.newest.requests += unanswered
        unanswered = 0
    }

    /// A segment was delivered to its last byte.
    mutating func delivered(_ segment: SegmentNote, _ reading: PlayheadReading, at time: Double) {
        lastEvent = time
        events.advance(to: time)
        events.watch.take(reading, isSeek: false, at: time)
        showSource(of: segment, at: time)
        let piece = awaited.removeValue(forKey: Self.key(segment.rendition, segment.number))
        let isAgain = trail.runs.last.map { $0.rendition == segment.rendition && $0.last == segment.number } ?? false
        trail.add(
            segment.number, of: segment.rendition, from: piece?.source ?? .store,
            standIn: standIn(for: segment.number, of: segment.rendition))
        if let piece, time - piece.since > segment.duration { events.newest.overdue += 1 }
        if !segment.isSound, !isAgain { events.newest.downloaded += segment.duration }
        started(at: time)
    }

    /// So many were taken from the store at once that only the last one is known.
    mutating func flooded(to segment: SegmentNote, _ reading: PlayheadReading, at time: Double) {
        lastEvent = time
        events.advance(to: time)
        events.watch.take(reading, isSeek: false, at: time)
        let count = max(1, lastNumber.map { segment.number - $0 } ?? 1)
        showSource(of: segment, at: time)
        events.newest.requests += count
        if !segment.isSound { events.newest.downloaded += Double(count) * segment.duration }
        for number in (segment.number - count + 1)...segment.number {
            trail.add(
                number, of: segment.rendition, from: .store, standIn: standIn(for: number, of: segment.rendition))
        }
        note(segment)
        started(at: time)
    }

    private mutating func started(at time: Double) {
        guard let since = starting else { return }
        events.newest.startup = SessionEvents.milliseconds(time - since)
        if !isUrgent { starting = nil }
    }

    /// Takes what the player says with a request.
    mutating func tells(_ data: CMCD, at time: Double) {
        events.advance(to: time)
        events.watch.tell(data, at: time)
        isUrgent = data.isUrgent
        if !isUrgent, events.newest.startup != nil { starting = nil }
    }

    /// Takes what the player reports.
    mutating func tells(_ report: PlayerReport, at time: Double) {
        events.tell(report, at: time)
        if report.startup != nil { starting = nil }
    }

    // MARK: Events

    /// The events that go on, as they stand: the first one is on the screen, and the last one is loaded.
    mutating func current(at time: Double) -> [AccessEvent] {
        events.advance(to: time)
        return events.open
    }

    /// One event with what all of them have together.
    func total(at time: Double) -> AccessEvent {
        var events = events
        events.advance(to: time)
        return events.total
    }

    /// The playhead as it stands, and whether it stands for want of media.
    func playhead(at time: Double) -> (position: Double, isStalled: Bool) {
        var watch = events.watch
        watch.advance(to: time)
        return (watch.playhead, watch.isStalled)
    }

    /// The session is over; its end is returned, which may be some time ago.
    mutating func close(at now: Double) -> Double {
        countUnanswered()
        return events.close(at: now, lastRequest: lastEvent)
    }

    /// Takes the events that have ended.
    mutating func takeFinished() -> [AccessEvent] { events.takeFinished() }

    private static func key(_ rendition: String, _ number: Int) -> String { "\(rendition)/\(number)" }
}
