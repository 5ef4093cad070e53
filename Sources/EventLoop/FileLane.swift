import Glibc
import Synchronization

/// Runs long work on files that the user hands in, one piece after the other on a thread of its own: the loop and the threads
/// that all tasks share stay free, whatever is in the files.
///
/// Work asks `LaneTurn.mayGoOn` between its steps. It ends when the task that waits for it is cancelled, because the client has
/// left or the daemon stops.
package final class FileLane: Sendable {
    /// The lane of the process.
    package static let shared = FileLane()

    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isRunning = false
    }

    private let state = Mutex(State())

    package init() {}

    /// The number of pieces of work that have not begun.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Returns the result of `body`; nil if the task was cancelled before its turn.
    package nonisolated(nonsending) func run<Value: Sendable>(
        _ body: @escaping @Sendable (LaneTurn) -> Value
    ) async -> Value? {
        await LaneTurn.with { turn in
            await withCheckedContinuation { continuation in
                submit { continuation.resume(returning: turn.mayGoOn ? body(turn) : nil) }
            }
        }
    }

    private func submit(_ work: @escaping @Sendable () -> Void) {
        let isIdle = state.withLock { state in
            state.waiting.append(work)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard isIdle else { return }
        // The thread lives as long as there is work.
        var thread = pthread_t()
        let lane = Unmanaged.passRetained(self)
        guard pthread_create(&thread, nil, Self.main, lane.toOpaque()) == 0 else {
            lane.release()
            // The system has no thread left: here it is late, but not lost.
            Task.detached(priority: .background) { self.work() }
            return
        }
        pthread_detach(thread)
    }

    private static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
        guard let context else { return nil }
        Unmanaged<FileLane>.fromOpaque(context).takeRetainedValue().work()
        return nil
    }

    private func work() {
        while let job = next() {
            job()
        }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isRunning = false
                return nil
            }
            return state.waiting.removeFirst()
        }
    }
}

/// The turn of one piece of work on the lane, or of other work on a thread of its own.
package final class LaneTurn: Sendable {
    private let isOver = Atomic(false)

    /// Calls `body` with a turn that ends when the task is cancelled.
    package static nonisolated(nonsending) func with<Value>(
        _ body: nonisolated(nonsending) (LaneTurn) async -> Value
    ) async -> Value {
        let turn = LaneTurn()
        return await withTaskCancellationHandler {
            await body(turn)
        } onCancel: {
            turn.end()
        }
    }

    /// False once nobody waits for the result: the work ends at its next step.
    package var mayGoOn: Bool { !isOver.load(ordering: .relaxed) }

    private func end() { isOver.store(true, ordering: .relaxed) }
}
