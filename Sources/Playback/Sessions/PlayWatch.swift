import AccessLog
import HTTPMessage
import Playheads

/// What a session has watched, and how often it stood still for want of media. Pure: told what is known, and when.
///
/// The playhead is the tracker's (`PlayheadReading`): it runs in real time to the end of the delivered media. A stall
/// is inferred by starvation: it begins when the playhead gets there while a request for more is under way, or has just
/// failed, and ends with the next delivery or seek. Whoever runs dry with nothing asked for is paused, or at the end.
/// Less than `shortest` is no stall: players begin to play a moment after the first delivery, not with it.
///
/// A player that sends CMCD knows better. `bl` puts the playhead where it says, `pr` sets its speed, `su` says that it
/// stands. Whether an inferred stall was one, the next request says: it counts with `bs` and does not without, and `bs`
/// counts one where none was inferred. Who cannot have come near the end of what it holds has not starved, whatever it
/// says; and what `bl` leaps over was not watched.
///
/// One that reports (`PlayerReport`) knows all of it: nothing is inferred then but the time from one report to the next.
struct PlayWatch {
    /// Until when it has watched, in seconds since the session began.
    private(set) var time = 0.0
    private var position = 0.0
    /// Where the delivered media ends.
    private var front = 0.0
    /// Where the present stretch of media began, with the start or a seek.
    private var origin = 0.0
    /// The furthest that was watched of it.
    private var furthest = 0.0
    private var isRunning = false
    /// Whether it ran dry without wanting more.
    private var isPaused = false
    /// Whether the player has said that it stands until more comes.
    private var isHeld = false
    private var rate = 1.0
    private var stalledSince: Double?
    /// When it last got to the end of what was delivered.
    private(set) var ranDry: Double?
    /// Whether the open stall was counted, since the player spoke of it.
    private var isConfirmed = false
    /// When the player last spoke of one.
    private var starved = -Double.infinity
    /// The least media ahead of the playhead since the player last told of itself.
    private var least = Double.infinity
    /// Stalls that the player has yet to confirm.
    private var pending = (count: 0, time: 0.0)

    /// Until when the player is known to want more: without end while a request is under way; for `patience` after one
    /// that failed, since it will try again or has given up; else until its last reply's end.
    private var wantsUntil = -Double.infinity
    /// Media time, in seconds; never falls.
    private(set) var watched = 0.0
    /// Never falls.
    private(set) var stalls = 0
    /// In seconds; never falls.
    private(set) var stallTime = 0.0
    /// Whether the player tells of its buffer.
    private(set) var isTold = false
    /// Whether it reports; and whether it stood for want of media when it last did.
    private(set) var isReported = false
    private var isReportedStalled = false

    /// The shortest stall, in seconds.
    static let shortest = 0.5
    /// By so many seconds the playhead may be elsewhere than is inferred.
    static let doubt = 2.0
    /// So many seconds players take before they try again.
    static let patience = 15.0

    // MARK: Time

    /// Lets time pass.
    mutating func advance(to now: Double) {
        let elapsed = max(0, now - time)
        time = max(time, now)
        defer { if isRunning { least = min(least, front - position) } }
        guard isRunning, !isPaused, rate > 0, elapsed > 0 else { return }
        let reach = position + elapsed * rate
        if reach > front, stalledSince == nil { runDry(since: time - (reach - max(front, position)) / rate) }
        move(to: max(position, min(front, reach)))
    }

    /// When the playhead gets to a place ahead of it if nothing else comes about; nil where it does not.
    func arrival(at place: Double) -> Double? {
        guard isPlaying, rate > 0, place > position, place <= front else { return nil }
        return time + (place - position) / rate
    }

    private mutating func runDry(since dry: Double) {
        ranDry = dry
        if dry <= wantsUntil { stalledSince = dry } else { isPaused = true }
    }

    private mutating func move(to position: Double) {
        self.position = position
        watched += max(0, position - furthest)
        furthest = max(furthest, position)
    }

    /// The media time that is on the screen, in seconds.
    var playhead: Double { position }

    /// Whether media is played.
    var isPlaying: Bool { isRunning && !isPaused && stalledSince == nil }

    /// Whether it stands for want of media.
    var isStalled: Bool { isReported ? isReportedStalled : openLength >= Self.shortest }

    /// How long the open stall has lasted, as far as anybody waits for its end.
    private var openLength: Double { stalledSince.map { max(0, min(time, wantsUntil) - $0) } ?? 0 }

    /// The stalls so far, with the open one unless the player has yet to speak of it.
    var total: (count: Int, time: Double) {
        if isReported { return (stalls, stallTime) }
        if isConfirmed { return (stalls, stallTime + openLength) }
        return isStalled && !isTold ? (stalls + 1, stallTime + openLength) : (stalls, stallTime)
    }

    // MARK: Events

    /// A request is under way.
    mutating func wants(at now: Double) {
        advance(to: now)
        wantsUntil = .infinity
    }

    /// None is any more; the last one may have failed.
    mutating func wantsNothing(hasFailed: Bool, at now: Double) {
        advance(to: now)
        wantsUntil = now + (hasFailed ? Self.patience : 0)
    }

    /// Takes the tracker's playhead after a request or a delivery.
    mutating func take(_ reading: PlayheadReading, isSeek: Bool, at now: Double) {
        advance(to: now)
        if isSeek { return restart(at: reading) }
        let before = front
        front = reading.front ?? front
        if !reading.isRunning {
            begin(at: reading.position)
        } else if !isRunning, !isHeld || front > before {
            isRunning = true
            if !isTold { begin(at: reading.position, isRunning: true) }
        }
        guard front > before else { return }
        ranDry = nil
        endStall()
        (isPaused, isHeld) = (false, false)
    }

    private mutating func restart(at reading: PlayheadReading) {
        endStall()
        begin(at: reading.position, isRunning: reading.isRunning)
        front = reading.front ?? reading.position
        ranDry = nil
        (isPaused, isHeld) = (false, false)
    }

    /// A new stretch, unless it is where it was.
    private mutating func begin(at position: Double, isRunning: Bool = false) {
        self.isRunning = isRunning
        guard self.position != position else { return }
        (self.position, origin, furthest) = (position, position, position)
    }

    private mutating func endStall() {
        guard let since = stalledSince else { return }
        end(stallOf: time - since)
    }

    private mutating func end(stallOf length: Double) {
        stalledSince = nil
        defer { isConfirmed = false }
        if isConfirmed {
            if !isReported { stallTime += length }
        } else if length >= Self.shortest {
            if isTold { pending = (pending.count + 1, pending.time + length) } else { count(1, length) }
        }
    }

    private mutating func count(_ count: Int, _ time: Double) {
        guard !isReported else { return }
        stalls += count
        stallTime += time
    }

    /// Takes what the player says with a request.
    mutating func tell(_ data: CMCD, at now: Double) {
        advance(to: now)
        if data.bufferLength != nil || data.wasStarved || data.isUrgent { isTold = true }
        if let rate = data.playbackRate { self.rate = rate }
        if let buffer = data.bufferLength {
            let position = max(origin, front - buffer)
            if position < front { isPaused = false }
            // A seek within what the player holds.
            if position > self.position + Self.doubt { furthest = max(furthest, position) }
            move(to: position)
            if isRunning { least = min(least, front - position) }
        }
        if data.isUrgent { (isRunning, isHeld) = (false, true) }
        confirm(data.wasStarved && least < Self.doubt)
        least = .infinity
    }

    /// Takes a report; counters that fall stay as they were.
    ///
    /// - Parameter isPlaced: whether its playhead counts from where ours does: in a live stream players begin at nothing.
    mutating func tell(_ report: PlayerReport, isPlaced: Bool, at now: Double) {
        advance(to: now)
        (isTold, isReported, isReportedStalled) = (true, true, report.isStalled)
        (stalls, stallTime) = (max(stalls, report.stalls), max(stallTime, report.stallTime))
        (stalledSince, isPaused, isHeld, isRunning) = (nil, false, false, true)
        (pending, isConfirmed) = ((0, 0), false)
        rate = report.rate
        guard isPlaced else { return }
        // What it has leapt over was not watched.
        if report.playhead > position + Self.doubt { furthest = max(furthest, report.playhead) }
        front = max(front, report.playhead)
        move(to: report.playhead)
    }

    private mutating func confirm(_ wasStarved: Bool) {
        guard isTold, !isReported else { return }
        // Requests for sound and for pictures may each tell of the same one.
        if wasStarved, time - starved > Self.shortest {
            starved = time
            count(max(1, pending.count), pending.time)
            isConfirmed = stalledSince != nil
        }
        pending = (0, 0)
    }

    /// The session is over: what nobody has spoken of counts.
    mutating func close() {
        if stalledSince != nil { end(stallOf: openLength) }
        count(pending.count, pending.time)
        pending = (0, 0)
    }
}
