import AccessLog
import HTTPMessage
import Playheads
import SafeText

/// Measures the watched time and the stalls of a session. Pure: the caller passes events and times.
///
/// The playhead is the tracker's (`PlayheadReading`), which also applies the player's data to it. Stalls are inferred
/// from starvation. A stall begins when the playhead reaches the end of the delivered media while a request is under way
/// or has just failed, and ends with the next delivery or seek. A player that runs dry without a request is paused, or
/// at the end. Less than `shortest` is no stall: players start a moment after the first delivery, not with it.
///
/// A player that sends CMCD is more precise. The next request confirms an inferred stall: with `bs` it counts, without
/// `bs` it does not, and `bs` adds a stall where none was inferred. `bs` is ignored if the player cannot have been near
/// the end of its buffer. Media that `bl` skips was not watched.
///
/// A player that reports (`PlayerReport`) is exact. Only the time between two reports is then inferred.
struct PlayWatch {
    /// The time up to which the state is computed, in seconds since the session began.
    private(set) var time = 0.0
    private var reading = PlayheadReading(position: 0, front: nil, isRunning: false)
    private var furthest = 0.0
    /// True if the playhead reached the end of the media without a request for more.
    private var isPaused = false
    private var stalledSince: Double?
    /// Time at which the playhead last reached the end of the delivered media.
    private(set) var ranDry: Double?
    /// True if the open stall is already counted because the player reported it.
    private var isConfirmed = false
    private var starved = -Double.infinity
    /// Smallest amount of media ahead of the playhead since the player's last data.
    private var least = Double.infinity
    /// Inferred stalls that the player has not confirmed yet.
    private var pending = (count: 0, time: 0.0)
    private var spans = StallSpans()
    /// Time until which the player is known to need more. Infinite while a request is under way. After a failed
    /// request, `playerTimeout` later, because the player will retry or has given up. Otherwise the end of its last reply.
    private var neededUntil = -Double.infinity
    /// Media time, in seconds; never decreases.
    private var passed = 0.0
    /// The playhead at the latest request.
    private var requested = 0.0
    /// Never decreases.
    private(set) var stalls = 0
    /// In seconds; never decreases.
    private(set) var stallTime = 0.0
    private(set) var hasClientData = false
    /// True if the player sends reports. `isReportedStalled` is its stall state in the last one.
    private(set) var isReported = false
    private var isReportedStalled = false
    static let shortest = 0.5
    /// Possible error of the inferred playhead, in seconds.
    static let tolerance = 2.0
    /// Delay before players retry a failed request, in seconds.
    static let playerTimeout = 15.0
    /// The media time on the screen, in seconds.
    var playhead: Double { reading.position }
    /// End of the delivered media, in seconds of media time.
    private var front: Double { reading.front ?? playhead }
    /// Delivered media ahead of the playhead, in seconds.
    var buffer: Double { max(0, front - playhead) }

    /// Media time, in seconds. A player that should have requested more by now has been paused or left since its latest
    /// request, nobody knows when: half of that counts until it requests again.
    var watched: Double {
        guard let limit = reading.limit, limit < front, playhead >= limit - 0.001, !hasClientData else { return passed }
        return passed - min(passed, max(0, limit - requested) / 2)
    }

    mutating func advance(to now: Double) {
        let elapsed = max(0, now - time)
        time = max(time, now)
        defer {
            if reading.isRunning {
                least = min(least, front - playhead)
            }
        }
        guard reading.isRunning, !isPaused, reading.rate > 0, elapsed > 0 else { return }
        let reach = playhead + elapsed * reading.rate
        if reach > front, reading.limit ?? front >= front, stalledSince == nil {
            runDry(since: time - (reach - max(front, playhead)) / reading.rate)
        }
        move(to: reading.position(after: elapsed))
    }

    /// Returns the time at which the playhead reaches a later position if nothing else happens; nil if it does not.
    func arrival(at position: Double) -> Double? {
        guard isPlaying, reading.rate > 0, position > playhead, position <= min(front, reading.limit ?? front) else {
            return nil
        }
        return time + (position - playhead) / reading.rate
    }

    private mutating func runDry(since dry: Double) {
        ranDry = dry
        if dry <= neededUntil {
            stalledSince = dry
        } else {
            isPaused = true
        }
    }

    private mutating func move(to position: Double) {
        reading.position = position
        passed += max(0, position - furthest)
        furthest = max(furthest, position)
    }

    var isPlaying: Bool { reading.isRunning && !isPaused && stalledSince == nil }
    var isStalled: Bool {
        guard !isReported else { return isReportedStalled }
        return openLength >= Self.shortest
    }
    /// Duration of the open stall, up to the time until which the player is known to need more.
    private var openLength: Double {
        guard let stalledSince else { return 0 }
        return max(0, min(time, neededUntil) - stalledSince)
    }

    /// The stalls so far. Includes the open one unless the player still has to confirm it.
    var total: (count: Int, time: Double) {
        if isReported {
            return (stalls, stallTime)
        }
        if isConfirmed {
            return (stalls, stallTime + openLength)
        }
        if isStalled, !hasClientData {
            return (stalls + 1, stallTime + openLength)
        }
        return (stalls, stallTime)
    }

    /// The periods of the stalls that `total` counts.
    var stallSpans: [TimelineStall] {
        guard let stalledSince, !isReported, isConfirmed || isStalled && !hasClientData else { return spans.spans }
        var all = spans
        all.add(openLength, until: stalledSince + openLength)
        return all.spans
    }

    mutating func requestBegan(at now: Double) {
        advance(to: now)
        neededUntil = .infinity
    }

    /// Records that no request is under way any more; the last one may have failed.
    mutating func requestsEnded(hasFailed: Bool, at now: Double) {
        advance(to: now)
        neededUntil = now
        if hasFailed {
            neededUntil += Self.playerTimeout
        }
    }

    /// Adopts the tracker's playhead after a request or a delivery.
    mutating func update(_ next: PlayheadReading, isSeek: Bool, at now: Double) {
        advance(to: now)
        let before = front

        // A session that begins with a player that has run dry, after a pause that ended the last one, has not stalled.
        let hasStarved = next.isStarved && !reading.isStarved && reading.isRunning
        // A new range of media begins at each seek, and wherever a playhead that stands still is placed.
        if isSeek || next.position != playhead && !(reading.isRunning && next.isRunning) {
            furthest = next.position
        }

        reading = next
        if next.limit == nil {
            requested = next.position
        }
        move(to: next.position)
        if hasStarved, stalledSince == nil, !isPaused {
            runDry(since: now)
        }

        // A player that gathers media after it ran dry still stands.
        guard isSeek || front > before && !next.isStarved else { return }
        ranDry = nil
        if let since = stalledSince {
            end(stallOf: time - since, at: time)
        }
        isPaused = false
    }

    private mutating func end(stallOf length: Double, at end: Double) {
        stalledSince = nil
        defer { isConfirmed = false }
        if isConfirmed {
            guard !isReported else { return }
            stallTime += length
            spans.add(length, until: end)
        } else if length >= Self.shortest {
            if hasClientData {
                pending = (pending.count + 1, pending.time + length)
                spans.addPending(length, until: end)
            } else {
                count(1, length)
                if !isReported {
                    spans.add(length, until: end)
                }
            }
        }
    }

    private mutating func count(_ count: Int, _ time: Double) {
        guard !isReported else { return }
        stalls += count
        stallTime += time
    }

    /// Applies the data that the player sends with a request.
    /// - Parameter tracked: the tracker's playhead, corrected by the data; nil if the tracker does not know the session.
    mutating func apply(_ data: CMCD, isPlaced: Bool = true, _ tracked: PlayheadReading? = nil, at now: Double) {
        advance(to: now)
        let wasStarved = data.wasStarved || data.state == .rebuffering
        if data.bufferLength != nil || wasStarved || data.isUrgent || data.state != nil {
            hasClientData = true
        }

        let wasRunning = reading.isRunning
        correct(data.correction(isPlaced: isPlaced), tracked)
        if data.bufferLength != nil {
            if playhead < front {
                isPaused = false
            }
            if wasRunning {
                least = min(least, front - playhead)
            }
        }

        confirm(wasStarved && (least < Self.tolerance || data.state == .rebuffering))
        least = .infinity
    }

    /// Applies a report. Counters that decrease are ignored.
    /// - Parameter isPlaced: true if the report's playhead has the same origin as ours. In a live stream, players begin
    ///   at zero.
    mutating func apply(_ report: PlayerReport, isPlaced: Bool, _ tracked: PlayheadReading? = nil, at now: Double) {
        advance(to: now)
        hasClientData = true
        isReported = true
        isReportedStalled = report.isStalled
        spans.discardPending()
        spans.addReported(max(0, report.stalls - stalls), report.stallTime.value - stallTime, until: now)
        stalls = max(stalls, report.stalls)
        stallTime = max(stallTime, report.stallTime.value)
        stalledSince = nil
        isPaused = false
        pending = (0, 0)
        isConfirmed = false
        correct(report.correction(isPlaced: isPlaced), tracked)
    }

    private mutating func correct(_ correction: PlayheadCorrection, _ tracked: PlayheadReading?) {
        let before = playhead
        if let tracked {
            reading = tracked
        } else {
            reading.apply(correction)
        }
        // The player sought within its buffer. Media that was skipped was not watched; that before the new position is
        // watched again, as after a seek that shows in requests.
        if playhead > before + Self.tolerance {
            furthest = max(furthest, playhead)
        }
        if playhead < before - Self.tolerance {
            furthest = playhead
        }
        move(to: playhead)
    }

    private mutating func confirm(_ wasStarved: Bool) {
        guard hasClientData, !isReported else { return }
        // An audio and a video request may both report the same stall.
        if wasStarved, time - starved > Self.shortest {
            starved = time
            count(max(1, pending.count), pending.time)
            isConfirmed = stalledSince != nil
            spans.confirm(at: time, isOpen: isConfirmed)
        }
        pending = (0, 0)
        spans.discardPending()
    }

    /// Ends the session. Unconfirmed stalls are counted.
    mutating func close() {
        if let stalledSince {
            end(stallOf: openLength, at: stalledSince + openLength)
        }
        count(pending.count, pending.time)
        if pending.count > 0 {
            spans.confirm(at: time, isOpen: false)
        }
        pending = (0, 0)
    }
}

extension CMCD {
    /// - Parameter isPlaced: true if the player counts media time from the same origin as the playlist.
    func correction(isPlaced: Bool) -> PlayheadCorrection {
        if let playhead, isPlaced, !isUrgent, !isHeld {
            return .report(position: playhead.value, rate: rate.value)
        }
        let playbackRate = isStill ? 0 : playbackRate
        return .client(buffer: bufferLength?.value, rate: playbackRate?.value, isUrgent: isUrgent || isHeld)
    }

    /// The playback rate, also where the state shows it.
    private var rate: Ratio {
        guard !isStill, !isHeld else { return 0 }
        return playbackRate ?? 1
    }

    private var isStill: Bool {
        switch state {
        case .paused, .ended, .failed, .quit: true
        case .starting, .playing, .seeking, .rebuffering, .waiting, .preloading, nil: false
        }
    }

    /// True if the player stands still until it has more media.
    private var isHeld: Bool {
        switch state {
        case .starting, .seeking, .rebuffering, .waiting, .preloading: true
        case .playing, .paused, .ended, .failed, .quit, nil: false
        }
    }

    /// The player's report, if the data has its position and its count of stalls.
    var report: PlayerReport? {
        guard let playhead, let stalls else { return nil }
        return PlayerReport(
            playhead: playhead, rate: rate, isStalled: state == .rebuffering, stalls: stalls, stallTime: stallTime ?? 0,
            framesDropped: framesDropped, startup: startup)
    }
}

extension PlayerReport {
    func correction(isPlaced: Bool) -> PlayheadCorrection {
        let position = isPlaced ? playhead : nil
        return .report(position: position?.value, rate: rate.value)
    }
}
