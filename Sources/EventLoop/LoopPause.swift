extension LoopActor {
    /// Returns after a time, by a timer of the loop; what the machine sleeps does not count. In a daemon it stands for `Task.sleep`, which goes past the program's
    /// executor (`weir_use_own_executor`).
    /// - Throws: at once, if the task is cancelled.
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
