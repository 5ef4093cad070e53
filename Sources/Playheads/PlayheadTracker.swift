// The room Playheads.
//
// Duty: who plays what and where; estimates of buffers; when downloads must yield.
// Entrance: `PlayheadTracker` for reports and positions, `YieldPolicy` for the decision.
// Does not enter: routes, pieces and downloads: this is where `Playback` and `Downloads` meet, and neither is known here.

public import EventLoop

/// Knows which session plays which asset, and where. Playback and downloads meet here only.
///
/// Playback reports each piece that a session's player requests (`RenditionCursor`). The tracker infers the session's
/// playhead from these reports (`SessionPlayhead`), and notifies downloads where to continue.
@LoopActor public final class PlayheadTracker {
    /// Sends each request for a segment and each delivery, in the order in which the tracker examines them.
    public let events = EventStream<PlayheadEvent>()
    /// Sends a move each time that `downloadStart(for:)` of an asset may have changed: at most one for each segment
    /// requested. A move may come from within `downloadStart(for:)` too, if it examines recorded pieces.
    public let moves = EventStream<PlayheadMove>()
    /// Sends the begin and end of sessions.
    public let sessionChanges = EventStream<SessionChange>()
    /// Sends an event when a session begins or ends to wait for an origin.
    let originWaits = EventStream<Void>()
    /// The clock by which playheads run.
    public let now: () -> ContinuousClock.Instant
    private(set) var sessions: [String: TrackedSession] = [:]
    /// Pieces from the store that were not examined yet, oldest first; and the last one beyond the limit.
    private var records: [(file: String, cursor: RenditionCursor)] = []
    private var lastRecord: (file: String, cursor: RenditionCursor)?
    private var reading: LoopTimer?
    /// Replies under way of players that play parts of segments.
    private var deliveries: [PieceInDelivery] = []
    private var progress: LoopTimer?
    private var sweep: LoopTimer?
    /// Number of entries and playlists that players wait for.
    private var openings = 0
    /// `openings > 0` as of the latest check, which comes in the turn of the loop after a change.
    private var isOpening = false
    private var openingCheck: LoopTimer?
    /// Time until recorded pieces are examined, and their limit; mpv takes a thousand stored segments in that time.
    private static let recordLife = Duration.milliseconds(100)
    private static let recordLimit = 256
    /// Beyond this number a new session replaces the one that has been idle for longest: a client can make up ids.
    private static let limit = 256
    private static let sweepPause = Duration.seconds(15)
    private static let progressPause = Duration.milliseconds(200)
    /// A reply that has not begun after this time makes its player wait.
    private static let openingTime = Duration.seconds(1)

    /// Makes a tracker without sessions, with the clock by which playheads run.
    public init(now: @escaping () -> ContinuousClock.Instant = { .now }) {
        self.now = now
        reading = LoopTimer { [weak self] in self?.catchUp() }
        sweep = LoopTimer { [weak self] in self?.sweepOut() }
        progress = LoopTimer { [weak self] in self?.examineDeliveries() }
        openingCheck = LoopTimer { [weak self] in self?.checkOpenings() }
    }

    // MARK: Assets

    /// The media time in seconds at which a download of an asset should continue: the end of the media that its players
    /// have requested; nil while no session plays it. Of several sessions the one with the smallest buffer decides,
    /// among those that have not requested all of the asset yet.
    public func downloadStart(for asset: String) -> Double? {
        catchUp()
        let now = now()
        let watching = sessions(of: asset).filter { $0.isWatching && !$0.playhead.isOver(at: now) }
        let unfinished = watching.filter { session in
            let requestedEnd = session.playhead.requestedEnd ?? 0
            let end = session.asset.duration ?? .infinity
            return requestedEnd < end - 0.001
        }
        let candidates = unfinished.isEmpty ? watching : unfinished
        let thinnest = candidates.min { $0.playhead.buffer(at: now) < $1.playhead.buffer(at: now) }
        return thinnest?.playhead.requestedEnd
    }

    /// True if a session plays the asset, or did so a moment ago.
    public func isPlayed(_ asset: String) -> Bool {
        catchUp()
        let now = now()
        return sessions(of: asset).contains { $0.isPresent(at: now) }
    }

    /// True if a session plays any asset, or did so a moment ago.
    public var isAnyPlayed: Bool {
        catchUp()
        let now = now()
        return sessions.values.contains { $0.isPresent(at: now) }
    }

    /// Media times in seconds near which sessions will request segments: each playhead, and each requested end.
    public func neededTimes(of asset: String) -> [Double] {
        let now = now()
        return sessions(of: asset).filter { $0.isPresent(at: now) }.flatMap { session in
            [session.playhead.position(at: now), session.playhead.requestedEnd].compactMap(\.self)
        }
    }

    /// Ends the sessions of an asset that is about to be removed.
    public func forget(_ asset: String) {
        for (id, session) in sessions where session.asset.id == asset {
            remove(id)
        }
    }

    private func sessions(of asset: String) -> [TrackedSession] {
        sessions.values.filter { $0.asset.id == asset && !$0.asset.isRemoved }
    }

    // MARK: Sessions

    /// True if the session has requested media and has not ended.
    public func hasSession(_ session: String) -> Bool { sessions[session] != nil }

    /// True if the session has requested media of the asset, and has not ended by idleness.
    public func isPlaying(_ session: String, _ asset: String) -> Bool {
        presentSession(session, at: now())?.asset.id == asset
    }

    /// A session's playhead now; nil for a session that has ended by idleness, and for an unknown one.
    public func reading(of session: String) -> PlayheadReading? {
        let now = now()
        return presentSession(session, at: now)?.playhead.reading(at: now)
    }

    /// Applies a player's data about its own playback. Returns the corrected playhead; nil for an unknown session.
    public func apply(_ correction: PlayheadCorrection, to session: String) -> PlayheadReading? {
        let now = now()
        sessions[session]?.playhead.apply(correction, at: now)
        return sessions[session]?.playhead.reading(at: now)
    }

    /// Time since the begin of a session, in seconds; nil for one that has ended by idleness, and for an unknown one.
    public func age(of session: String) -> Int64? {
        let now = now()
        return presentSession(session, at: now).map { (now - $0.since).components.seconds }
    }

    private func presentSession(_ session: String, at now: ContinuousClock.Instant) -> TrackedSession? {
        guard let known = sessions[session], known.isPresent(at: now) else { return nil }
        return known
    }

    /// Records that a session's player has open connections, or has none any more. One with open connections may be paused,
    /// and has not left.
    public func setConnected(_ session: String, _ isConnected: Bool) {
        guard let known = sessions[session] else { return }
        // A player that is back after a long pause begins another playback.
        if !known.isPresent(at: now()) {
            known.hasEnded = true
        }
        known.isConnected = isConnected
    }

    /// Ends a session whose player has left.
    public func end(_ session: String) {
        catchUp()
        remove(session)
    }

    /// Begins a session anew if it had ended by idleness.
    private func session(of cursor: RenditionCursor, at now: ContinuousClock.Instant) -> TrackedSession {
        session(cursor.session, of: cursor.asset, at: now)
    }

    private func session(
        _ id: String, of asset: any PlayedAsset, _ player: PlayerTraits? = nil, at now: ContinuousClock.Instant
    ) -> TrackedSession {
        let known = sessions[id]
        if let known, known.asset === asset, known.isPresent(at: now) {
            return known
        }

        if sessions.isEmpty {
            sweep?.schedule(after: Self.sweepPause)
        }
        if sessions.count >= Self.limit {
            let idlest = sessions.min { $0.value.playhead.lastEvent < $1.value.playhead.lastEvent }
            if let idlest {
                remove(idlest.key)
            }
        }

        let reported = player ?? known?.player
        let session = TrackedSession(asset, reported ?? PlayerTraits(), at: now)
        session.isConnected = known?.isConnected ?? false
        sessions[id] = session
        if !asset.isRemoved {
            sessionChanges.send(.began(asset: asset.id))
        }
        return session
    }

    private func sweepOut() {
        let now = now()
        for (id, session) in sessions where !session.isPresent(at: now) {
            remove(id)
        }
        if !sessions.isEmpty {
            sweep?.schedule(after: Self.sweepPause)
        }
    }

    private func remove(_ session: String) {
        guard let asset = sessions.removeValue(forKey: session)?.asset, !asset.isRemoved else { return }
        sessionChanges.send(.ended(asset: asset.id))
        if sessions(of: asset.id).isEmpty {
            notify(asset, .end)
        }
    }

    private func notify(_ asset: any PlayedAsset, _ cause: PlayheadMove.Cause) {
        if !asset.isRemoved {
            moves.send(PlayheadMove(asset: asset.id, cause: cause))
        }
    }

    // MARK: Reports

    /// The cursor of a session in a rendition of an asset, by the rendition's folder; nil for content without a
    /// playhead: keys, subtitles, images, trick play.
    public func cursor(
        of session: String, in asset: any PlayedAsset, _ folder: String, _ player: PlayerTraits = PlayerTraits()
    ) -> RenditionCursor? {
        if let known = sessions[session], known.asset === asset, let cursor = known.cursors[folder] {
            return cursor
        }
        guard let (rendition, kind) = asset.playedRendition(in: folder) else { return nil }
        let cursor = RenditionCursor(of: session, in: asset, rendition: rendition, kind: kind, tracker: self)
        self.session(session, of: asset, player, at: now()).cursors[folder] = cursor
        return cursor
    }

    func record(_ file: String, _ cursor: RenditionCursor) {
        guard records.count < Self.recordLimit else {
            lastRecord = (file, cursor)
            return
        }
        if records.isEmpty {
            reading?.schedule(after: Self.recordLife)
        }
        records.append((file, cursor))
    }

    /// Examines the recorded pieces now, rather than in a moment.
    public func catchUp() {
        guard !records.isEmpty else { return }
        let read = records
        records.removeAll(keepingCapacity: true)
        for record in read {
            examine(record.file, record.cursor)
        }
        if let lastRecord {
            examineLast(lastRecord.file, lastRecord.cursor)
        }
        lastRecord = nil
    }

    private func examine(_ file: String, _ cursor: RenditionCursor) {
        guard let span = cursor.rendition.span(ofFile: file) else { return }
        let now = now()
        let session = session(of: cursor, at: now)
        request(span, cursor, in: session, at: now)
        session.playhead.delivered(span, cursor.kind, at: now)
        publish(.delivered, of: span, seenBy: cursor, in: session, at: now)
    }

    /// Examines the last of many pieces; those before it are assumed to have come in sequence.
    private func examineLast(_ file: String, _ cursor: RenditionCursor) {
        guard let span = cursor.rendition.span(ofFile: file) else { return }
        let now = now()
        let session = session(of: cursor, at: now)
        session.playhead.deliveredInBulk(upTo: span, of: cursor.rendition.id, cursor.kind, at: now)
        publish(.deliveredInBulk, of: span, seenBy: cursor, in: session, at: now)
        notify(cursor.asset, .progress)
    }

    private func request(
        _ span: SegmentSpan, _ cursor: RenditionCursor, in session: TrackedSession, at now: ContinuousClock.Instant
    ) {
        session.playhead.end = session.asset.duration
        let before = session.playhead.requestedEnd
        let isSeek = session.playhead.requested(span, of: cursor.rendition.id, cursor.kind, at: now)
        publish(.requested(isSeek: isSeek), of: span, seenBy: cursor, in: session, at: now)

        if isSeek {
            notify(cursor.asset, .seek)
        } else if session.playhead.requestedEnd != before {
            notify(cursor.asset, .progress)
        }
    }

    private func publish(
        _ change: PlayheadEvent.Change, of span: SegmentSpan, seenBy cursor: RenditionCursor,
        in session: TrackedSession, at now: ContinuousClock.Instant
    ) {
        let playhead = session.playhead.reading(at: now)
        events.send(PlayheadEvent(change, of: span, seenBy: cursor, playhead: playhead, at: now))
    }

    func beginWait(for file: String, _ cursor: RenditionCursor, _ delivery: (any PieceDelivery)?) {
        catchUp()
        let now = now()
        let session = session(of: cursor, at: now)
        session.awaited += 1
        session.lastWait = now
        if let span = cursor.rendition.span(ofFile: file) {
            request(span, cursor, in: session, at: now)
            if session.player.playsParts, let delivery {
                if deliveries.isEmpty {
                    progress?.schedule(after: Self.progressPause)
                }
                deliveries.append(PieceInDelivery(delivery: delivery, span: span, cursor: cursor, since: now))
            }
        }
        originWaits.send(())
    }

    private func examineDeliveries() {
        let now = now()
        deliveries.removeAll { $0.delivery == nil }
        for index in deliveries.indices {
            let each = deliveries[index]
            guard let delivery = each.delivery, let session = sessions[each.cursor.session] else { continue }
            if delivery.isAnswered == each.isWithheld, each.isWithheld || isLate(each, at: now) {
                deliveries[index].isWithheld = !each.isWithheld
                open(each.span, each.cursor, isAnswered: delivery.isAnswered, in: session, at: now)
            }
            let before = session.playhead.front
            if let share = delivery.deliveredShare {
                session.playhead.progressed(each.span, share: share, each.cursor.kind, at: now)
            }
            if session.playhead.front != before {
                publish(.progressed, of: each.span, seenBy: each.cursor, in: session, at: now)
            }
        }
        if !deliveries.isEmpty {
            progress?.schedule(after: Self.progressPause)
        }
    }

    private func isLate(_ piece: PieceInDelivery, at now: ContinuousClock.Instant) -> Bool {
        now - piece.since >= Self.openingTime && !piece.cursor.rendition.isEncrypted
    }

    /// Records that a reply does not begin, or has begun or failed after that.
    private func open(
        _ span: SegmentSpan, _ cursor: RenditionCursor, isAnswered: Bool, in session: TrackedSession,
        at now: ContinuousClock.Instant
    ) {
        let before = session.playhead.front
        session.playhead.opened(span, isAnswered: isAnswered, cursor.kind, at: now)
        if session.playhead.front != before {
            publish(.progressed, of: span, seenBy: cursor, in: session, at: now)
        }
    }

    /// Ends a session's wait for the origin. A player that is paused amid a piece that is here holds no download back.
    func pieceArrived(_ cursor: RenditionCursor) {
        catchUp()
        let now = now()
        endWait(of: session(of: cursor, at: now), at: now)
        originWaits.send(())
    }

    private func endWait(of session: TrackedSession, at now: ContinuousClock.Instant) {
        session.awaited = max(0, session.awaited - 1)
        session.lastWait = now
    }

    func endWait(for file: String, _ cursor: RenditionCursor, bytes: Int64, isComplete: Bool, hasArrived: Bool) {
        catchUp()
        let now = now()
        let session = session(of: cursor, at: now)
        if !hasArrived {
            endWait(of: session, at: now)
        }
        let span = cursor.rendition.span(ofFile: file)
        if let span {
            open(span, cursor, isAnswered: true, in: session, at: now)
        }
        if isComplete, let span {
            session.playhead.delivered(span, cursor.kind, at: now)
            session.consumed(bytes, of: span, kind: cursor.kind)
            publish(.delivered, of: span, seenBy: cursor, in: session, at: now)
        }
        if !hasArrived {
            originWaits.send(())
        }
    }

    /// Records that a player begins to wait for an entry or a playlist from the origin: playback is about to begin. A
    /// known answer that is given at once makes no transfer yield.
    public func openingBegan() {
        openings += 1
        openingCheck?.fireSoon()
    }

    /// The player has the entry or playlist, or was refused.
    public func openingEnded() {
        openings -= 1
        openingCheck?.fireSoon()
    }

    private func checkOpenings() {
        guard isOpening != (openings > 0) else { return }
        isOpening = openings > 0
        originWaits.send(())
    }

    // MARK: Yielding

    /// The demands of the sessions that wait for an origin; and true if any session draws from an origin at all.
    func demands(at now: ContinuousClock.Instant) -> (waiting: [YieldPolicy.Demand], isWatched: Bool) {
        var waiting = [YieldPolicy.Demand]()
        var isWatched = isOpening
        for session in sessions.values where session.isDrawing(at: now) {
            isWatched = true
            if session.awaited > 0 {
                waiting.append(session.demand(at: now))
            }
        }
        if isOpening {
            waiting.append(YieldPolicy.Demand(buffer: 0, rate: 0, segment: 0))
        }
        return (waiting, isWatched)
    }
}

/// A piece that a player waits for.
private struct PieceInDelivery {
    weak var delivery: (any PieceDelivery)?
    let span: SegmentSpan
    let cursor: RenditionCursor
    let since: ContinuousClock.Instant
    /// True while the reply has not begun and its player is known to wait for that.
    var isWithheld = false
}

@LoopActor final class TrackedSession {
    let asset: any PlayedAsset
    let player: PlayerTraits
    /// True if the player has open connections that it would close when it ends.
    var isConnected = false
    /// True if the session ended by idleness, and its player has come back.
    var hasEnded = false
    let since: ContinuousClock.Instant
    let playhead: SessionPlayhead
    /// By folder.
    var cursors: [String: RenditionCursor] = [:]
    /// Number of pieces that the session waits for, on their way from the origin.
    var awaited = 0
    /// Time of the latest begin or end of a wait for an origin; nil before the first one.
    var lastWait: ContinuousClock.Instant?
    /// Recent consumption by kind of media, in bytes per second of media.
    private var rates: [MediaKind: Double] = [:]
    private var segment = 0.0
    private static let shortestPause = 10.0

    init(_ asset: any PlayedAsset, _ player: PlayerTraits, at now: ContinuousClock.Instant) {
        self.asset = asset
        self.player = player
        since = now
        playhead = SessionPlayhead(at: now, player, end: asset.duration)
    }

    func consumed(_ bytes: Int64, of span: SegmentSpan, kind: MediaKind) {
        guard span.duration > 0, bytes > 0 else { return }
        let rate = Double(bytes) / span.duration
        // Segments differ in size: half of the old figure stays.
        let before = rates[kind] ?? rate
        rates[kind] = (before + rate) / 2
        if kind == .main || segment == 0 {
            segment = span.duration
        }
    }

    /// True if the session waits for a piece, its player is connected, or it has not been idle for too long.
    func isPresent(at now: ContinuousClock.Instant) -> Bool {
        awaited > 0 || !hasEnded && (isConnected || !playhead.isOver(at: now))
    }

    /// True if the session waits for an origin, or will soon do so again, for the next segment.
    func isDrawing(at now: ContinuousClock.Instant) -> Bool {
        guard let lastWait else { return false }
        return awaited > 0 || (now - lastWait).inSeconds < max(2 * segment, Self.shortestPause)
    }

    /// True once the session has requested a segment.
    var isWatching: Bool { playhead.requestedEnd != nil }

    func demand(at now: ContinuousClock.Instant) -> YieldPolicy.Demand {
        YieldPolicy.Demand(buffer: playhead.buffer(at: now), rate: rates.values.reduce(0, +), segment: segment)
    }
}
