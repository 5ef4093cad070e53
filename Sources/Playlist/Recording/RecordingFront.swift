/// Where a recording stands in a live playlist: what is new in each text that is fetched, and what was missed.
///
/// Segments are known by media sequence numbers. A recording has its own, which go on whatever happens: they are the
/// origin's plus `shift`, which is 0 until the origin begins its numbers anew, as an encoder does that was started
/// again.
public struct RecordingFront: Sendable {
    /// What comes next in the recording.
    public enum Entry: Sendable {
        /// A segment, under the recording's number for it. After a restart of the origin's numbers a discontinuity
        /// stands before it.
        case segment(Segment, number: Int, isRestart: Bool)
        /// Segments that had left the window before it was seen.
        case missed(Missed)
    }

    /// Segments that were never seen.
    public struct Missed: Hashable, Sendable {
        /// The recording's numbers of them.
        public let numbers: Range<Int>
        /// How long each of them was in seconds: by the dates around them, else as the segment before them.
        public let duration: Double
        /// How many discontinuities were among them, by EXT-X-DISCONTINUITY-SEQUENCE.
        public let discontinuities: Int
    }

    /// The text that was last taken, or what is recorded.
    private struct Known: Sendable {
        let playlist: MediaPlaylist
        let shift: Int

        var numbers: Range<Int> { playlist.numbers(shiftedBy: shift) }
    }

    /// The recording's number of the first segment that is still to come.
    public private(set) var next = 0
    /// What the recording's numbers are above the origin's; negative where the origin's jumped ahead.
    public private(set) var shift = 0
    private var known: Known?
    /// A text from behind all that is known: an old one of a cache, or the first after a restart.
    private var behind: MediaPlaylist?

    /// More than these in one stretch are no segments that were missed, but numbers that jumped.
    static let longestMiss = 10_000

    /// Before the first text.
    public init() {}

    /// Behind what is recorded.
    ///
    /// - Parameter shift: as it was at the recording's end.
    public init(behind recorded: MediaPlaylist, shift: Int) {
        guard !recorded.segments.isEmpty else { return }
        self.shift = shift
        known = Known(playlist: recorded, shift: 0)
        next = recorded.numbers(shiftedBy: 0).upperBound
    }

    /// Whether a text lists segments that were known before, and they are the same: nothing has begun anew since.
    public func goesOn(in window: MediaPlaylist) -> Bool {
        guard let known, case .on = step(to: window, from: known) else { return false }
        return known.numbers.overlaps(window.numbers(shiftedBy: shift))
    }

    /// Takes a text and says what is new in it. A delta update, and an older text of a cache, bring nothing.
    public mutating func take(_ window: MediaPlaylist) -> [Entry] {
        guard !window.isDeltaUpdate, !window.segments.isEmpty else { return [] }
        guard let known else { return begin(window) }
        switch step(to: window, from: known) {
        case .on: return follow(window, from: known)
        case .back:
            behind = window
            return []
        case .anew: return restart(window)
        }
    }

    private enum Step { case on, back, anew }

    private func step(to window: MediaPlaylist, from known: Known) -> Step {
        let (numbers, old) = (window.numbers(shiftedBy: shift), known.numbers)
        let common = numbers.clamped(to: old)
        if !common.isEmpty {
            let (new, former) = (common.lowerBound - numbers.lowerBound, common.lowerBound - old.lowerBound)
            return window.isAlike(known.playlist, count: common.count, at: new, former) ? .on : .anew
        }
        if numbers.lowerBound >= old.upperBound { return isMiss(until: window, from: known) ? .on : .anew }
        if let date = window.lastDate, let last = known.playlist.lastDate {
            return date.milliseconds > last.milliseconds ? .anew : .back
        }
        // Without dates only its going on tells a new stream from an old text.
        let hasGrown = behind.map { window.numbers(shiftedBy: 0).upperBound > $0.numbers(shiftedBy: 0).upperBound }
        return hasGrown ?? false ? .anew : .back
    }

    /// Whether so many segments may have passed: else the numbers jumped.
    private func isMiss(until window: MediaPlaylist, from known: Known) -> Bool {
        let count = window.numbers(shiftedBy: shift).lowerBound - known.numbers.upperBound
        guard count > 0 else { return true }
        guard count <= Self.longestMiss else { return false }
        return (datedDuration(until: window, from: known) ?? .infinity) > usualDuration(known, window) / 4
    }

    private mutating func begin(_ window: MediaPlaylist) -> [Entry] {
        next = window.numbers(shiftedBy: 0).lowerBound
        return entries(of: window, from: next)
    }

    private mutating func restart(_ window: MediaPlaylist) -> [Entry] {
        shift = next - window.numbers(shiftedBy: 0).lowerBound
        return entries(of: window, from: next, isRestart: true)
    }

    private mutating func follow(_ window: MediaPlaylist, from known: Known) -> [Entry] {
        let numbers = window.numbers(shiftedBy: shift)
        // An older text, which agrees with what is known, does not become the known one.
        guard numbers.upperBound >= known.numbers.upperBound else { return [] }
        guard numbers.lowerBound > next else { return entries(of: window, from: next) }
        let missed = Missed(
            numbers: next..<numbers.lowerBound, duration: missedDuration(until: window, from: known),
            discontinuities: missedDiscontinuities(until: window, from: known))
        return [.missed(missed)] + entries(of: window, from: numbers.lowerBound)
    }

    private mutating func entries(of window: MediaPlaylist, from number: Int, isRestart: Bool = false) -> [Entry] {
        let numbers = window.numbers(shiftedBy: shift)
        (known, behind) = (Known(playlist: window, shift: shift), nil)
        let entries = (max(number, numbers.lowerBound)..<max(number, numbers.upperBound)).map { place in
            Entry.segment(
                window.segments[place - numbers.lowerBound], number: place,
                isRestart: isRestart && place == numbers.lowerBound)
        }
        next = max(next, numbers.upperBound)
        return entries
    }

    // MARK: What was missed

    private func missedDuration(until window: MediaPlaylist, from known: Known) -> Double {
        let usual = usualDuration(known, window)
        // A clock that was set meanwhile says nothing.
        return datedDuration(until: window, from: known).flatMap { $0 < usual * 4 ? $0 : nil } ?? usual
    }

    private func usualDuration(_ known: Known, _ window: MediaPlaylist) -> Double {
        known.playlist.segments.last?.duration ?? Double(window.targetDuration ?? 2)
    }

    /// How long each of the segments between was, by the dates around them.
    private func datedDuration(until window: MediaPlaylist, from known: Known) -> Double? {
        guard let start = window.segments.first?.date, let end = known.playlist.endDate else { return nil }
        let count = window.numbers(shiftedBy: shift).lowerBound - known.numbers.upperBound
        return Double(start.milliseconds - end.milliseconds) / 1000 / Double(count)
    }

    private func missedDiscontinuities(until window: MediaPlaylist, from known: Known) -> Int {
        let seen = known.playlist.discontinuitySequence + known.playlist.segments.count { $0.isDiscontinuity }
        let count = window.numbers(shiftedBy: shift).lowerBound - next
        return min(max(0, window.discontinuitySequence - seen), count)
    }
}

extension MediaPlaylist {
    /// The media sequence numbers of the segments that are listed, and so many more.
    fileprivate func numbers(shiftedBy shift: Int) -> Range<Int> {
        let first = storage.header.firstSequenceNumber + shift
        return first..<first + segments.count
    }

    /// When the last segment begins.
    fileprivate var lastDate: DateTime? { segments.last.flatMap { date(at: $0.index) } }

    /// When the last segment ends.
    fileprivate var endDate: DateTime? {
        guard let last = segments.last else { return nil }
        return date(at: last.index)?.adding(seconds: last.duration)
    }

    /// When a segment begins, by the nearest date before it, else by the first behind it.
    private func date(at index: Int) -> DateTime? {
        var seconds = 0.0
        for segment in segments[...index].reversed() {
            if segment.index < index { seconds += segment.duration }
            if let date = segment.date { return date.adding(seconds: seconds) }
        }
        seconds = 0
        for segment in segments[index...] {
            if let date = segment.date { return date.adding(seconds: -seconds) }
            seconds += segment.duration
        }
        return nil
    }

    /// Whether so many segments from a place on are those of another text from another place on: by their dates;
    /// without these by their durations, of which some may have been corrected.
    fileprivate func isAlike(_ other: MediaPlaylist, count: Int, at place: Int, _ otherPlace: Int) -> Bool {
        if let date = date(at: place), let otherDate = other.date(at: otherPlace) {
            let tolerance = max(500, Int(segments[place].duration * 500))
            return abs(date.milliseconds - otherDate.milliseconds) < tolerance
        }
        let alike = (0..<count).count { segments[place + $0].agrees(with: other.segments[otherPlace + $0]) }
        return alike * 2 >= count
    }
}

extension Segment {
    /// EXT-X-PROGRAM-DATE-TIME before it.
    fileprivate var date: DateTime? { programDateTime.flatMap { DateTime($0) } }

    /// Whether two segments of one number may be the same; of one that was missed nothing is known.
    fileprivate func agrees(with known: Segment) -> Bool {
        isGap || known.isGap || abs(duration - known.duration) < 0.01
    }
}
