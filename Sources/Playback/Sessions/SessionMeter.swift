import HTTPMessage
import Library

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

    private let began: Double
    private let isAdaptive: Bool
    private var event: AccessEvent
    private var watch = PlayWatch()
    /// What the events have together that have ended.
    private var logged = (watched: 0.0, stalls: 0, stallTime: 0.0, bytes: SourceBytes())
    /// The first event's.
    private var startup: Double?
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

    /// When something was last asked for or delivered.
    private var lastEvent = 0.0

    /// Events that have ended and were not taken yet.
    private(set) var finished: [AccessEvent] = []
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
        self.event = event
        self.isAdaptive = isAdaptive
        began = event.began
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
        watch.wants(at: time)
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
        event.bytes.add(reply.bytes, from: reply.source)
        if reply.isWhole { event.observed.add(bytes: reply.fetched, seconds: time - reply.since) }
        guard reply.isAwaited else { return }
        replies = max(0, replies - 1)
        if replies == 0 { watch.wantsNothing(hasFailed: reply.hasFailed, at: time) }
    }

    /// So many bytes of a body were sent from the store.
    mutating func sent(_ bytes: Int64) { event.bytes.store += bytes }

    /// The origin's address that has delivered.
    mutating func served(by address: String) {
        if let known = event.serverAddress, known != address { event.serverAddressChanges += 1 }
        event.serverAddress = address
    }

    // MARK: Segments

    /// What a rendition is called in the log.
    mutating func describe(_ rendition: String, _ stream: Stream) { streams[rendition] = stream }

    /// Whether a rendition was described.
    func knows(_ rendition: String) -> Bool { streams[rendition] != nil }

    /// A segment was asked for.
    mutating func asked(_ segment: SegmentNote, isSeek: Bool, _ reading: PlayheadReading, at time: Double) {
        lastEvent = time
        watch.advance(to: time)
        if isSeek { seek(to: segment.start, at: time) }
        watch.take(reading, isSeek: isSeek, at: time)
        if event.requests == 0, event.number == 0 { event.startOffset = segment.start }
        event.requests += 1
        note(segment)
        if !isAdaptive, let choice = reading.choice { choose(choice, at: time) }
    }

    private mutating func note(_ segment: SegmentNote) {
        guard !segment.isSound else { return }
        if isAdaptive { return lastNumber = segment.number }
        if run?.rendition != segment.rendition { run = (segment.rendition, segment.start, 0) }
        run?.count += 1
        lastNumber = segment.number
        if event.uri == nil { show(segment.rendition) }
    }

    private mutating func show(_ rendition: String) {
        event.uri = streams[rendition]?.uri
        event.indicated = streams[rendition]?.bandwidth
    }

    private mutating func seek(to start: Double, at time: Double) {
        begin(startOffset: start, at: time)
        if let choice { show(choice) }
        (starting, isUrgent) = (time, false)
    }

    /// Two in a row are wanted: libavformat reads the beginnings of all variants in turns. A change of sound is no
    /// change of variant: only what has pictures, or is all there is, is a run.
    private mutating func choose(_ rendition: String, at time: Double) {
        guard rendition != choice, let run, run.rendition == rendition, run.count > 1 else { return }
        if choice != nil {
            switches += 1
            begin(startOffset: run.start, at: time)
        }
        choice = rendition
        show(rendition)
    }

    /// Whose piece it was is known when it was delivered: until then another may be taken. The request for it belongs
    /// to what it was answered with.
    private mutating func showSource(of segment: SegmentNote, at time: Double) {
        guard isAdaptive, !segment.isSound else { return }
        let source = standIn(for: segment.number, of: segment.rendition) ?? segment.rendition
        guard source != choice else { return }
        if choice != nil {
            switches += 1
            event.requests -= 1
            begin(startOffset: segment.start, at: time)
            event.requests = 1
        }
        choice = source
        show(source)
    }

    /// A segment was delivered to its last byte.
    mutating func delivered(_ segment: SegmentNote, _ reading: PlayheadReading, at time: Double) {
        lastEvent = time
        watch.take(reading, isSeek: false, at: time)
        showSource(of: segment, at: time)
        let piece = awaited.removeValue(forKey: Self.key(segment.rendition, segment.number))
        trail.add(
            segment.number, of: segment.rendition, from: piece?.source ?? .store,
            standIn: standIn(for: segment.number, of: segment.rendition))
        if let piece, time - piece.since > segment.duration { event.overdue += 1 }
        if !segment.isSound { event.downloaded += segment.duration }
        started(at: time)
    }

    /// So many were taken from the store at once that only the last one is known.
    mutating func flooded(to segment: SegmentNote, _ reading: PlayheadReading, at time: Double) {
        lastEvent = time
        watch.take(reading, isSeek: false, at: time)
        let count = max(1, lastNumber.map { segment.number - $0 } ?? 1)
        event.requests += count
        if !segment.isSound { event.downloaded += Double(count) * segment.duration }
        for number in (segment.number - count + 1)...segment.number {
            trail.add(
                number, of: segment.rendition, from: .store, standIn: standIn(for: number, of: segment.rendition))
        }
        note(segment)
        showSource(of: segment, at: time)
        started(at: time)
    }

    private mutating func started(at time: Double) {
        guard let since = starting else { return }
        event.startup = Self.milliseconds(time - since)
        if !isUrgent { starting = nil }
    }

    /// Takes what the player says with a request.
    mutating func tells(_ data: CMCD, at time: Double) {
        watch.tell(data, at: time)
        isUrgent = data.isUrgent
        if !isUrgent, event.startup != nil { starting = nil }
    }

    // MARK: Events

    /// The event as it stands.
    func current(at time: Double) -> AccessEvent {
        var watch = watch
        watch.advance(to: time)
        return filled(event, watch)
    }

    /// One event with what all of them have together.
    func total(at time: Double) -> AccessEvent {
        var total = current(at: time)
        if total.number > 0 { total.startup = startup }
        total.watched += logged.watched
        total.stalls += logged.stalls
        total.stallTime += logged.stallTime
        total.bytes = total.bytes + logged.bytes
        return total
    }

    /// The playhead as it stands, and whether it stands for want of media.
    func playhead(at time: Double) -> (position: Double, isStalled: Bool) {
        var watch = watch
        watch.advance(to: time)
        return (watch.playhead, watch.isStalled)
    }

    private func filled(_ event: AccessEvent, _ watch: PlayWatch) -> AccessEvent {
        var event = event
        let total = watch.total
        event.watched = Self.milliseconds(watch.watched - logged.watched)
        event.stalls = max(0, total.count - logged.stalls)
        event.stallTime = Self.milliseconds(max(0, total.time - logged.stallTime))
        event.inferred = AccessEvent.inferable.filter { !watch.isTold || !Self.tellable.contains($0) }
        return event
    }

    /// What a player's CMCD says of itself.
    private static let tellable: Set = ["stalls", "startup", "watched"]

    /// Ends the event, and begins the next one.
    private mutating func begin(startOffset: Double, at time: Double) {
        let ended = end(at: time)
        logged.watched += ended.watched
        logged.stalls += ended.stalls
        logged.stallTime += ended.stallTime
        logged.bytes = logged.bytes + ended.bytes
        if ended.number == 0 { startup = ended.startup }
        var next = AccessEvent(
            session: ended.session, guid: ended.guid, number: ended.number + 1, asset: ended.asset,
            client: ended.client, began: Self.milliseconds(began + time))
        next.playbackType = ended.playbackType
        next.serverAddress = ended.serverAddress
        next.startOffset = startOffset
        event = next
        starting = nil
    }

    private mutating func end(at time: Double) -> AccessEvent {
        watch.advance(to: time)
        var ended = filled(event, watch)
        ended.ended = Self.milliseconds(began + time)
        finished.append(ended)
        return ended
    }

    /// The session is over, and was so since its playhead ran dry or its player asked for the last time: that is its
    /// end, which is returned.
    mutating func close(at now: Double) -> Double {
        watch.advance(to: now)
        let time = min(now, max(lastEvent, watch.ranDry ?? (watch.isPlaying ? now : lastEvent)))
        watch.close()
        _ = end(at: time)
        return time
    }

    /// Takes the events that have ended.
    mutating func takeFinished() -> [AccessEvent] {
        defer { finished = [] }
        return finished
    }

    /// Finer digits are noise.
    private static func milliseconds(_ seconds: Double) -> Double { (seconds * 1000).rounded() / 1000 }

    private static func key(_ rendition: String, _ number: Int) -> String { "\(rendition)/\(number)" }
}
