import AccessLog

/// The access events of one session: those of variants that are on the screen yet, and the one that is loaded. Pure:
/// times are seconds since the session began.
///
/// A change of variant begins an event with the first request for the new one, which is what counts what is loaded from
/// there on. What is watched, and stalls, belong to the first event that has not ended: it ends when the playhead gets
/// to where the next one's media begins.
struct SessionEvents {
    /// What is loaded.
    var newest: AccessEvent
    /// What is watched.
    var watch = PlayWatch()
    /// Those before it: each until the playhead gets to a place in media time.
    private var leaving: [(event: AccessEvent, until: Double)] = []
    /// When the session began, since 1970.
    private let began: Double
    /// What the events have together that have ended.
    private var logged = (watched: 0.0, stalls: 0, stallTime: 0.0, framesDropped: 0, bytes: SourceBytes())
    /// The first event's.
    private var startup: Double?
    /// As the player reported it: for all events together.
    private var framesDropped: Int?
    /// Whether the player reported when its first picture came.
    private var isStartupTold = false
    /// Events that have ended and were not taken yet.
    private(set) var finished: [AccessEvent] = []

    /// - Parameter first: tells what all have alike.
    init(_ first: AccessEvent) { (newest, began) = (first, first.began) }

    /// Whether there was none before.
    var isFirst: Bool { newest.number == 0 }

    // MARK: Time

    /// Lets time pass, and ends what leaves the screen meanwhile.
    mutating func advance(to time: Double) {
        while let next = leaving.first {
            if watch.playhead >= next.until - 1e-6 {
                leave(leaving.removeFirst().event, at: max(next.event.began - began, min(time, watch.time)))
            } else if let moment = watch.arrival(at: next.until), moment <= time {
                watch.advance(to: moment)
                leave(leaving.removeFirst().event, at: moment)
            } else {
                break
            }
        }
        watch.advance(to: time)
    }

    /// What is loaded from now on begins at a place in media time, and is shown when that is.
    mutating func change(to start: Double, at time: Double) {
        leaving.append((newest, start))
        newest = next(startOffset: start, at: time)
        advance(to: time)
    }

    /// The player has gone to a place in media time: what was on the screen is not any more.
    mutating func jump(to start: Double, at time: Double) {
        leaveAll(at: time)
        leave(newest, at: time)
        newest = next(startOffset: start, at: time)
    }

    /// The session is over, and was so since its playhead ran dry or it was last asked for anything: that is its end,
    /// which is returned.
    mutating func close(at now: Double, lastRequest: Double) -> Double {
        advance(to: now)
        let time = min(now, max(lastRequest, watch.ranDry ?? (watch.isPlaying ? now : lastRequest)))
        watch.close()
        leaveAll(at: time)
        finished.append(ended(newest, at: time))
        return time
    }

    private mutating func leaveAll(at time: Double) {
        advance(to: time)
        while !leaving.isEmpty { leave(leaving.removeFirst().event, at: time) }
    }

    /// Ends what is on the screen.
    private mutating func leave(_ event: AccessEvent, at time: Double) {
        let ended = ended(event, at: time)
        logged.watched += ended.watched
        logged.stalls += ended.stalls
        logged.stallTime += ended.stallTime
        logged.framesDropped += ended.framesDropped ?? 0
        logged.bytes = logged.bytes + ended.bytes
        if ended.number == 0 { startup = ended.startup }
        finished.append(ended)
    }

    private func ended(_ event: AccessEvent, at time: Double) -> AccessEvent {
        var ended = filled(event)
        ended.ended = Self.milliseconds(began + time)
        return ended
    }

    private func next(startOffset: Double, at time: Double) -> AccessEvent {
        var next = AccessEvent(
            session: newest.session, guid: newest.guid, number: newest.number + 1, asset: newest.asset,
            client: newest.client, began: Self.milliseconds(began + time))
        next.playbackType = newest.playbackType
        next.serverAddress = newest.serverAddress
        next.startOffset = startOffset
        return next
    }

    // MARK: Reports

    /// Takes what the player reports.
    mutating func tell(_ report: PlayerReport, at time: Double) {
        advance(to: time)
        watch.tell(report, isPlaced: newest.playbackType != .live, at: time)
        advance(to: time)
        framesDropped = report.framesDropped.map { max($0, framesDropped ?? 0) } ?? framesDropped
        guard let told = report.startup else { return }
        isStartupTold = true
        if let first = leaving.first, first.event.number == 0 {
            leaving[0].event.startup = Self.milliseconds(told)
        } else if isFirst {
            newest.startup = Self.milliseconds(told)
        } else {
            startup = Self.milliseconds(told)
        }
    }

    // MARK: Answers

    /// Those that go on, of which the first one is on the screen, and the last one is loaded.
    var open: [AccessEvent] {
        let all = leaving.map(\.event) + [newest]
        return [filled(all[0])] + all.dropFirst()
    }

    /// One event with what all of them have together.
    var total: AccessEvent {
        var total = filled(newest)
        if total.number > 0 { total.startup = startup ?? leaving.first { $0.event.number == 0 }?.event.startup }
        total.watched += logged.watched
        total.stalls += logged.stalls
        total.stallTime += logged.stallTime
        total.framesDropped = framesDropped
        total.bytes = leaving.reduce(total.bytes + logged.bytes) { $0 + $1.event.bytes }
        return total
    }

    /// Takes the events that have ended.
    mutating func takeFinished() -> [AccessEvent] {
        defer { finished = [] }
        return finished
    }

    /// An event as the one that is on the screen.
    private func filled(_ event: AccessEvent) -> AccessEvent {
        var event = event
        let total = watch.total
        event.watched = Self.milliseconds(watch.watched - logged.watched)
        event.stalls = max(0, total.count - logged.stalls)
        event.stallTime = Self.milliseconds(max(0, total.time - logged.stallTime))
        event.framesDropped = framesDropped.map { max(0, $0 - logged.framesDropped) }
        event.inferred = AccessEvent.inferable.filter { !told.contains($0) }
        return event
    }

    /// What the player has said of itself: by CMCD, or in reports.
    private var told: Set<String> {
        guard watch.isReported else { return watch.isTold ? ["stalls", "startup", "watched"] : [] }
        return isStartupTold ? ["stallTime", "stalls", "startup", "watched"] : ["stallTime", "stalls", "watched"]
    }

    /// Finer digits are noise.
    static func milliseconds(_ seconds: Double) -> Double { (seconds * 1000).rounded() / 1000 }
}
