import EventLoop
import Library
import Playlist

/// One rendition of a recording: its reloads, and the handling of origin errors.
@LoopActor final class RecordingTrack {
    /// Time for which an origin may fail before the recording ends.
    struct Timeouts: Sendable {
        /// For 404 and 410, which may be a removal (RFC 8216 §6.2.1) or an encoder that restarts.
        var gone = Duration.seconds(60)
        /// For an absent origin, any other answer, or no new segments: a router or a machine may be restarting.
        var absent = Duration.seconds(600)
    }

    let rendition: Rendition
    let recording: Recording
    var task: Task<Void, Never>?
    /// Listed segments that are not fetched yet, oldest first.
    private var waiting: ArraySlice<Recording.Item> = []

    private let timeouts: Timeouts
    private let began = ContinuousClock.now
    private var lastSeen = Int.min
    private var goneSince: ContinuousClock.Instant?
    private var error: LibraryError?

    init(_ rendition: Rendition, _ recording: Recording, _ timeouts: Timeouts) {
        (self.rendition, self.recording, self.timeouts) = (rendition, recording, timeouts)
    }

    var interval: Duration { .seconds(max(rendition.source?.playlist.targetDuration ?? 2, 1)) }

    // MARK: Pending items

    func collectNewItems() {
        let new = recording.items.suffix { $0.number > lastSeen }
        waiting += new
        lastSeen = new.last?.number ?? lastSeen
    }

    /// Start of the next item, in seconds of the recording; nil if there is none.
    var nextTime: Double? { waiting.first?.time }

    func next() -> Recording.Item? { waiting.popFirst() }

    // MARK: The origin

    /// Returns for how long a failing piece is retried; nil for as long as the recording itself waits.
    ///
    /// The origin must keep a segment for as long after its removal as it was listed (RFC 8216 §6.2.2). A missing one
    /// is retried for three target durations, the distance of a player from the live edge.
    func limit(for item: Recording.Item, _ error: LibraryError) -> Duration? {
        let isListed = recording.isListed(item)
        if isListed, error.code == .originAbsent, !recording.hasEnded { return nil }
        let isSaidToBeMissing = error.code == .missing || error.originStatus == 410
        let isOutOfSight = !isListed && error.code != .originAbsent
        return isSaidToBeMissing || isOutOfSight ? interval * 3 : max(interval * 3, timeouts.gone)
    }

    func record(_ error: LibraryError?) {
        self.error = error
        let isGone = error.map { $0.code == .missing || [404, 410].contains($0.originStatus ?? 0) } ?? false
        goneSince = isGone ? goneSince ?? .now : nil
    }

    /// The reason why nothing more is expected, as text; nil while more is expected.
    var end: String? {
        if recording.hasEnded { return recording.items.isEmpty ? "the origin ended it" : nil }
        if let goneSince, .now - goneSince >= timeouts.gone {
            return "the origin has had no playlist any more for \(Self.words(timeouts.gone)): \(trouble)"
        }
        let limit = max(timeouts.absent, interval * 3)
        guard .now - max(began, recording.grew) >= limit else { return nil }
        return error == nil
            ? "the origin has shown nothing new for \(Self.words(limit))"
            : "nothing was to be had of the origin for \(Self.words(limit)): \(trouble)"
    }

    private var trouble: String { error.map { "\($0)" } ?? "" }

    private static func words(_ duration: Duration) -> String {
        let seconds = duration.components.seconds
        return seconds >= 120 ? "\(seconds / 60) minutes" : "\(seconds) seconds"
    }
}

extension ArraySlice {
    fileprivate func suffix(_ holds: (Element) -> Bool) -> ArraySlice {
        var start = endIndex
        while start > startIndex, holds(self[start - 1]) { start -= 1 }
        return self[start...]
    }
}
