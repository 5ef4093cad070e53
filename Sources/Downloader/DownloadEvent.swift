import EventLoop

/// A change of a download.
public enum DownloadEvent: Sendable {
    /// The download is new, or its `state`, `need` or `failure` changed.
    case state
    /// More bytes are stored. Sent at most four times a second per download.
    case progress
    /// Everything requested of one rendition is stored; the value is its id.
    case renditionComplete(String)
    /// The download is gone because its asset was removed.
    case removed
}

/// Limits progress events: sends the first one at once, and at most four per second.
@LoopActor final class ProgressTicker {
    private let tell: () -> Void
    private var last: ContinuousClock.Instant?
    private var isDue = false
    private var timer: LoopTimer?

    private static let interval = Duration.milliseconds(250)

    init(_ tell: @escaping () -> Void) {
        self.tell = tell
        timer = LoopTimer { [weak self] in self?.fire() }
    }

    /// Records progress.
    func note() {
        guard !isDue else { return }
        let now = ContinuousClock.now
        guard let last, now - last < Self.interval else { return fire() }
        isDue = true
        timer?.schedule(after: Self.interval - (now - last))
    }

    private func fire() {
        (last, isDue) = (.now, false)
        tell()
    }
}
