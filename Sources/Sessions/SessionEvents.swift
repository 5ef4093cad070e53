import AccessLog
import Playheads
import SafeText

/// The access events of one session: those of variants that are still on the screen, and the one that is being loaded.
/// Pure: times are seconds since the session began. A change of variant begins a new event with the first request for
/// the new variant. Everything loaded from then on counts towards the new event. Watched time and stalls count towards
/// the first event that has not ended. That event ends when the playhead reaches the start of the next event's media.
struct SessionEvents {
    /// The event whose media is being loaded.
    var newest: AccessEvent
    var watch = PlayWatch()
    /// The earlier events that are open, each with the media time at which it ends.
    private var leaving: [(event: AccessEvent, until: Double)] = []
    /// Start of the session, in seconds since 1970.
    private let began: Double
    /// Sums over the events that have ended.
    private var logged = (watched: 0.0, stalls: 0, stallTime: 0.0, framesDropped: 0, bytes: SourceBytes())
    private var startup: Double?
    /// Dropped frames as the player reported them, for all events together.
    private var framesDropped: Int?
    private var isStartupReported = false
    private(set) var finished: [AccessEvent] = []

    /// - Parameter first: holds the fields that all events share.
    init(_ first: AccessEvent) {
        newest = first
        began = first.began
    }

    /// True if the player counts media time from the same origin as the playlist.
    var isPlaced: Bool { newest.playbackType != .live }
    var isFirst: Bool { newest.number == 0 }

    /// Advances to a time, and ends the events that leave the screen meanwhile.
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

    /// Begins an event whose media starts at a position in media time; it is on the screen from there on.
    mutating func change(to start: Double, at time: Double) {
        leaving.append((newest, start))
        newest = next(startOffset: start, at: time)
        advance(to: time)
    }

    /// Ends all events because the player jumped to another position in media time.
    mutating func jump(to start: Double, at time: Double) {
        leaveAll(at: time)
        leave(newest, at: time)
        newest = next(startOffset: start, at: time)
    }

    /// Ends the session. Returns its end: the time at which the playhead ran dry, or the last request.
    mutating func close(at now: Double, lastRequest: Double) -> Double {
        advance(to: now)
        let presentEnd = watch.isPlaying ? now : lastRequest
        let playedUntil = watch.ranDry ?? presentEnd
        let time = min(now, max(lastRequest, playedUntil))
        watch.close()
        leaveAll(at: time)
        finished.append(ended(newest, at: time))
        return time
    }

    private mutating func leaveAll(at time: Double) {
        advance(to: time)
        while !leaving.isEmpty {
            leave(leaving.removeFirst().event, at: time)
        }
    }

    private mutating func leave(_ event: AccessEvent, at time: Double) {
        let ended = ended(event, at: time)
        logged.watched += ended.watched
        logged.stalls += ended.stalls
        logged.stallTime += ended.stallTime
        logged.framesDropped += ended.framesDropped ?? 0
        logged.bytes = logged.bytes + ended.bytes
        if ended.number == 0 {
            startup = ended.startup
        }
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

    mutating func apply(_ report: PlayerReport, _ tracked: PlayheadReading?, at time: Double) {
        advance(to: time)
        watch.apply(report, isPlaced: isPlaced, tracked, at: time)
        advance(to: time)
        if let dropped = report.framesDropped {
            framesDropped = max(dropped, framesDropped ?? 0)
        }
        guard let reported = report.startup?.value else { return }
        isStartupReported = true
        if let first = leaving.first, first.event.number == 0 {
            leaving[0].event.startup = Self.milliseconds(reported)
        } else if isFirst {
            newest.startup = Self.milliseconds(reported)
        } else {
            startup = Self.milliseconds(reported)
        }
    }

    /// The open events: the first one is on the screen, the last one is being loaded.
    var open: [AccessEvent] {
        let all = leaving.map(\.event) + [newest]
        return [filled(all[0])] + all.dropFirst()
    }

    var total: AccessEvent {
        var total = filled(newest)
        if total.number > 0 {
            total.startup = startup ?? leaving.first { $0.event.number == 0 }?.event.startup
        }
        total.watched += logged.watched
        total.stalls += logged.stalls
        total.stallTime += logged.stallTime
        total.framesDropped = framesDropped
        total.bytes = leaving.reduce(total.bytes + logged.bytes) { $0 + $1.event.bytes }
        return total
    }

    mutating func takeFinished() -> [AccessEvent] {
        defer { finished = [] }
        return finished
    }

    private func filled(_ event: AccessEvent) -> AccessEvent {
        var event = event
        let total = watch.total
        event.watched = Self.milliseconds(max(0, watch.watched - logged.watched))
        event.stalls = max(0, total.count - logged.stalls)
        event.stallTime = Self.milliseconds(max(0, total.time - logged.stallTime))
        event.framesDropped = framesDropped.map { max(0, $0 - logged.framesDropped) }
        let reported = reported
        event.inferred = AccessEvent.inferable.filter { !reported.contains($0) }
        return event
    }

    /// The fields that the player has sent, by CMCD or in reports.
    private var reported: Set<String> {
        guard watch.isReported || watch.hasClientData else { return [] }
        guard watch.isReported else { return ["stalls", "startup", "watched"] }
        var fields: Set = ["stallTime", "stalls", "watched"]
        if isStartupReported {
            fields.insert("startup")
        }
        return fields
    }

    /// Rounds to milliseconds; finer digits are noise.
    static func milliseconds(_ seconds: Double) -> Double { (seconds * 1000).rounded() / 1000 }
}
