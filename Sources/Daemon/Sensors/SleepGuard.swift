internal import Downloads
internal import EventLoop
internal import Orders
internal import Store

/// Keeps the machine awake while something records or downloads.
@LoopActor final class SleepGuard {
    private let downloader: Downloader
    private let bus: SystemBus
    private let report: @Sendable (String) -> Void
    private var subscription: Subscription?
    private var timer: LoopTimer?
    private var lock: SleepLock?
    private var isAsking = false
    /// True between two attempts that fail.
    private var isResting = false
    /// True once a refusal was reported: it is repeated each time.
    private var isReported = false

    /// Another download may begin just after one has ended.
    private static let pause = Duration.seconds(5)
    /// After an attempt that failed, while something still runs.
    private static let retryPause = Duration.seconds(60)

    /// - Parameter report: receives a sentence for the log.
    init(_ downloader: Downloader, _ bus: SystemBus, report: @escaping @Sendable (String) -> Void) {
        self.downloader = downloader
        self.bus = bus
        self.report = report
        timer = LoopTimer { [weak self] in
            self?.isResting = false
            self?.look()
        }
        subscription = downloader.changes.subscribe { [weak self] change in
            guard let self, case .state = change.event else { return }
            if change.download.needsMachine {
                acquire()
            } else if lock != nil {
                timer?.schedule(after: Self.pause)
            }
        }
    }

    func stop() {
        subscription = nil
        timer?.cancel()
        lock = nil
    }

    private func look() {
        if downloader.downloads.contains(where: \.needsMachine) {
            acquire()
        } else {
            lock = nil
        }
    }

    private func acquire() {
        guard subscription != nil, lock == nil, !isAsking, !isResting else { return }
        isAsking = true
        Task { @LoopActor [weak self, bus] in
            // A bus that does not answer takes seconds.
            let answer = try? await DiskWork.run { () throws(StoreError) in
                bus.keepAwake("Recordings and downloads are in progress")
            }
            self?.adopt(answer)
        }
    }

    private func adopt(_ answer: Result<SleepLock, BusFailure>?) {
        isAsking = false
        guard subscription != nil else { return }
        if case .success(let lock)? = answer {
            self.lock = lock
            // All may have ended meanwhile.
            timer?.schedule(after: Self.pause)
            return
        }
        if case .failure(let failure)? = answer, failure != .noBus, !isReported {
            isReported = true
            report("the machine may sleep while something records or downloads: systemd-logind: \(failure)")
        }
        isResting = true
        timer?.schedule(after: Self.retryPause)
    }
}

extension Download {
    /// True if it would lose time, or a part of a broadcast, while the machine sleeps.
    fileprivate var needsMachine: Bool {
        if state == .running {
            return true
        }
        // A recording that waits for its origin, and not for a rule of the user.
        return task.recordsLive && state.isActive && !(need?.isRule ?? false)
    }
}
