import CLinux
import Glibc
import Synchronization

/// A thread that waits for the disk, so that the loop need not: it does what it is given, one after the other.
final class StoreWorker: Sendable {
    private let inbox: Inbox
    private let thread: pthread_t

    /// Starts the thread, which goes on until `stop()`.
    ///
    /// - Throws: `StoreError` when the system gives no eventfd or no thread.
    init() throws(StoreError) {
        inbox = try Inbox()
        var thread = pthread_t()
        let held = Unmanaged.passRetained(inbox)
        let code = pthread_create(&thread, nil, Self.main, held.toOpaque())
        guard code == 0 else {
            held.release()
            throw StoreError(path: "the thread for files", errno: code)
        }
        self.thread = thread
    }

    /// Gives the thread something to do after all that it was given before. From any thread; not after `stop()`.
    func submit(_ job: @escaping @Sendable () -> Void) { inbox.add(job) }

    /// Ends the thread once everything that it was given is done, and waits for that.
    func stop() {
        inbox.stop()
        // Who lets go of the store last may be one of its own jobs.
        if pthread_equal(thread, pthread_self()) != 0 { pthread_detach(thread) } else { pthread_join(thread, nil) }
    }

    private static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
        guard let context else { return nil }
        Unmanaged<Inbox>.fromOpaque(context).takeRetainedValue().run()
        return nil
    }
}

/// What a thread is given to do, and what wakes it.
private final class Inbox: Sendable {
    private struct Queue {
        var jobs: [@Sendable () -> Void] = []
        var isStopped = false
    }

    private let queue = Mutex(Queue())
    private let wake: Int32

    init() throws(StoreError) {
        wake = eventfd(0, Int32(EFD_CLOEXEC))
        guard wake >= 0 else { throw StoreError(path: "the thread for files") }
    }

    deinit { close(wake) }

    func add(_ job: @escaping @Sendable () -> Void) {
        let wasEmpty = queue.withLock { queue in
            queue.jobs.append(job)
            return queue.jobs.count == 1
        }
        if wasEmpty { awaken() }
    }

    func stop() {
        queue.withLock { $0.isStopped = true }
        awaken()
    }

    /// Does what comes until it is stopped, and nothing is left.
    func run() {
        while true {
            let (jobs, isStopped) = queue.withLock { queue in
                defer { queue.jobs.removeAll() }
                return (queue.jobs, queue.isStopped)
            }
            for job in jobs { job() }
            guard jobs.isEmpty else { continue }
            guard !isStopped else { return }
            var count: UInt64 = 0
            read(wake, &count, MemoryLayout<UInt64>.size)
        }
    }

    private func awaken() {
        var one: UInt64 = 1
        // Fails only when the counter is full, and then the thread is awake already.
        write(wake, &one, MemoryLayout<UInt64>.size)
    }
}
