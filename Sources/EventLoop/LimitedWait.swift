extension Task where Failure == Never {
    /// Returns the result; nil once the limit has passed. The task continues.
    @LoopActor package func value(within limit: Duration) async -> Success? {
        await LimitedWait().value(of: self, within: limit)
    }
}

/// Waits for a task or for a time, whichever ends first.
@LoopActor private final class LimitedWait<Value: Sendable> {
    private var waiter: CheckedContinuation<Value?, Never>?
    private var timer: LoopTimer?

    func value(of task: Task<Value, Never>, within limit: Duration) async -> Value? {
        await withCheckedContinuation { waiter in
            self.waiter = waiter
            timer = LoopTimer { [weak self] in self?.end(nil) }
            timer?.schedule(after: limit)
            Task { @LoopActor in
                let value = await task.value
                end(value)
            }
        }
    }

    private func end(_ value: Value?) {
        waiter?.resume(returning: value)
        waiter = nil
        timer?.cancel()
    }
}
