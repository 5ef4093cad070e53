import EventLoop
import Library
import Playlist

/// One rendition that is recorded: its reloads, and what its origin's trouble means.
@LoopActor final class RecordingTrack {
    /// How long an origin may be in trouble before the recording is ended.
    struct Patience: Sendable {
        /// While it says that there is no such playlist: 404 or 410 are how a server takes a presentation away (RFC
        /// 8216 §6.2.1), but an encoder that is started again gives them too, for as long as that takes.
        var gone = Duration.seconds(60)
        /// While it cannot be reached, answers with anything else, or shows nothing new: a router or a machine may be
        /// started again. A stream that is late by more than 1.5 target durations breaks RFC 8216 §6.2.2 as it is.
        var absent = Duration.seconds(600)
    }

    /// What is recorded.
    let rendition: Rendition
    /// Where it stands.
    let recording: Recording
    /// Its reloads.
    var task: Task<Void, Never>?
    /// What was seen, and is not asked for yet; oldest first.
    private var waiting: ArraySlice<Recording.Item> = []

    private let patience: Patience
    private let began = ContinuousClock.now
    private var lastSeen = Int.min
    private var goneSince: ContinuousClock.Instant?
    private var error: LibraryError?

    init(_ rendition: Rendition, _ recording: Recording, _ patience: Patience) {
        (self.rendition, self.recording, self.patience) = (rendition, recording, patience)
    }

    /// What RFC 8216 counts in: the target duration.
    var interval: Duration { .seconds(max(rendition.source?.playlist.targetDuration ?? 2, 1)) }

    // MARK: What is to be fetched

    /// Takes note of what was seen since.
    func look() {
        let new = recording.items.suffix { $0.number > lastSeen }
        waiting += new
        lastSeen = new.last?.number ?? lastSeen
    }

    /// When the next to be fetched begins, in seconds of the recording; nil where there is none.
    var nextTime: Double? { waiting.first?.time }

    /// The next to be fetched.
    func next() -> Recording.Item? { waiting.popFirst() }

    // MARK: The origin

    /// How long a piece of an item is asked for although it fails; nil for as long as the recording itself waits.
    ///
    /// The origin must have it for as long again as it is listed (RFC 8216 §6.2.2): one that is said not to be there is
    /// waited for as long as three target durations, which a player is behind the end.
    func limit(for item: Recording.Item, _ error: LibraryError) -> Duration? {
        let isListed = recording.isListed(item)
        if isListed, error.code == .originAbsent, !recording.hasEnded { return nil }
        let isSaidToBeMissing = error.code == .missing || error.originStatus == 410
        let isOutOfSight = !isListed && error.code != .originAbsent
        return isSaidToBeMissing || isOutOfSight ? interval * 3 : max(interval * 3, patience.gone)
    }

    /// Notes how a reload ended.
    func note(_ error: LibraryError?) {
        self.error = error
        let isGone = error.map { $0.code == .missing || [404, 410].contains($0.originStatus ?? 0) } ?? false
        goneSince = isGone ? goneSince ?? .now : nil
    }

    /// Why nothing more is to be expected, in words; nil as long as something is.
    var end: String? {
        if recording.hasEnded { return recording.items.isEmpty ? "the origin ended it" : nil }
        if let goneSince, .now - goneSince >= patience.gone {
            return "the origin has had no playlist any more for \(Self.words(patience.gone)): \(trouble)"
        }
        let limit = max(patience.absent, interval * 3)
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
    /// The elements at the end for which something holds.
    fileprivate func suffix(_ holds: (Element) -> Bool) -> ArraySlice {
        var start = endIndex
        while start > startIndex, holds(self[start - 1]) { start -= 1 }
        return self[start...]
    }
}
