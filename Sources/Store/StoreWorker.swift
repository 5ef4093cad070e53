import Synchronization

/// A thread of the store that does what it is given, one after the other.
final class StoreWorker: Sendable {
    private let inbox: Inbox
    private let thread: StoreThread

    /// Starts the thread, which goes on until `stop()`.
    ///
    /// - Throws: `StoreError` when the system gives no eventfd or no thread.
    init() throws(StoreError) {
        let inbox = try Inbox()
        thread = try StoreThread("store") { inbox.run() }
        self.inbox = inbox
    }

    /// Gives the thread something to do after all that it was given before. From any thread; not after `stop()`.
    func submit(_ job: @escaping @Sendable () -> Void) { inbox.add(job) }

    /// Ends the thread once everything that it was given is done, and waits for that.
    func stop() {
        inbox.stop()
        thread.join()
    }
}

/// What a thread is given to do.
private final class Inbox: Sendable {
    private struct Queue {
        var jobs: [@Sendable () -> Void] = []
        var isStopped = false
    }

    private let queue = Mutex(Queue())
    private let bell: Bell

    init() throws(StoreError) { bell = try Bell() }

    func add(_ job: @escaping @Sendable () -> Void) {
        let wasEmpty = queue.withLock { queue in
            queue.jobs.append(job)
            return queue.jobs.count == 1
        }
        if wasEmpty { bell.ring() }
    }

    func stop() {
        queue.withLock { $0.isStopped = true }
        bell.ring()
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
            bell.wait()
        }
    }
}
