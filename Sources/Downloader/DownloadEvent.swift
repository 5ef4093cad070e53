import EventLoop

/// Something that happened to a download, for whoever watches.
public enum DownloadEvent: Sendable {
    /// It is new, or its `state`, `need` or `failure` is not what it was.
    case state
    /// More of it is there; at most four times a second for one download.
    case progress
    /// Everything that was wanted of one rendition is there: its id.
    case renditionComplete(String)
    /// It is forgotten: the asset was removed.
    case removed
}

/// Tells of progress: at once when nothing was told of late, and four times a second at most.
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

    /// There is progress.
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
