internal import EventLoop
internal import Recordings
internal import Store

/// Wakes a machine that sleeps before the next planned recording, by a timer of the user's service manager.
@LoopActor final class WakeTimer {
    private let manager: UserManager
    private let report: @Sendable (String) -> Void
    private var subscription: Subscription?
    /// The time for which a timer is set, or is to be set, in seconds since 1970; nil for none.
    private var wanted: Int64?
    /// The latest change of the timer, in progress or done.
    private var change: Task<Void, Never>?
    /// True once a refusal was reported: it is repeated each time.
    private var isReported = false

    /// Seconds from the wake-up to the recording: the network has to come back.
    private nonisolated static let lead: Int64 = 60

    /// - Parameters:
    ///   - date: the clock of the schedules, in seconds since 1970.
    ///   - report: receives a sentence for the log.
    init(
        _ schedules: RecordingSchedules, _ manager: UserManager, date: @escaping () -> Int64,
        report: @escaping @Sendable (String) -> Void
    ) {
        self.manager = manager
        self.report = report
        subscription = schedules.next.subscribe { [weak self] next in
            self?.set(Self.time(before: next.begin, at: date()))
        }
    }

    /// The time to wake for a recording; nil for none, and once that time has come: the machine is awake.
    nonisolated static func time(before begin: Int64?, at now: Int64) -> Int64? {
        guard let begin, begin - lead > now else { return nil }
        return begin - lead
    }

    /// Removes the timer: a machine without Weir need not wake.
    func stop() async {
        subscription = nil
        replace(by: nil)
        await change?.value
    }

    private func set(_ time: Int64?) {
        guard time != wanted else { return }
        replace(by: time)
    }

    private func replace(by time: Int64?) {
        let before = change
        let former = wanted
        wanted = time
        change = Task { @LoopActor [manager, weak self] in
            await before?.value
            // A bus that does not answer takes seconds.
            let result = try? await DiskWork.run { () throws(StoreError) -> Result<Void, BusFailure> in
                if let former {
                    manager.removeTimer(wakingAt: former)
                }
                guard let time else { return .success(()) }
                return manager.setTimer(wakingAt: time)
            }
            if case .failure(let failure)? = result {
                self?.reportFailure(failure)
            }
        }
    }

    private func reportFailure(_ failure: BusFailure) {
        guard !isReported else { return }
        isReported = true
        report("the machine is not woken for planned recordings: the user's service manager: \(failure)")
    }
}
