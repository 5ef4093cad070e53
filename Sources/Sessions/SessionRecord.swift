// The room Sessions.
//
// Duty: one playback as it is measured: requests, stalls, indicators, for the logs and the API.
// Entrance: `SessionRecords`, `SessionRecord`.
// Does not enter: answers to players. A measurement changes no answer.

import AccessLog
package import Assets
package import EventLoop
package import Fetching
internal import FoundationEssentials
internal import HLS
package import HTTPMessage
package import HTTPServer
import Playheads
internal import SafeText

/// The measurements of one session, for the logs and the API.
@LoopActor package final class SessionRecord {
    package let id: String
    /// The globally unique id of the session.
    let guid = UUID().uuidString
    package let asset: Asset
    private let began: ContinuousClock.Instant
    /// Start of the session by the wall clock, in seconds since 1970.
    let start: Double
    private var meter: SessionMeter
    private let playheads: PlayheadTracker
    private let log: LogWriter
    private var ended: Double?
    private let player: PlayerTraits
    /// The player's User-Agent; nil if it is unknown.
    package let client: String?
    /// The player's connections for resources.
    private lazy var connections = ConnectionGroup { [weak self] in self?.connectionsChanged($0) }
    /// Time at which the player closed its last connection; nil while it has one or may open another.
    private(set) var left: ContinuousClock.Instant?
    weak var sessions: SessionRecords?
    /// True if the session is over; a player that continues gets a new record.
    package var hasEnded: Bool { ended != nil }
    /// Time of the last request or reply. Stored pieces count once the playhead tracker has examined them.
    private(set) var lastEvent: ContinuousClock.Instant
    /// True if a segment was delivered.
    package private(set) var hasStarted = false
    /// Counts the bytes of replies from the store. Built once, because every such reply uses it.
    package let countStoredReply: @LoopActor (ReplyEnd) -> Void
    private let storedBytes: ByteCounter
    private let served: ServedBytes
    /// The player's own id for the playback (CMCD's `sid`), if it sent one.
    private(set) var playerID: String?
    private(set) var report: PlayerReport?
    /// The position that the player has reported last, in seconds of media time; nil if it reports none, or counts from another origin.
    private(set) var reportedPosition: Double?
    /// True if the entry playlist was loaded from this process, so that the whole session is known.
    package let isEntered: Bool
    /// True if all resources come from the store.
    package let isOffline: Bool

    /// - Parameters:
    ///   - entered: when the entry playlist was loaded; nil if unknown.
    ///   - isOffline: true if all resources come from the store.
    ///   - isAdaptive: true if Weir chooses the quality of the segments.
    ///   - playheads: also the clock of the session, so that playheads and logs agree.
    ///   - date: the time of day, in seconds since 1970 in UTC.
    init(
        _ id: String, of asset: Asset, client: String?, entered: ContinuousClock.Instant?, isOffline: Bool,
        isAdaptive: Bool, playheads: PlayheadTracker, date: Double, log: LogWriter, served: ServedBytes
    ) {
        self.id = id
        player = KnownPlayer(client: client).traits
        self.client = client
        self.asset = asset
        self.playheads = playheads
        self.log = log
        self.served = served
        let now = playheads.now()
        began = entered ?? now
        isEntered = entered != nil
        self.isOffline = isOffline
        lastEvent = now
        start = date - (now - began).inSeconds

        var event = AccessEvent(
            session: id, guid: guid, number: 0, asset: asset.name, client: client, began: start)
        if isOffline {
            event.playbackType = .file
        } else if asset.isLive {
            event.playbackType = .live
        } else {
            event.playbackType = .vod
        }
        meter = SessionMeter(event, isEntered: entered != nil, isAdaptive: isAdaptive)

        let counter = ByteCounter()
        storedBytes = counter
        countStoredReply = { end in
            counter.bytes += end.mediaBytes
            served.bytes.store += end.mediaBytes
        }
        // An open connection of a browser does not show that it plays.
        if player.poolsConnections {
            connections.end()
        }
    }

    /// Time since the begin, in seconds. It stands still once the player has closed its connections.
    private var now: Double { time(of: left ?? playheads.now()) }

    private func time(of instant: ContinuousClock.Instant) -> Double { (instant - began).inSeconds }

    // MARK: Connections

    /// Counts the connection of a request. A player that had left is back.
    package func join(_ exchange: Exchange) {
        left = nil
        exchange.join(connections)
    }

    /// True if the player has open connections that it would close when it ends.
    package var isConnected: Bool { !player.poolsConnections && connections.count > 0 }

    private func connectionsChanged(_ change: ConnectionGroup.Change) {
        guard ended == nil else { return }
        if !player.poolsConnections {
            playheads.setConnected(id, change == .opened)
        }
        // A client that has a connection for each request closes it each time.
        guard change == .emptied(byClient: true), player.keepsConnections || connections.isReused else { return }
        recordDeparture()
    }

    // MARK: Replies

    /// Passes the bytes sent from the store since the last call to the meter.
    private func countStored() {
        meter.addStored(storedBytes.bytes)
        storedBytes.bytes = 0
    }

    /// Applies the client data (CMCD) of a request. Returns false if the request has none.
    package func applyClientData(of head: RequestHead) -> Bool {
        guard let data = head.clientData else { return false }
        apply(data)
        return true
    }

    /// Applies client data, which the player may also send apart from its requests.
    func apply(_ data: CMCD) {
        playerID = data.sessionID ?? playerID
        if let report = data.report {
            apply(report, since: nil)
        } else {
            let tracked = playheads.apply(data.correction(isPlaced: meter.isPlaced), to: id)
            meter.apply(data, tracked, at: now)
            if data.bufferLength != nil, meter.isPlaced {
                reportedPosition = meter.playhead(at: now).position
            }
        }
        if data.state == .quit {
            recordDeparture()
        }
    }

    private func recordDeparture() {
        left = left ?? playheads.now()
        sessions?.playerLeft()
    }

    /// Applies a report of the player.
    /// - Parameter earlier: the last report of the same playback to a session that has since ended.
    func apply(_ report: PlayerReport, since earlier: PlayerReport?) {
        self.report = report
        lastEvent = playheads.now()
        let tracked = playheads.apply(report.correction(isPlaced: meter.isPlaced), to: id)
        meter.apply(report.since(earlier), tracked, at: now)
        if meter.isPlaced {
            reportedPosition = report.playhead.value
        }
        logFinished()
    }

    /// A request that waits for a fetch.
    package struct Wait {
        /// Nil once every byte has arrived: the record of a player that is paused keeps no fetch.
        fileprivate var fetch: Fetch?
        /// The address of the origin, once every byte has arrived.
        fileprivate var address: String?
        /// The segment's media sequence number; nil for other pieces.
        fileprivate let number: Int?
        fileprivate let rendition: String
        /// Length of the fetch when the wait began.
        fileprivate let written: Int64
        fileprivate var reply: ReplyRecord
    }

    /// Records that the player waits for a fetch. `end(_:_:)` ends the wait.
    /// - Parameter isAwaited: true if the player cannot play on without it.
    package func beginWait(for name: PieceName?, in folder: PieceFolder, _ fetch: Fetch, isAwaited: Bool) -> Wait {
        var number: Int?
        if case .segment(let segment)? = name?.role {
            number = segment
        }
        var reply = ReplyRecord(since: now, isAwaited: isAwaited, source: fetch.approach.source)
        reply.number = number
        reply.rendition = folder.id
        if isAwaited {
            meter.beginWait(for: number, of: folder.id, from: reply.source, at: reply.since)
        }
        return Wait(fetch: fetch, number: number, rendition: folder.id, written: fetch.written, reply: reply)
    }

    /// Records that every byte has arrived from the origin, before the player has read all of them.
    package func recordArrival(of wait: inout Wait) {
        wait.address = wait.fetch?.address
        wait.fetch = nil
        wait.reply.arrived = now
        meter.replyArrived(wait.reply, at: now)
    }

    /// Records the end of a wait.
    /// - Parameter end: the end of the reply; nil if the request is answered in another way, and no byte was sent.
    package func end(_ wait: Wait, _ end: ReplyEnd?) {
        var reply = wait.reply
        if let end {
            if let number = wait.number, meter.isSubstitutedFromStore(number, of: wait.rendition) {
                reply.source = .store
            } else {
                reply.fetched = max(0, end.mediaBytes - wait.written)
            }
            reply.bytes = end.mediaBytes
            reply.isComplete = end.isComplete
            reply.hasFailed = end.hasFailed
        } else if let number = wait.number {
            meter.abandonWait(for: number, of: wait.rendition)
        }

        lastEvent = playheads.now()
        served.bytes.add(reply.bytes, from: reply.source)
        let address = wait.fetch?.address ?? wait.address
        if reply.isComplete, reply.source != .store, let address {
            meter.recordServer(address)
        }
        meter.replyEnded(reply, at: now)
    }

    /// Records the rendition whose piece answers a segment request; nil for its own.
    /// - Parameter isStored: false if the substitute was fetched for this request.
    package func recordSubstitute(_ other: String?, for name: PieceName, of rendition: String, isStored: Bool = true) {
        if case .segment(let number) = name.role {
            meter.recordSubstitute(other, for: number, of: rendition, isStored: isStored)
        }
    }

    // MARK: Segments

    /// Records a request or a delivery that the playhead tracker has examined.
    func record(_ event: PlayheadEvent) {
        if event.change != .progressed {
            lastEvent = event.time
        }
        let now = time(of: left ?? event.time)
        let span = event.span
        let isAudio = event.kind == .audio
        let segment = PlayedSegment(
            rendition: event.rendition, isAudio: isAudio, number: span.number, start: span.start,
            duration: span.duration)
        if !isAudio {
            describe(segment.rendition)
            if let other = meter.substitute(for: span.number, of: segment.rendition) {
                describe(other)
            }
        }

        switch event.change {
        case .requested(let isSeek): meter.requested(segment, isSeek: isSeek, event.playhead, at: now)
        case .delivered:
            meter.delivered(segment, event.playhead, at: now)
            hasStarted = true
        case .progressed: return meter.progressed(event.playhead, at: now)
        case .deliveredInBulk:
            meter.deliveredInBulk(upTo: segment, event.playhead, at: now)
            hasStarted = true
        }

        // Most of the bytes are sent by now, so they count before the player moves on.
        countStored()
        logFinished()
    }

    private func describe(_ id: String) {
        meter.describe(id) { [asset] in Self.stream(of: id, in: asset) }
    }

    private static func stream(of id: String, in asset: Asset) -> SessionMeter.Stream? {
        guard let rendition = asset.rendition(id) else { return nil }
        let index = asset.renditions.firstIndex { $0 === rendition }
        let variant = asset.multivariant?.variants.first { $0.renditionIndex == index }
        let uri = rendition.source?.base.replacingQuery(nil).redacted
        let bandwidth = variant.map { Int($0.bandwidth) }
        return SessionMeter.Stream(uri: uri, bandwidth: bandwidth, height: variant?.resolution?.height)
    }

    // MARK: Events

    private func logFinished() {
        for event in meter.takeFinished() where event.requests > 0 || event.bytes.all > 0 {
            log.write(named(event))
        }
    }

    /// The event with the name that its asset has now.
    private func named(_ event: AccessEvent) -> AccessEvent {
        var event = event
        event.asset = asset.name
        return event
    }

    /// Ends the session; later calls have no effect.
    func close() {
        guard ended == nil else { return }
        connections.end()
        countStored()
        let end = meter.close(at: now)
        ended = start + end
        logFinished()
    }

    /// The open events as they stand; empty after the end.
    var current: [AccessEvent] {
        guard ended == nil else { return [] }
        countStored()
        defer { logFinished() }
        return meter.current(at: now).map(named)
    }

    /// The deliveries and stalls so far; nil before the first delivery.
    var timeline: SessionTimeline? {
        guard hasStarted else { return nil }
        countStored()
        var length = now
        if let ended {
            length = max(0, ended - start)
        }
        var timeline = SessionTimeline(
            session: id, guid: guid, asset: asset.name, client: client, began: SessionEvents.milliseconds(start),
            length: SessionEvents.milliseconds(length))
        timeline.ended = ended.map(SessionEvents.milliseconds)
        meter.fill(&timeline, at: length)
        return timeline
    }

    var summary: SessionSummary {
        countStored()
        let now = now
        let playhead = meter.playhead(at: now)
        let total = meter.total(at: now)
        var summary = SessionSummary(id: id, guid: total.guid, asset: asset.name, client: total.client, began: start)
        summary.ended = ended
        summary.uri = total.uri
        summary.startup = total.startup
        summary.playhead = playhead.position
        if ended == nil {
            summary.isStalled = playhead.isStalled
        }
        summary.stalls = total.stalls
        summary.stallTime = total.stallTime
        summary.framesDropped = total.framesDropped
        summary.switches = meter.switches
        summary.watched = total.watched
        summary.bytes = total.bytes
        summary.pieces = meter.history.runs
        summary.inferred = total.inferred.filter { $0 != "startOffset" } + ["playhead", "switches"]
        return summary
    }
}

extension ReplyEnd {
    /// True if the player received everything that it requested.
    package var isComplete: Bool { cause == .complete && hasMedia }
    /// Bytes of the requested resource; an error text does not count.
    fileprivate var mediaBytes: Int64 {
        guard hasMedia else { return 0 }
        return bodyBytes
    }
    fileprivate var hasFailed: Bool {
        guard cause != .bodyFailed else { return true }
        guard let status else { return false }
        return status >= 400
    }
    private var hasMedia: Bool {
        guard let status else { return false }
        return status < 300
    }
}

@LoopActor final class ServedBytes {
    var bytes = SourceBytes()
}

/// Byte count of a record, held separately because the record may be gone when a reply ends.
@LoopActor private final class ByteCounter {
    var bytes: Int64 = 0
}

extension Fetch.Approach {
    /// Source of the bytes that a fetch delivers, for the log.
    fileprivate var source: PieceSource {
        switch self {
        case .begun, .resumed: .origin
        case .joined: .joined
        case .arrived: .store
        }
    }
}
