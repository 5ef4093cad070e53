extension LoopActor {
    /// Returns after a time, by a timer of the loop. Time in which the machine is suspended does not count. The daemon uses it
    /// in place of `Task.sleep`, which has monitored threads: see `weir_use_own_executor`.
    /// - Throws: as soon as the task is cancelled.
    @LoopActor public static func pause(for time: Duration) async throws(CancellationError) {
        guard await LoopPause().wait(time) else { throw CancellationError() }
    }
}

@LoopActor private final class LoopPause {
    private var waiter: CheckedContinuation<Bool, Never>?
    private var timer: LoopTimer?

    /// Returns false if the task is cancelled.
    func wait(_ time: Duration) async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                self.waiter = waiter
                timer = LoopTimer { [weak self] in self?.end(true) }
                timer?.schedule(after: time)
            }
        } onCancel: {
            // Runs after the wait has begun, also where the task was cancelled before.
            Task { @LoopActor in self.end(false) }
        }
    }

    private func end(_ isOver: Bool) {
        timer = nil
        waiter.take()?.resume(returning: isOver)
    }
}
