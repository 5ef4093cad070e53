import EventLoop

/// A change of a download.
package enum DownloadEvent: Sendable {
    /// The download is new, or its `state`, `need` or `failure` changed.
    case state
    /// More bytes are stored. Sent at most four times a second per download.
    case progress
    /// Everything requested of one rendition is stored; the value is its id.
    case renditionComplete(String)
    /// The content of a new selection is known.
    case selectionResolved(Download.Selected)
    /// The asset has renditions that the download has not selected.
    case selectionsFurther
    /// Everything requested of one selection is stored.
    case selectionComplete(Download.Selected)
    /// The download is gone because its asset was removed.
    case removed
}

extension Download {
    /// A selection of a download, by its content.
    package struct Selected: Equatable, Sendable {
        /// Ids of its renditions, the variant's own first.
        package let renditions: [String]
        /// The requested media time, in seconds; nil for all of it.
        package let range: Range<Double>?

        init(_ item: DownloadTask.Item) { (renditions, range) = (item.renditions, item.range) }
    }
}

/// Limits progress events: sends the first one at once, and at most four per second.
@LoopActor final class ProgressTicker {
    private let notify: () -> Void
    private var last: ContinuousClock.Instant?
    private var isDue = false
    private var timer: LoopTimer?

    private static let interval = Duration.milliseconds(250)

    init(_ notify: @escaping () -> Void) {
        self.notify = notify
        timer = LoopTimer { [weak self] in self?.fire() }
    }

    func recordProgress() {
        guard !isDue else { return }
        let now = ContinuousClock.now
        guard let last, now - last < Self.interval else { return fire() }
        isDue = true
        timer?.schedule(after: Self.interval - (now - last))
    }

    private func fire() {
        (last, isDue) = (.now, false)
        notify()
    }
}

/// Measures bytes per second over the last few seconds.
struct TransferRate: Sendable {
    private var samples: [(at: ContinuousClock.Instant, bytes: Int64)] = []
    private static let span = Duration.seconds(5)

    mutating func add(_ bytes: Int64, at now: ContinuousClock.Instant) {
        // Small pieces in quick succession form one sample.
        if let last = samples.last, now - last.at < .milliseconds(20) {
            samples[samples.count - 1].bytes += bytes
            return
        }
        samples.append((now, bytes))
        if let first = samples.first, now - first.at > Self.span * 2 { samples.removeAll { now - $0.at > Self.span } }
    }

    func bytesPerSecond(at now: ContinuousClock.Instant) -> Double? {
        let recent = samples.filter { now - $0.at <= Self.span }
        guard let first = recent.first else { return nil }
        let elapsed = max((now - first.at) / .seconds(1), 0.25)
        return Double(recent.reduce(0) { $0 + $1.bytes }) / elapsed
    }
}
