internal import Assets
internal import Downloads
internal import EventLoop
internal import Glibc
internal import Orders
internal import Store

/// Keeps the downloader informed of the machine's state, as long as rules of downloads depend on it. Without such rules, or
/// without such downloads, it does nothing.
@LoopActor final class ConditionMonitor {
    private let downloader: Downloader
    private let sensors: MachineSensors
    private var subscription: Subscription?
    private var timer: LoopTimer?
    private var isReading = false
    /// True if downloads have changed during the reading.
    private var isDue = false

    /// Facts other than the time are read again after this.
    private static let interval = Duration.seconds(5)
    /// The longest time without a look at the clock, which somebody may set, or which goes on while the machine sleeps.
    private static let longest = Duration.seconds(60)

    init(_ downloader: Downloader, _ sensors: MachineSensors) {
        self.downloader = downloader
        self.sensors = sensors
        timer = LoopTimer { [weak self] in self?.read() }
        subscription = downloader.changes.subscribe { [weak self] change in
            // Only active downloads depend on facts. Adopting a large store reports thousands of complete ones.
            if case .state = change.event, change.download.state.isActive {
                self?.timer?.fireSoon()
            }
        }
    }

    func stop() {
        subscription = nil
        timer?.cancel()
    }

    /// Reads the facts now, because somebody else than a download needs them.
    func look() {
        guard !isReading, !downloader.neededFacts.isEmpty else { return }
        timer?.fireSoon()
    }

    private func read() {
        guard !isReading else { return isDue = true }
        let facts = downloader.neededFacts
        guard !facts.isEmpty else { return }
        isReading = true
        isDue = false
        Task { @LoopActor [weak self, sensors] in
            // A bus that does not answer takes seconds.
            let conditions = try? await DiskWork.run { () throws(StoreError) in sensors.read(facts) }
            self?.adopt(conditions)
        }
    }

    private func adopt(_ conditions: Conditions?) {
        isReading = false
        guard subscription != nil else { return }
        if let conditions {
            downloader.apply(conditions)
        }
        if isDue {
            timer?.schedule(after: .zero)
        } else {
            timer?.schedule(after: pause)
        }
    }

    /// The time until the next reading.
    private var pause: Duration {
        let facts = downloader.neededFacts
        guard facts == [.time] else { return Self.interval }
        let second = LocalTime.second(at: Int64(time(nil)))
        let changes = downloader.neededHours.map { $0.minutesToChange(from: second / 60) }
        let minutes = changes.min() ?? 1440
        return min(Self.longest, .seconds(minutes * 60 - second % 60))
    }
}
