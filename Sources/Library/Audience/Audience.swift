public import EventLoop
import Fetching
import Playlist

/// Who plays what, and where: the only meeting point of playback and downloads.
///
/// Playback tells it of each piece that a session's player asks for (`Seat`); it infers each session's playhead from
/// that (`SessionPlayhead`), and tells a download from where to go on.
@LoopActor public final class Audience {
    /// What became of the place from which a download should go on.
    public enum Move: Sendable {
        /// A player seeked: go on from elsewhere, at once.
        case jumped
        /// A player asked for one or more further segments.
        case advanced
        /// The last session that played the asset is over.
        case ended
    }

    /// Told of each segment that a session asks for or gets, in the order in which that is looked at.
    public var witness: @LoopActor (Sighting) -> Void = { _ in }

    private(set) var attendees: [String: Attendee] = [:]
    private var observers: [Int: (asset: Asset, told: @LoopActor (Move) -> Void)] = [:]
    private var lastObserver = 0
    /// What was taken from the store and not looked at yet, oldest first; and the last of what is too much to look at.
    private var notes: [(file: String, seat: Seat)] = []
    private var lastNote: (file: String, seat: Seat)?
    private var reading: LoopTimer?
    private var sweep: LoopTimer?
    /// The clock by which playheads run.
    public let now: () -> ContinuousClock.Instant
    /// Entries and playlists that players wait for.
    private var openings = 0
    /// Whether that was so when it was last looked at: in the turn of the loop after it changed.
    private var isOpening = false
    private var noticing: LoopTimer?
    /// Told of an asset when a session begins to play it, and when one is over.
    var played: (Asset) -> Void = { _ in }
    /// Told when somebody begins to wait for an origin, or ceases to.
    var waitChanged: () -> Void = {}

    /// How long notes wait to be looked at, and how many are; mpv takes a thousand stored segments in that time.
    private static let noteLife = Duration.milliseconds(100)
    private static let noteLimit = 256
    /// Sessions beyond so many replace the one that has been silent the longest: anyone can make up their ids.
    private static let limit = 256
    private static let sweepPause = Duration.seconds(15)

    /// - Parameter now: the clock.
    init(now: @escaping () -> ContinuousClock.Instant = { .now }) {
        self.now = now
        reading = LoopTimer { [weak self] in self?.readNotes() }
        sweep = LoopTimer { [weak self] in self?.sweepOut() }
        noticing = LoopTimer { [weak self] in self?.notice() }
    }

    // MARK: What downloads ask

    /// The media time in seconds from which a download of the asset should go on: where what its players have asked for
    /// ends. Of several sessions the one that has the least ahead of it decides, among those that have not asked for
    /// all there is yet. nil while nobody plays it.
    public func playhead(of asset: Asset) -> Double? {
        readNotes()
        let now = now()
        let watching = attendees.values.filter { $0.asset === asset && $0.isWatching && !$0.playhead.isOver(at: now) }
        let end = asset.duration ?? .infinity
        let unfinished = watching.filter { ($0.playhead.askedEnd ?? 0) < end - 0.001 }
        let thinnest = (unfinished.isEmpty ? watching : unfinished).min {
            $0.playhead.buffer(at: now) < $1.playhead.buffer(at: now)
        }
        return thinnest?.playhead.askedEnd
    }

    /// Whether anybody plays the asset, or did so a moment ago.
    public func isWatching(_ asset: Asset) -> Bool {
        readNotes()
        let now = now()
        return attendees.values.contains { $0.asset === asset && !($0.awaited == 0 && $0.playhead.isOver(at: now)) }
    }

    /// Whether anybody plays anything.
    public var isAttended: Bool {
        readNotes()
        let now = now()
        return attendees.values.contains { $0.isPresent(at: now) }
    }

    /// Calls `told` each time that `playhead(of:)` of the asset may have another answer, until the number that is
    /// returned is given to `ignore`. Comes at most once for each segment asked for, and from within `playhead(of:)`
    /// too, where that reads notes which had waited.
    public func observe(_ asset: Asset, _ told: @escaping @LoopActor (Move) -> Void) -> Int {
        lastObserver += 1
        observers[lastObserver] = (asset, told)
        return lastObserver
    }

    /// Ends what `observe` began.
    public func ignore(_ observer: Int) { observers[observer] = nil }

    private func tell(_ asset: Asset, _ move: Move) {
        for (id, observer) in observers where observer.asset === asset && observers[id] != nil { observer.told(move) }
    }

    // MARK: What playback tells

    /// The seat of a session at a rendition of an asset, by its folder; nil for what has no playhead: keys, subtitles,
    /// pictures, trick play.
    public func seat(_ session: String, at asset: Asset, _ folder: String) -> Seat? {
        if let known = attendees[session], known.asset === asset, let seat = known.seats[folder] { return seat }
        guard let rendition = asset.rendition(folder), let kind = asset.playheadKind(of: rendition) else { return nil }
        let seat = Seat(session, at: asset, rendition, kind, self)
        attendee(session, at: asset).seats[folder] = seat
        return seat
    }

    private func attendee(of seat: Seat) -> Attendee { attendee(seat.session, at: seat.asset) }

    /// The session as it is known; one that was taken to be over, and goes on, begins anew.
    private func attendee(_ session: String, at asset: Asset) -> Attendee {
        let now = now()
        if let known = attendees[session], known.asset === asset, known.isPresent(at: now) { return known }
        if attendees.isEmpty { sweep?.schedule(after: Self.sweepPause) }
        if attendees.count >= Self.limit {
            let quietest = attendees.min { $0.value.playhead.lastEvent < $1.value.playhead.lastEvent }
            if let quietest { remove(quietest.key) }
        }
        let attendee = Attendee(asset, at: now)
        attendees[session] = attendee
        played(asset)
        return attendee
    }

    /// Notes a piece that was taken from the store.
    func note(_ file: String, _ seat: Seat) {
        guard notes.count < Self.noteLimit else {
            lastNote = (file, seat)
            return
        }
        if notes.isEmpty { reading?.schedule(after: Self.noteLife) }
        notes.append((file, seat))
    }

    private func readNotes() {
        guard !notes.isEmpty else { return }
        let read = notes
        notes.removeAll(keepingCapacity: true)
        for note in read { take(note.file, note.seat) }
        if let lastNote { takeLast(lastNote.file, lastNote.seat) }
        lastNote = nil
    }

    private func take(_ file: String, _ seat: Seat) {
        guard let span = seat.span(of: file) else { return }
        asks(span, seat)
        attendee(of: seat).playhead.delivered(span, seat.kind, at: now())
        show(.delivered, span, seat)
    }

    /// Takes the last of many that were not looked at: those between are taken to have come in sequence.
    private func takeLast(_ file: String, _ seat: Seat) {
        guard let span = seat.span(of: file) else { return }
        attendee(of: seat).playhead.flooded(to: span, of: seat.rendition.name.id, seat.kind, at: now())
        show(.flooded, span, seat)
        tell(seat.asset, .advanced)
    }

    private func asks(_ span: SegmentSpan, _ seat: Seat) {
        let attendee = attendee(of: seat)
        let before = attendee.playhead.askedEnd
        let hasJumped = attendee.playhead.asked(span, of: seat.rendition.name.id, seat.kind, at: now())
        show(.asked(isSeek: hasJumped), span, seat)
        guard hasJumped || attendee.playhead.askedEnd != before else { return }
        tell(seat.asset, hasJumped ? .jumped : .advanced)
    }

    /// A player waits for a piece from the origin.
    func awaits(_ file: String, _ seat: Seat) {
        readNotes()
        let attendee = attendee(of: seat)
        attendee.awaited += 1
        attendee.lastWait = now()
        if let span = seat.span(of: file) { asks(span, seat) }
        waitChanged()
    }

    /// Its reply has ended.
    ///
    /// - Parameter bytes: what it has got.
    func arrived(_ file: String, _ seat: Seat, _ bytes: Int64, isWhole: Bool) {
        readNotes()
        let attendee = attendee(of: seat)
        attendee.awaited = max(0, attendee.awaited - 1)
        attendee.lastWait = now()
        if isWhole, let span = seat.span(of: file) {
            attendee.playhead.delivered(span, seat.kind, at: now())
            attendee.consumed(bytes, span, seat.kind)
            show(.delivered, span, seat)
        }
        waitChanged()
    }

    /// A player waits for an entry or a playlist from the origin: it is about to begin. An answer that is known, and
    /// given at once, makes nobody yield.
    public func opens() {
        openings += 1
        noticing?.fireSoon()
    }

    /// It has it, or was refused.
    public func opened() {
        openings -= 1
        noticing?.fireSoon()
    }

    private func notice() {
        guard isOpening != (openings > 0) else { return }
        isOpening = openings > 0
        waitChanged()
    }

    // MARK: What yielding asks

    /// The sessions that wait for an origin, and whether any draws from one at all.
    func viewers(at now: ContinuousClock.Instant) -> (waiting: [YieldPolicy.Viewer], isWatched: Bool) {
        let drawing = attendees.values.filter { $0.isDrawing(at: now) }
        var waiting = drawing.filter { $0.awaited > 0 }.map { $0.viewer(at: now) }
        if isOpening { waiting.append(YieldPolicy.Viewer(buffer: 0, rate: 0, segment: 0)) }
        return (waiting, isOpening || !drawing.isEmpty)
    }

    // MARK: What the session's log wants

    private func show(_ event: Sighting.Event, _ span: SegmentSpan, _ seat: Seat) {
        witness(Sighting(event, of: span, seat, attendee(of: seat).playhead.reading(at: now())))
    }

    /// Looks at what is noted now, rather than in a moment.
    public func catchUp() { readNotes() }

    /// A session's playhead now; nil for one that has ended by idleness, or never began.
    public func reading(of session: String) -> PlayheadReading? {
        guard let attendee = attendees[session] else { return nil }
        let now = now()
        return attendee.isPresent(at: now) ? attendee.playhead.reading(at: now) : nil
    }

    /// How long ago a session began that goes on, in seconds; nil for one that does not.
    func age(of session: String) -> Int64? {
        let now = now()
        guard let attendee = attendees[session], attendee.isPresent(at: now) else { return nil }
        return (now - attendee.since).components.seconds
    }

    // MARK: Leaving

    /// Whoever plays a removed asset is none of the audience any more.
    func forget(_ asset: Asset) {
        for (id, attendee) in attendees where attendee.asset === asset { remove(id) }
    }

    private func sweepOut() {
        let now = now()
        for (id, attendee) in attendees where !attendee.isPresent(at: now) { remove(id) }
        if !attendees.isEmpty { sweep?.schedule(after: Self.sweepPause) }
    }

    private func remove(_ session: String) {
        guard let asset = attendees.removeValue(forKey: session)?.asset else { return }
        played(asset)
        if !attendees.values.contains(where: { $0.asset === asset }) { tell(asset, .ended) }
    }
}

extension Asset {
    /// What a rendition is to a playhead; nil if it has no say in it.
    fileprivate func playheadKind(of rendition: Rendition) -> SessionPlayhead.Kind? {
        guard rendition.name.content == .media, !rendition.name.isIFramesOnly else { return nil }
        let isSound = multivariant?.media.contains { $0.renditionIndex == rendition.place && $0.type == .audio }
        return isSound ?? false ? .audio : .main
    }
}
