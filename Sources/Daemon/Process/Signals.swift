internal import EventLoop

/// Waits for signals to the process.
package enum Signals {
    /// Waits for the first of some signals; nil if the task is cancelled first. During the wait they have no other
    /// effect. `begun` is called once they are caught.
    package static func first(of numbers: [Int32], begun: @escaping @Sendable () -> Void = {}) async -> Int32? {
        let waiter = await SignalWaiter()
        return await withTaskCancellationHandler {
            await waiter.wait(for: numbers, begun)
        } onCancel: {
            Task { await waiter.end(with: nil) }
        }
    }
}

/// Holds the signal sources during the wait.
@LoopActor private final class SignalWaiter {
    private final class Watch {
        let watch: SignalWatch
        init(_ watch: consuming SignalWatch) { self.watch = watch }
    }

    private var watches: [Watch] = []
    private var waiting: CheckedContinuation<Int32?, Never>?
    private var isOver = false

    func wait(for numbers: [Int32], _ begun: () -> Void) async -> Int32? {
        await withCheckedContinuation { continuation in
            guard !isOver else { return continuation.resume(returning: nil) }
            waiting = continuation
            watches = numbers.map { number in
                Watch(SignalWatch(number) { [weak self] in self?.end(with: number) })
            }
            begun()
        }
    }

    func end(with number: Int32?) {
        isOver = true
        waiting?.resume(returning: number)
        waiting = nil
        watches = []
    }
}
