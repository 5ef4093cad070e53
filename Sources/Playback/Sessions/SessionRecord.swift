import AccessLog
import EventLoop
import Fetching
internal import FoundationEssentials
import HTTPMessage
import HTTPServer
import Library
import Playheads
import Playlist
import Substitution

/// The record of one session, for the logs and the API.
@LoopActor final class SessionRecord {
    let id: String
    /// The globally unique id of the session.
    let guid = UUID().uuidString
    /// The asset that is played.
    let asset: Asset
    private let began: ContinuousClock.Instant
    /// Start of the session by the wall clock, in seconds since 1970.
    private let start: Double
    private var meter: SessionMeter
    private let clock: SessionClock
    private let log: LogWriter
    private var ended: Double?
    /// True if the session is over; a player that continues gets a new record.
    var hasEnded: Bool { ended != nil }
    /// Time of the last request or reply. Stored pieces count once the playhead tracker has examined them.
    private(set) var lastEvent: ContinuousClock.Instant
    /// True if a segment was delivered.
    private(set) var hasStarted = false
    /// Counts the bytes of replies from the store. Built once, because every such reply uses it.
    let stored: @LoopActor (ReplyEnd) -> Void
    private let storedBytes: ByteCounter
    private let served: ServedBytes
    /// The player's own id for the playback (CMCD's `sid`), if it sent one.
    private(set) var playerID: String?
    /// The player's last report, unchanged.
    private(set) var report: PlayerReport?
    /// True if the entry playlist was loaded from this process, so that the whole session is known.
    private let isEntered: Bool
    private var compositions: [String: Composition] = [:]
    /// Chooses the quality of the session's segments; nil if the player does.
    let adapter: Adapter?

    /// - Parameters:
    ///   - entered: when the entry playlist was loaded; nil if unknown.
    ///   - isOffline: true if all resources come from the store.
    ///   - isAdaptive: true if Weir chooses the quality of the segments.
    init(
        _ id: String, of asset: Asset, client: String?, entered: ContinuousClock.Instant?, isOffline: Bool,
        isAdaptive: Bool = false, clock: SessionClock, log: LogWriter, served: ServedBytes
    ) {
        self.id = id
        adapter = isAdaptive ? Adapter(client: client) : nil
        self.asset = asset
        (self.clock, self.log) = (clock, log)
        let now = clock.instant
        began = entered ?? now
        isEntered = entered != nil
        lastEvent = now
        start = clock.date - (now - began).inSeconds
        var event = AccessEvent(
            session: id, guid: guid, number: 0, asset: asset.name, client: client,
            began: start)
        event.playbackType = isOffline ? .file : asset.isLive ? .live : .vod
        meter = SessionMeter(event, isEntered: entered != nil, isAdaptive: isAdaptive)
        let counter = ByteCounter()
        storedBytes = counter
        self.served = served
        stored = { end in
            counter.bytes += end.mediaBytes
            served.bytes.store += end.mediaBytes
        }
    }

    private var now: Double { (clock.instant - began).inSeconds }

    // MARK: Replies

    /// Passes the bytes sent from the store since the last call to the meter.
    private func countStored() {
        meter.sent(storedBytes.bytes)
        storedBytes.bytes = 0
    }

    /// Applies the client data (CMCD) of a request. Returns false if the request has none.
    func hears(_ head: RequestHead) -> Bool {
        guard let data = head.clientData else { return false }
        playerID = data.sessionID ?? playerID
        meter.tells(data, at: now)
        return true
    }

    /// Applies a report of the player.
    ///
    /// - Parameter earlier: the last report of the same playback to a session that has since ended.
    func takes(_ report: PlayerReport, since earlier: PlayerReport?) {
        self.report = report
        lastEvent = clock.instant
        meter.tells(report.since(earlier), at: now)
        logFinished()
    }

    /// Records that the player waits for a fetch.
    ///
    /// - Parameter isAwaited: true if the player cannot play on without it.
    /// - Returns: a function to call once with the end of the reply, or with nil if the request is answered in another
    ///   way.
    func awaits(
        _ file: String, in folder: PieceFolder, _ fetch: Fetch, isAwaited: Bool
    ) -> (ReplyEnd?) -> Void {
        var number: Int?
        if case .segment(let segment)? = PieceName(file)?.role { number = segment }
        let source = fetch.approach.source
        let (since, written) = (now, fetch.written)
        if isAwaited { meter.awaits(number, of: folder.id, from: source, at: since) }
        return { [weak self] end in
            guard let end else {
                self?.gaveUp(number, of: folder.id, ReplyNote(since: since, isAwaited: isAwaited, source: source))
                return
            }
            let isStored = number.map { self?.meter.isStoodInFromStore($0, of: folder.id) ?? false } ?? false
            let reply = ReplyNote(
                since: since, isAwaited: isAwaited, source: isStored ? .store : source, bytes: end.mediaBytes,
                fetched: isStored ? 0 : max(0, end.mediaBytes - written),
                isWhole: end.isWhole, hasFailed: end.cause == .bodyFailed || end.status.map { $0 >= 400 } ?? false)
            self?.arrived(reply, fetch.address)
        }
    }

    /// Records the rendition whose piece answers a segment request; nil for its own.
    ///
    /// - Parameter isStored: false if the substitute was fetched for this request.
    func stoodIn(_ other: String?, for name: PieceName, of rendition: String, isStored: Bool = true) {
        if case .segment(let number) = name.role {
            meter.stoodIn(other, for: number, of: rendition, isStored: isStored)
        }
    }

    /// Records that an awaited segment will not arrive, and that none of it was sent.
    private func gaveUp(_ number: Int?, of rendition: String, _ reply: ReplyNote) {
        if let number { meter.gaveUp(number, of: rendition) }
        arrived(reply, nil)
    }

    /// Returns the state of substitutions in a rendition.
    ///
    /// - Parameter substitutes: the renditions that can substitute now, or may have substituted before a restart; nil
    ///   if there are none.
    func composition(of rendition: String, among substitutes: @autoclosure () -> SegmentSubstitutes?) -> Composition {
        if let known = compositions[rendition] { return known }
        let made = Composition(isKnown: isEntered || !(substitutes()?.mayHaveSpliced ?? false))
        compositions[rendition] = made
        return made
    }

    private func arrived(_ reply: ReplyNote, _ address: String?) {
        lastEvent = clock.instant
        served.bytes.add(reply.bytes, from: reply.source)
        if reply.isWhole, reply.source != .store, let address { meter.served(by: address) }
        meter.arrived(reply, at: now)
    }

    // MARK: Segments

    /// Records a request or a delivery that the playhead tracker has examined.
    func saw(_ event: PlayheadEvent) {
        lastEvent = clock.instant
        let (span, isSound) = (event.span, event.kind == .audio)
        let segment = SegmentNote(
            rendition: event.rendition, isSound: isSound, number: span.number, start: span.start,
            duration: span.duration)
        for id in [segment.rendition, meter.standIn(for: span.number, of: segment.rendition)].compactMap(\.self) {
            if let rendition = asset.rendition(id) { describe(rendition, isSound: isSound) }
        }
        switch event.change {
        case .requested(let isSeek): meter.asked(segment, isSeek: isSeek, event.playhead, at: now)
        case .delivered:
            meter.delivered(segment, event.playhead, at: now)
            hasStarted = true
        case .deliveredInBulk:
            meter.flooded(to: segment, event.playhead, at: now)
            hasStarted = true
        }
        // Most of the bytes are sent by now, so they count before the player moves on.
        countStored()
        logFinished()
    }

    private func describe(_ rendition: Rendition, isSound: Bool) {
        guard !isSound, !meter.knows(rendition.name.id) else { return }
        let place = asset.renditions.firstIndex { $0 === rendition }
        let variant = asset.multivariant?.variants.first { $0.renditionIndex == place }
        let uri = rendition.source?.base.replacingQuery(nil).text
        meter.describe(rendition.name.id, SessionMeter.Stream(uri: uri, bandwidth: variant?.bandwidth))
    }

    // MARK: Events

    private func logFinished() {
        for event in meter.takeFinished() where event.requests > 0 || event.bytes.all > 0 { log.write(event) }
    }

    /// Ends the session; later calls have no effect.
    func close() {
        guard ended == nil else { return }
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
        return meter.current(at: now)
    }

    /// The current state of the session.
    var summary: SessionSummary {
        countStored()
        let now = now
        let playhead = meter.playhead(at: now)
        let total = meter.total(at: now)
        var summary = SessionSummary(
            id: id, guid: total.guid, asset: asset.name, client: total.client, began: start)
        (summary.ended, summary.uri, summary.startup) = (ended, total.uri, total.startup)
        summary.playhead = playhead.position
        summary.isStalled = ended == nil ? playhead.isStalled : nil
        (summary.stalls, summary.stallTime) = (total.stalls, total.stallTime)
        (summary.framesDropped, summary.switches) = (total.framesDropped, meter.switches)
        (summary.watched, summary.bytes, summary.pieces) = (total.watched, total.bytes, meter.trail.runs)
        summary.inferred = total.inferred.filter { $0 != "startOffset" } + ["playhead", "switches"]
        return summary
    }
}

extension ReplyEnd {
    /// True if the player received everything that it requested.
    var isWhole: Bool { cause == .complete && hasMedia }
    /// Bytes of the requested resource; an error text does not count.
    fileprivate var mediaBytes: Int64 { hasMedia ? bodyBytes : 0 }

    private var hasMedia: Bool { status.map { $0 < 300 } ?? false }
}

/// Bytes sent to all sessions, by source.
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
        case .passed: .store
        }
    }
}

extension Duration {
    /// The duration in seconds.
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
