import CLinux
import Glibc
import Synchronization

/// Runs work out of a state that other threads change under a lock. The thread retains this object: call `stop()`.
final class WorkerThread<State: Sendable>: Sendable {
    enum Step {
        case perform(@Sendable (WorkerThread<State>) -> Void)
        /// Waits for `signal()`; nil for no time limit.
        case wait(milliseconds: Int32?)
        case end
    }

    private struct Locked {
        var state: State
        var isStopping = false
    }

    private let locked: Mutex<Locked>
    private let wakeup: Wakeup
    private let thread = Mutex<StoreThread?>(nil)

    /// Starts the thread. `next` takes work out of the state, with the lock held. Its second argument is true after
    /// `stop()`: it returns `end` as soon as no work is left.
    init(_ name: String, _ state: State, next: @escaping @Sendable (inout State, Bool) -> Step) throws(StoreError) {
        locked = Mutex(Locked(state: state))
        wakeup = try Wakeup()
        let started = try StoreThread(name) { self.run(next) }
        thread.withLock { $0 = started }
    }

    /// Reads or changes the state. Call `signal()` after a change that the thread is to see.
    func withLock<Result: Sendable, Failure>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try locked.withLock { locked throws(Failure) in try body(&locked.state) }
    }

    func signal() { wakeup.signal() }
    var isStopping: Bool { locked.withLock { $0.isStopping } }

    /// Ends the thread once its work is done, and waits for that.
    func stop() {
        locked.withLock { $0.isStopping = true }
        signal()
        thread.withLock { $0.take() }?.join()
    }

    private func run(_ next: (inout State, Bool) -> Step) {
        while true {
            switch locked.withLock({ next(&$0.state, $0.isStopping) }) {
            case .perform(let work): work(self)
            case .wait(let milliseconds): wakeup.wait(milliseconds: milliseconds)
            case .end: return
            }
        }
    }
}

/// A thread that performs jobs in the order of their submission.
typealias WorkQueue = WorkerThread<[@Sendable () -> Void]>

extension WorkQueue {
    convenience init() throws(StoreError) {
        try self.init("store", []) { jobs, isStopping in
            guard !jobs.isEmpty else { return isStopping ? .end : .wait(milliseconds: nil) }
            defer { jobs.removeAll() }
            return .perform { [jobs] _ in for job in jobs { job() } }
        }
    }

    /// Performs `body` as a job, and returns its result.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let result: Result<Value, StoreError> = await withCheckedContinuation { continuation in
            submit { continuation.resume(returning: Result { () throws(StoreError) in try body() }) }
        }
        return try result.get()
    }

    /// Appends a job. From any thread; not after `stop()`.
    func submit(_ job: @escaping @Sendable () -> Void) {
        let wasEmpty = withLock { jobs in
            jobs.append(job)
            return jobs.count == 1
        }
        if wasEmpty { signal() }
    }
}

/// Wakes a waiting thread: an eventfd(2).
final class Wakeup: Sendable {
    private let descriptor: Int32

    /// - Throws: `StoreError` if the system has no eventfd.
    init() throws(StoreError) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { throw StoreError(path: "the thread for files") }
    }

    deinit { close(descriptor) }

    func signal() {
        var one: UInt64 = 1
        // Fails only if the counter is full, and then the thread is awake.
        write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    /// Waits for a signal since the last wait, or until the time is over; nil for no limit. It may return early.
    func wait(milliseconds: Int32? = nil) {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&watched, 1, milliseconds ?? -1) > 0 else { return }
        var count: UInt64 = 0
        read(descriptor, &count, MemoryLayout<UInt64>.size)
    }
}
