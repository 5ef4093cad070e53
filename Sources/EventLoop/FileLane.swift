import Glibc
import Synchronization

/// Runs long work on files that the user hands in, one piece after the other on a thread of its own: the loop and the threads
/// that all tasks share stay free, whatever is in the files. Work that has steps lets other work of the lane go on between two
/// slices.
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
                submit {
                    guard turn.mayGoOn else { return continuation.resume(returning: nil) }
                    continuation.resume(returning: body(turn))
                }
            }
        }
    }

    /// Returns the first result of `step`, which takes a short step of the work each time; nil if the task was cancelled
    /// before the last one.
    package nonisolated(nonsending) func run<State: Sendable, Value: Sendable>(
        inSlices state: State, _ step: @escaping @Sendable (inout State) -> Value?
    ) async -> Value? {
        await LaneTurn.with { turn in
            await withCheckedContinuation { continuation in
                let work = SlicedWork(from: state, in: turn, resuming: continuation, step: step)
                submit { self.run(work) }
            }
        }
    }

    private func run(_ work: SlicedWork<some Sendable, some Sendable>) {
        if !work.runSlice() {
            submit { self.run(work) }
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

/// Work in short steps, of which a slice has as many as fit.
private final class SlicedWork<State: Sendable, Value: Sendable>: Sendable {
    /// Other work of the lane waits so long at most, if no single step takes longer.
    private static var length: Duration { .milliseconds(20) }
    private let state: Mutex<State>
    private let turn: LaneTurn
    private let step: @Sendable (inout State) -> Value?
    private let continuation: CheckedContinuation<Value?, Never>

    init(
        from state: State, in turn: LaneTurn, resuming continuation: CheckedContinuation<Value?, Never>,
        step: @escaping @Sendable (inout State) -> Value?
    ) {
        self.state = Mutex(state)
        self.turn = turn
        self.step = step
        self.continuation = continuation
    }

    /// Runs the next slice. Returns true once the work has ended.
    func runSlice() -> Bool {
        let end = ContinuousClock.now + Self.length
        repeat {
            guard turn.mayGoOn else {
                continuation.resume(returning: nil)
                return true
            }
            if let value = state.withLock({ step(&$0) }) {
                continuation.resume(returning: value)
                return true
            }
        } while ContinuousClock.now < end
        return false
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
