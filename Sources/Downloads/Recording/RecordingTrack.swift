import Assets
import EventLoop
import HLS
import Origin

/// One rendition of a recording: its reloads, and the handling of origin errors.
@LoopActor final class RecordingTrack {
    let rendition: Rendition
    let recording: Recording
    var task: Task<Void, Never>?
    /// Listed segments that are not fetched yet, oldest first.
    private var waiting: ArraySlice<Recording.Item> = []

    private let limits: GiveUpRule.RecordingLimits
    private let began = ContinuousClock.now
    private var lastSeen = Int.min
    /// The number of the latest segment that was looked at for a sample of its key.
    private var lastSampled = Int.min
    private var goneSince: ContinuousClock.Instant?
    private var error: LibraryError?

    init(_ rendition: Rendition, _ recording: Recording, limits: GiveUpRule.RecordingLimits) {
        self.rendition = rendition
        self.recording = recording
        self.limits = limits
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

    /// Samples of the keys of segments that have come since the last call.
    func newSamples(for trial: KeyTrial) -> [KeyTrial.Sample] {
        var samples: [KeyTrial.Sample] = []
        // Those that have come are listed in a moment, up to the first that has not.
        for item in recording.items {
            guard item.isComplete else { break }
            guard item.number > lastSampled else { continue }
            lastSampled = item.number
            if let sample = trial.sample(of: item, in: rendition) {
                samples.append(sample)
            }
        }
        return samples
    }

    // MARK: The origin

    /// Returns for how long a failing piece is retried; nil for as long as the recording itself waits.
    func limit(for item: Recording.Item, _ error: LibraryError) -> Duration? {
        let isMissing = [.missing, .hostDead].contains(error.code) || error.originStatus == 410
        // The other requests are for pictures and sound: cues are worth one.
        if isMissing, case .segment(let segment, _, _) = item.entry, rendition.isCueFile(segment) {
            return .zero
        }
        return limits.segmentLimit(
            isListed: recording.isListed(item), isMissing: isMissing,
            isAbsent: error.code == .originAbsent, isOver: recording.hasEnded, targetDuration: interval)
    }

    func record(_ error: LibraryError?) {
        self.error = error
        guard let error, error.code == .missing || [404, 410].contains(error.originStatus) else {
            goneSince = nil
            return
        }
        goneSince = goneSince ?? .now
    }

    /// The reason why nothing more is expected, as text; nil while more is expected.
    var end: String? {
        if recording.hasEnded {
            return recording.items.isEmpty ? "the origin ended it" : nil
        }
        if let goneSince, .now - goneSince >= limits.gone {
            return "the origin has had no playlist any more for \(Self.words(limits.gone)): \(trouble)"
        }
        let limit = limits.absence(targetDuration: interval)
        guard .now - max(began, recording.grew) >= limit else { return nil }
        return error == nil
            ? "the origin has shown nothing new for \(Self.words(limit))"
            : "nothing was to be had of the origin for \(Self.words(limit)): \(trouble)"
    }

    private var trouble: String {
        guard let error else { return "" }
        return "\(error)"
    }

    private static func words(_ duration: Duration) -> String {
        let seconds = duration.components.seconds
        return seconds >= 120 ? "\(seconds / 60) minutes" : "\(seconds) seconds"
    }
}

extension ArraySlice {
    fileprivate func suffix(_ holds: (Element) -> Bool) -> ArraySlice {
        var start = endIndex
        while start > startIndex, holds(self[start - 1]) {
            start -= 1
        }
        return self[start...]
    }
}
