/// Tracks the position in a live playlist: finds the new and the missed segments of each fetched text, and old texts.
///
/// Segments are identified by media sequence numbers. A name needs a continuous number, which never stands for two
/// segments: the origin's plus `shift`. `shift` is 0 until the origin restarts its numbers, as a restarted encoder does.
public struct LiveNumbering: Sendable {
    /// A new entry of a text.
    public enum Entry: Sendable {
        /// A segment with its continuous number. After a restart of the origin's numbers a discontinuity precedes it.
        case segment(Segment, number: Int, isRestart: Bool)
        /// Segments that left the window before it was fetched.
        case missed(Missed)
    }

    /// Segments that were in no fetched text.
    public struct Missed: Hashable, Sendable {
        /// Their continuous numbers.
        public let numbers: Range<Int>
        /// Duration of each segment: by the dates before and after, or else as the previous segment.
        public let duration: MediaDuration
        /// Number of discontinuities among the segments, by EXT-X-DISCONTINUITY-SEQUENCE.
        public let discontinuities: Int
    }

    private struct Known: Sendable {
        let playlist: MediaPlaylist
        let shift: Int
        var numbers: Range<Int> { playlist.numbers(shiftedBy: shift) }
    }

    /// The continuous number of the next segment.
    public private(set) var next = 0
    /// Difference between the continuous and the origin's numbers; negative if the origin's jumped ahead.
    public private(set) var shift = 0
    private var known: Known?
    /// The lowest of consecutive texts that end before the known one: old texts from a cache, or texts after a restart.
    private var older: MediaPlaylist?
    /// True if the segments are recorded: a restart that was none would store some of them twice.
    private let isRecorded: Bool
    /// Number of consecutive texts with other names for known segments. It stays at 2: such an origin gives each text other
    /// names, for example tokens, which do not identify segments.
    private var renamings = 0
    /// True if the latest text ends before the known one, and is no restart.
    public var isOlder: Bool { older != nil }
    /// Maximum number of consecutive missed segments. A larger gap means that the numbers jumped.
    static let maximumMissed = 10_000
    /// Creates the state before the first text.
    /// - Parameter isRecorded: true if only certain restarts count, because the segments are recorded.
    public init(isRecorded: Bool = false) { self.isRecorded = isRecorded }

    /// Creates the state at the end of a recording. `shift` is that of the recording's end.
    public init(behind recorded: MediaPlaylist, shift: Int) {
        isRecorded = true
        guard !recorded.segments.isEmpty else { return }
        self.shift = shift
        known = Known(playlist: recorded, shift: 0)
        next = recorded.numbers(shiftedBy: 0).upperBound
    }

    /// True if a text lists known segments unchanged, which means that the numbers have not restarted.
    public func continues(in window: MediaPlaylist) -> Bool {
        guard let known, step(to: window, from: known) != .restarted else { return false }
        return known.numbers.overlaps(window.numbers(shiftedBy: shift))
    }

    /// Processes a text and returns its new entries, for a recording only; none for a delta update or an old text from a cache.
    /// - Parameter isElsewhere: true if it has another URL than the known one, and so perhaps other file names.
    public mutating func accept(_ window: MediaPlaylist, isElsewhere: Bool = false) -> [Entry] {
        guard !window.isDeltaUpdate, !window.segments.isEmpty else { return [] }
        guard let known else { return begin(window) }

        let hasOtherNames = !isRecorded && !isElsewhere && hasOtherNames(window, from: known)
        if renamings < 2 {
            renamings = hasOtherNames ? renamings + 1 : 0
        }

        let step: Step
        if hasOtherNames, renamings < 2 {
            step = .restarted
        } else {
            step = self.step(to: window, from: known)
        }

        switch step {
        case .continued: return follow(window, from: known)
        case .older:
            if older == nil || growth(of: window) < 0 {
                older = window
            }
            return []
        case .restarted: return restart(window)
        }
    }

    private enum Step { case continued, older, restarted }

    private func step(to window: MediaPlaylist, from known: Known) -> Step {
        let numbers = window.numbers(shiftedBy: shift)
        let old = known.numbers
        let common = numbers.clamped(to: old)

        if !common.isEmpty {
            let new = common.lowerBound - numbers.lowerBound
            let former = common.lowerBound - old.lowerBound
            guard window.isAlike(known.playlist, count: common.count, at: new, former) else { return .restarted }
            guard numbers.upperBound < old.upperBound else { return .continued }
            if isRecorded || window.lastDate != nil && known.playlist.lastDate != nil {
                return .older
            }
            // A cache that lags may return a text that has grown, but hardly the next one, too.
            let hasOtherFiles = window.hasOtherFiles(than: known.playlist, count: common.count, at: new, former)
            let leastGrowth = hasOtherFiles ? 1 : 2
            guard growth(of: window) >= leastGrowth else { return .older }
            return .restarted
        }

        if numbers.lowerBound >= old.upperBound {
            guard canBeMissed(until: window, from: known) else { return .restarted }
            return .continued
        }

        if let date = window.lastDate, let last = known.playlist.lastDate {
            guard date.milliseconds > last.milliseconds else { return .older }
            return .restarted
        }

        // Without dates, only its growth distinguishes a new stream from an old text.
        guard growth(of: window) > 0 else { return .older }
        return .restarted
    }

    /// True if the text has other files than the known one for segments of the same numbers, and none of them is dated. A
    /// text that ends earlier may come from a cache, see `step`.
    private func hasOtherNames(_ window: MediaPlaylist, from known: Known) -> Bool {
        let numbers = window.numbers(shiftedBy: shift)
        let old = known.numbers
        let common = numbers.clamped(to: old)
        guard !common.isEmpty, numbers.upperBound >= old.upperBound,
            window.lastDate == nil || known.playlist.lastDate == nil
        else { return false }
        return window.hasOtherFiles(
            than: known.playlist, count: common.count, at: common.lowerBound - numbers.lowerBound,
            common.lowerBound - old.lowerBound)
    }

    /// Number of segments by which the older texts have grown.
    private func growth(of window: MediaPlaylist) -> Int {
        guard let older else { return 0 }
        return window.numbers(shiftedBy: 0).upperBound - older.numbers(shiftedBy: 0).upperBound
    }

    /// Processes a text that replaces the known one in any case, since that is out of date: all its segments had time to
    /// leave the window. If the numbers have stayed behind, they have restarted in the meantime.
    public mutating func replace(with window: MediaPlaylist, isElsewhere: Bool = false) {
        guard !window.isDeltaUpdate, !window.segments.isEmpty, let known else { return }
        let numbers = window.numbers(shiftedBy: shift)
        let old = known.numbers
        let hasStayed =
            (old.lowerBound..<old.lowerBound + (old.count + 1) / 2).contains(numbers.lowerBound)
            && numbers.count <= old.count && (window.lastDate == nil || known.playlist.lastDate == nil)
        if !hasStayed {
            _ = accept(window, isElsewhere: isElsewhere)
        }
        if hasStayed || isOlder {
            _ = restart(window)
        }
    }

    /// True if the segments in between can have been missed; otherwise the numbers jumped.
    private func canBeMissed(until window: MediaPlaylist, from known: Known) -> Bool {
        let count = window.numbers(shiftedBy: shift).lowerBound - known.numbers.upperBound
        guard count > 0 else { return true }
        guard count <= Self.maximumMissed else { return false }
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
        guard numbers.lowerBound > next else { return entries(of: window, from: next) }
        let missed = Missed(
            numbers: next..<numbers.lowerBound, duration: missedDuration(until: window, from: known),
            discontinuities: missedDiscontinuities(until: window, from: known))
        return [.missed(missed)] + entries(of: window, from: numbers.lowerBound)
    }

    private mutating func entries(of window: MediaPlaylist, from number: Int, isRestart: Bool = false) -> [Entry] {
        let numbers = window.numbers(shiftedBy: shift)
        known = Known(playlist: window, shift: shift)
        older = nil
        defer { next = max(next, numbers.upperBound) }
        guard isRecorded else { return [] }
        return (max(number, numbers.lowerBound)..<max(number, numbers.upperBound)).map { number in
            Entry.segment(
                window.segments[number - numbers.lowerBound], number: number,
                isRestart: isRestart && number == numbers.lowerBound)
        }
    }

    private func missedDuration(until window: MediaPlaylist, from known: Known) -> MediaDuration {
        let usual = usualDuration(known, window)
        // If a clock was set in between, the dates are unusable.
        guard let dated = datedDuration(until: window, from: known), dated < usual * 4 else {
            return MediaDuration(seconds: usual)
        }
        return MediaDuration(seconds: dated)
    }

    private func usualDuration(_ known: Known, _ window: MediaPlaylist) -> Double {
        guard let last = known.playlist.segments.last else { return Double(window.targetDuration ?? 2) }
        return last.duration.seconds
    }

    /// Returns the mean duration of the missed segments, by the dates before and after.
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
    /// Media sequence numbers of the listed segments, plus `shift`.
    fileprivate func numbers(shiftedBy shift: Int) -> Range<Int> {
        let first = Int(storage.header.firstSequenceNumber + shift)
        return first..<first + segments.count
    }

    fileprivate var lastDate: DateTime? { segments.last.flatMap { date(at: $0.index) } }

    fileprivate var endDate: DateTime? {
        guard let last = segments.last else { return nil }
        return date(at: last.index)?.adding(seconds: last.duration.seconds)
    }

    /// Returns the start of a segment, by the nearest date before it, or else the first date after it.
    private func date(at index: Int) -> DateTime? {
        guard firstDatedSegment != nil else { return nil }
        var seconds = 0.0
        for segment in segments[...index].reversed() {
            if segment.index < index {
                seconds += segment.duration.seconds
            }
            if let date = segment.date {
                return date.adding(seconds: seconds)
            }
        }
        seconds = 0
        for segment in segments[index...] {
            if let date = segment.date {
                return date.adding(seconds: -seconds)
            }
            seconds += segment.duration.seconds
        }
        return nil
    }

    /// True if none of `count` segments is in a file of the same name as another text's.
    fileprivate func hasOtherFiles(than other: MediaPlaylist, count: Int, at index: Int, _ otherIndex: Int) -> Bool {
        lastOffsets(of: count).allSatisfy {
            segments[index + $0].fileName != other.segments[otherIndex + $0].fileName
        }
    }

    /// The offsets that are compared: not all, since a playlist may have a million segments.
    private func lastOffsets(of count: Int) -> Range<Int> { max(0, count - 1_000)..<count }

    /// True if `count` segments match another text's: by date, else by duration, of which some may have been corrected.
    fileprivate func isAlike(_ other: MediaPlaylist, count: Int, at index: Int, _ otherIndex: Int) -> Bool {
        if let date = date(at: index), let otherDate = other.date(at: otherIndex) {
            let tolerance = max(500, segments[index].duration.milliseconds / 2)
            return abs(date.milliseconds - otherDate.milliseconds) < tolerance
        }
        let offsets = lastOffsets(of: count)
        let alike = offsets.count { segments[index + $0].agrees(with: other.segments[otherIndex + $0]) }
        return alike * 2 >= offsets.count
    }
}

extension Segment {
    /// The last component of the URI's path.
    fileprivate var fileName: Substring {
        let path = uri.prefix { $0 != "?" && $0 != "#" }
        guard let slash = path.lastIndex(of: "/") else { return path }
        return path[path.index(after: slash)...]
    }

    fileprivate var date: DateTime? { programDateTime.flatMap { DateTime($0) } }

    /// True if two segments with the same number may be the same. A missed segment matches any.
    fileprivate func agrees(with known: Segment) -> Bool {
        isGap || known.isGap || duration.distance(from: known.duration) < 0.01
    }
}
