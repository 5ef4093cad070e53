import AccessLog
import EventLoop
import Fetching
internal import FoundationEssentials
import HTTPMessage
import HTTPServer
import Library
import Playheads
import Playlist

/// What is seen of one session, for the logs and for who asks.
@LoopActor final class SessionRecord {
    /// The session's id.
    let id: String
    /// The session's id for the whole world.
    let guid = UUID().uuidString
    /// What it plays.
    let asset: Asset
    private let began: ContinuousClock.Instant
    /// The same by the wall clock, in seconds since 1970.
    private let start: Double
    private var meter: SessionMeter
    private let clock: SessionClock
    private let log: LogWriter
    private var ended: Double?
    /// Whether it is over: whoever goes on is another one.
    var hasEnded: Bool { ended != nil }
    /// When anything was last asked for or sent; stored pieces count once the playhead tracker has examined them.
    private(set) var lastEvent: ContinuousClock.Instant
    /// Whether a segment was delivered.
    private(set) var hasStarted = false
    /// Counts what a reply from the store has sent. Made once: it goes with each of them.
    let stored: @LoopActor (ReplyEnd) -> Void
    private let storedBytes: ByteCounter
    private let served: ServedBytes
    /// The player's own name for the playback (CMCD's `sid`), where it has told it.
    private(set) var playerID: String?
    /// What the player reported last, as it came.
    private(set) var report: PlayerReport?
    /// Whether its entry playlist was loaded from this process, so that all of it is known.
    private let isEntered: Bool
    private var compositions: [String: Composition] = [:]
    /// What chooses the quality of its segments; nil where its player does.
    let adapter: Adapter?

    /// - Parameters:
    ///   - entered: when its entry playlist was loaded; nil where nobody knows.
    ///   - isOffline: whether all comes from the store.
    ///   - isAdaptive: whether the quality of its segments is chosen here.
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

    /// Gives the meter what was sent from the store since this was last done.
    private func countStored() {
        meter.sent(storedBytes.bytes)
        storedBytes.bytes = 0
    }

    /// Takes what a player says of itself, if anything.
    func hears(_ head: RequestHead) -> Bool {
        guard let data = head.clientData else { return false }
        playerID = data.sessionID ?? playerID
        meter.tells(data, at: now)
        return true
    }

    /// Takes what its player reports.
    ///
    /// - Parameter earlier: the last report of the same playback to a session that has ended since.
    func takes(_ report: PlayerReport, since earlier: PlayerReport?) {
        self.report = report
        lastEvent = clock.instant
        meter.tells(report.since(earlier), at: now)
        logFinished()
    }

    /// A player waits for a fetch's bytes. What is returned tells of the end of its reply, once; nil where it is
    /// answered with something else.
    ///
    /// - Parameter isAwaited: whether the player cannot play on without them.
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

    /// Notes whose piece a segment is answered with; nil for its own.
    ///
    /// - Parameter isStored: whether the other's lay there, and was not fetched for this.
    func stoodIn(_ other: String?, for name: PieceName, of rendition: String, isStored: Bool = true) {
        if case .segment(let number) = name.role {
            meter.stoodIn(other, for: number, of: rendition, isStored: isStored)
        }
    }

    /// What was waited for is not any more, and nothing of it was sent.
    private func gaveUp(_ number: Int?, of rendition: String, _ reply: ReplyNote) {
        if let number { meter.gaveUp(number, of: rendition) }
        arrived(reply, nil)
    }

    /// What the session has got of a rendition.
    ///
    /// - Parameter substitutes: what can stand in, or may have stood in before this was known; nil for nothing.
    func composition(of rendition: String, among substitutes: @autoclosure () -> Substitutes?) -> Composition {
        if let known = compositions[rendition] { return known }
        let made = Composition(isKnown: isEntered || !(substitutes()?.mayHaveJoined ?? false))
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
        // By now most of it was sent: it belongs to where the player has gone.
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

    /// Ends the session, once.
    func close() {
        guard ended == nil else { return }
        countStored()
        let end = meter.close(at: now)
        ended = start + end
        logFinished()
    }

    /// The events that go on, as they stand; none after the end.
    var current: [AccessEvent] {
        guard ended == nil else { return [] }
        countStored()
        defer { logFinished() }
        return meter.current(at: now)
    }

    /// The session as it stands.
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
    /// Whether the player has got all that it asked for.
    var isWhole: Bool { cause == .complete && hasMedia }
    /// The bytes of a body that was what the player asked for.
    fileprivate var mediaBytes: Int64 { hasMedia ? bodyBytes : 0 }

    private var hasMedia: Bool { status.map { $0 < 300 } ?? false }
}

/// What all sessions were sent, by where it came from.
@LoopActor final class ServedBytes {
    var bytes = SourceBytes()
}

/// Apart from the record, which may be gone when a reply ends.
@LoopActor private final class ByteCounter {
    var bytes: Int64 = 0
}

extension Fetch.Approach {
    /// What bytes that come this way are to a session.
    fileprivate var source: PieceSource {
        switch self {
        case .begun, .resumed: .origin
        case .joined: .joined
        case .passed: .store
        }
    }
}

extension Duration {
    /// The whole of it in seconds.
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
