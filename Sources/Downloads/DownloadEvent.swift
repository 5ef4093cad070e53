import EventLoop
package import Orders

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
        /// The requested media time; nil for all of it.
        package let range: MediaRange?

        init(_ item: DownloadTask.Item) {
            renditions = item.renditions
            range = item.range
        }
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

    /// As `recordProgress`, unless one was sent within `interval`.
    func recordProgress(atMostEvery interval: Duration) {
        // Ticks come a little early or late.
        if last.map({ ContinuousClock.now - $0 >= interval - Self.interval }) ?? true {
            recordProgress()
        }
    }

    private func fire() {
        last = .now
        isDue = false
        notify()
    }
}

/// Calls back twice a second until it is dropped. Exists only while a download runs.
@LoopActor final class Pulse {
    private let beat: () -> Void
    private var timer: LoopTimer?
    private static let interval = Duration.milliseconds(500)

    init(_ beat: @escaping () -> Void) {
        self.beat = beat
        timer = LoopTimer { [weak self] in self?.fire() }
        timer?.schedule(after: Self.interval)
    }

    private func fire() {
        timer?.schedule(after: Self.interval)
        beat()
    }
}
