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
    /// - Parameter isBackground: true if no player waits for its work, so that it yields to all other threads.
    init(
        _ name: String, _ state: State, isBackground: Bool = false,
        next: @escaping @Sendable (inout State, Bool) -> Step
    ) throws(StoreError) {
        locked = Mutex(Locked(state: state))
        wakeup = try Wakeup()
        let started = try StoreThread(name) {
            if isBackground {
                weir_lower_thread()
            }
            self.run(next)
        }
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
            guard !jobs.isEmpty else {
                guard !isStopping else { return .end }
                return .wait(milliseconds: nil)
            }
            defer { jobs.removeAll() }
            return .perform { [jobs] _ in
                for job in jobs {
                    job()
                }
            }
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
        if wasEmpty {
            signal()
        }
    }
}

/// Wakes a waiting thread.
final class Wakeup: @unchecked Sendable {
    // Sendable because only the functions of pthread(7) use both pointers, and `isSignalled` is behind the lock. No eventfd:
    // the verifications of all assets of a store would need more descriptors than there are.
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var isSignalled = false

    /// - Throws: `StoreError` if the system has no memory for it.
    init() throws(StoreError) {
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_mutex_init(lock, nil)
        let reason = pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
        guard reason == 0 else { throw StoreError(path: "the thread for files", errno: reason) }
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(lock)
        condition.deallocate()
        lock.deallocate()
    }

    func signal() {
        pthread_mutex_lock(lock)
        let isNews = !isSignalled
        isSignalled = true
        pthread_mutex_unlock(lock)
        // Not while it is locked: the other thread would wake up only to wait for the lock.
        if isNews {
            pthread_cond_signal(condition)
        }
    }

    /// Waits for a signal since the last wait, or until the time is over; nil for no limit. It may return early.
    func wait(milliseconds: Int32? = nil) {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        if !isSignalled {
            if let milliseconds {
                var until = timespec()
                clock_gettime(CLOCK_MONOTONIC, &until)
                let nanoseconds = until.tv_nsec + Int(milliseconds) * 1_000_000
                until.tv_sec += nanoseconds / 1_000_000_000
                until.tv_nsec = nanoseconds % 1_000_000_000
                pthread_cond_timedwait(condition, lock, &until)
            } else {
                pthread_cond_wait(condition, lock)
            }
        }
        isSignalled = false
    }
}
