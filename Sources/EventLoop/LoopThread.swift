// The room EventLoop.
//
// Duty: one libevent base as a thread and as the executor of `LoopActor`; timers, descriptors, subscriptions.
// Entrance: `LoopActor`, `LoopTimer`, `EventStream`.
// Does not enter: any knowledge of HTTP, media or Weir.

import CLibevent
import Glibc
import Synchronization

/// A thread that owns one libevent `event_base` and runs Swift jobs on it.
///
/// All code that touches descriptors runs on this thread, as `@LoopActor` code. libevent's callbacks and Swift's jobs
/// alternate on it, so they need no locks between them. The base is created without libevent's own locks: only
/// `enqueue(_:)` may be called from other threads.
///
/// Sendable: only the loop's thread touches `base`, `wakeEvent` and `taken`; `queue`, `late` and atomics guard what threads share.
public final class LoopThread: SerialExecutor, @unchecked Sendable {
    /// The version of the libevent that is loaded: `2.1.12-stable`.
    public static var libraryVersion: String { String(cString: event_get_version()) }

    private enum Phase { case running, draining, ended }

    private struct Queue {
        var jobs: [UnownedJob] = []
        var phase = Phase.running
    }

    /// The libevent base. Borrowed: valid as long as the loop, on the loop's thread only.
    public let base: OpaquePointer
    private let wakeDescriptor: Int32
    private var wakeEvent: OpaquePointer?
    private let queue = Mutex(Queue())
    private let owner = Atomic<UInt>(0)
    /// Jobs from the queue, and the index of the first one that has not run.
    private var taken: (jobs: [UnownedJob], next: Int) = ([], 0)
    /// Begin of the current turn; nil while the loop waits. Only the loop's thread uses it, and what counts the turns.
    private var turnBegan: Double?
    private var turnNumber = 0
    private var turns = TurnTimes()
    private var processorTurns = TurnTimes()
    /// The thread's processor time when it was read last, and the lengths of the turns since then.
    private var usedProcessorTime = 0.0
    private var unreadTurns = 0.0
    /// Turns of so many seconds altogether take no more processor time than the shortest that is counted apart.
    private static let mostUnread = TurnTimes.bounds[0]
    /// The function to call after so many seconds of processor time, and the seconds since the last call.
    private var afterWork: (seconds: Double, body: @LoopActor () -> Void)?
    private var workSinceCall = 0.0
    private var thread = pthread_t()

    /// Creates the base and starts the thread.
    ///
    /// Ignores SIGPIPE for the whole process: a peer that has gone becomes an error of `write` and does not end the process.
    /// - Throws: `EventLoopError` if the system provides no epoll instance, eventfd or thread.
    public init() throws(EventLoopError) {
        signal(SIGPIPE, SIG_IGN)
        base = try Self.makeBase()
        wakeDescriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard wakeDescriptor >= 0 else {
            event_base_free(base)
            throw EventLoopError(.descriptor, errno: errno)
        }
        let code = pthread_create(&thread, nil, Self.main, Unmanaged.passRetained(self).toOpaque())
        guard code == 0 else {
            Unmanaged.passUnretained(self).release()
            throw EventLoopError(.thread, errno: code)
        }
    }

    deinit {
        event_base_free(base)
        close(wakeDescriptor)
    }

    /// The version of the linked libevent.
    public static var library: String {
        guard let version = event_get_version() else { return "unknown" }
        return String(cString: version)
    }

    private static func makeBase() throws(EventLoopError) -> OpaquePointer {
        let configuration = event_config_new()
        defer { event_config_free(configuration) }
        event_config_set_flag(configuration, Int32(EVENT_BASE_FLAG_NOLOCK.rawValue))
        guard let base = event_base_new_with_config(configuration) else {
            throw EventLoopError(.base, errno: errno)
        }
        return base
    }

    /// True on the loop's thread.
    public var isCurrent: Bool { owner.load(ordering: .acquiring) == UInt(pthread_self()) }

    /// Enqueues a job from any thread. Other threads than the loop's wake it with one eventfd write when the queue becomes
    /// non-empty.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let (wasEmpty, phase) = queue.withLock { queue in
            if queue.phase != .ended {
                queue.jobs.append(job)
            }
            return (queue.jobs.count == 1, queue.phase)
        }
        guard phase != .ended else { return runLate(job) }
        // The loop itself looks at the queue before it waits.
        if wasEmpty, !isCurrent {
            signalLoop()
        }
    }

    /// Makes `assumeIsolated` succeed in libevent's callbacks, which run outside any job.
    public func isIsolatingCurrentContext() -> Bool? { isCurrent }
    /// Traps off the loop's thread.
    public func checkIsolated() { precondition(isCurrent, "This code must run on the event loop's thread") }

    /// Stops the loop: descriptors and timers end, queued jobs run until none are left, and the thread is joined.
    ///
    /// A later job still runs, on the thread that enqueues it: a task that is never resumed would leak together with
    /// its awaiters. Must not be called on the loop's own thread.
    public func stop() {
        precondition(!isCurrent, "A loop cannot be stopped from its own thread")
        let first = queue.withLock { queue in
            defer {
                if queue.phase == .running {
                    queue.phase = .draining
                }
            }
            return queue.phase == .running
        }
        guard first else { return }
        signalLoop()
        pthread_join(thread, nil)
    }

    private static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
        guard let context else { return nil }
        let loop = Unmanaged<LoopThread>.fromOpaque(context).takeRetainedValue()
        loop.run()
        return nil
    }

    private func run() {
        owner.store(UInt(pthread_self()), ordering: .releasing)

        wakeEvent = event_new(
            base, wakeDescriptor, weir_ev_read | weir_ev_persist,
            { _, _, context in
                guard let context else { return }
                Unmanaged<LoopThread>.fromOpaque(context).takeUnretainedValue().clearSignal()
            }, Unmanaged.passUnretained(self).toOpaque())
        event_add(wakeEvent, nil)

        // One turn at a time: the callbacks of all descriptors and timers that are ready, then jobs.
        var isBusy = false
        repeat {
            var flags = EVLOOP_ONCE | EVLOOP_NO_EXIT_ON_EMPTY
            if isBusy {
                flags |= EVLOOP_NONBLOCK
            }
            guard event_base_loop(base, flags) >= 0 else { break }
            isBusy = runQueuedJobs()
            endTurn()
        } while !isStopping

        event_free(wakeEvent)
        wakeEvent = nil
        drain()
        owner.store(0, ordering: .releasing)
    }

    /// Notes the begin of a turn: the first callback or job of it.
    /// Traps off the loop's thread. A callback from C may be the first code of a turn.
    @usableFromInline func enter() {
        precondition(isCurrent, "This code must run on the event loop's thread")
        beginTurn()
    }

    private func beginTurn() {
        if turnBegan == nil {
            turnBegan = TurnTimes.now
        }
    }

    private func endTurn() {
        guard let turnBegan else { return }
        let length = TurnTimes.now - turnBegan
        turns.record(length)
        turnNumber += 1
        recordProcessorTime(ofTurn: length)
        if let afterWork, workSinceCall >= afterWork.seconds {
            workSinceCall = 0
            LoopActor.assumeIsolated(afterWork.body)
        }
        self.turnBegan = nil
    }

    /// Reads the processor time, which is a system call, only after so much that it matters: what short turns take counts with the
    /// next one that is read, as does the polling between two turns.
    private func recordProcessorTime(ofTurn length: Double) {
        unreadTurns += length
        guard unreadTurns >= Self.mostUnread else { return processorTurns.record(0) }
        let used = TurnTimes.processorTime
        let spent = used - usedProcessorTime
        processorTurns.record(min(spent, length), adding: spent)
        workSinceCall += spent
        usedProcessorTime = used
        unreadTurns = 0
    }

    /// Calls `body` whenever the loop has worked for so many seconds of processor time, at the end of the turn. An idle loop is not
    /// woken. A later call replaces an earlier one.
    @LoopActor public static func afterWork(of seconds: Double, _ body: @escaping @LoopActor () -> Void) {
        LoopActor.loop.afterWork = (seconds, body)
    }

    /// The number of the current turn, by which work that is divided knows when others had theirs.
    @LoopActor public static var turnNumber: Int { LoopActor.loop.turnNumber }

    /// The lengths of the turns so far, without the current one.
    @LoopActor public static var turnTimes: TurnTimes { LoopActor.loop.turns }

    /// The processor time of the same turns. On a busy machine the loop's thread waits for a processor as well, and in a turn that
    /// waits for a disk it uses none: this is how long the loop's own work takes.
    @LoopActor public static var turnProcessorTimes: TurnTimes { LoopActor.loop.processorTurns }

    private var isStopping: Bool { queue.withLock { $0.phase != .running } }

    /// The seconds of jobs after which descriptors have their turn, however many are queued.
    private static let longest = 0.005
    /// The most jobs for which an array keeps its room.
    private static let mostKept = 1024

    /// Runs jobs that are queued now. Returns true if more are queued then.
    private func runQueuedJobs() -> Bool {
        if !hasTakenJobs {
            takeJobs()
        }
        guard hasTakenJobs else { return false }
        beginTurn()
        let end = TurnTimes.now + Self.longest
        repeat {
            runNextJob()
        } while hasTakenJobs && TurnTimes.now < end
        return hasTakenJobs || queue.withLock { !$0.jobs.isEmpty }
    }

    private var hasTakenJobs: Bool { taken.next < taken.jobs.count }

    private func takeJobs() {
        taken.jobs.removeAll(keepingCapacity: taken.jobs.count <= Self.mostKept)
        taken.next = 0
        queue.withLock { swap(&$0.jobs, &taken.jobs) }
    }

    private func runNextJob() {
        let job = taken.jobs[taken.next]
        taken.next += 1
        job.runSynchronously(on: asUnownedSerialExecutor())
    }

    /// Runs queued jobs and those that they enqueue until none are left; then `enqueue` runs jobs on its caller's thread.
    private func drain() {
        while true {
            while hasTakenJobs {
                runNextJob()
            }
            takeJobs()
            if hasTakenJobs {
                continue
            }
            let isOver = queue.withLock { queue in
                if queue.jobs.isEmpty {
                    queue.phase = .ended
                }
                return queue.jobs.isEmpty
            }
            if isOver {
                return
            }
        }
    }

    private let late = Mutex(())

    private func runLate(_ job: UnownedJob) {
        guard !isCurrent else { return job.runSynchronously(on: asUnownedSerialExecutor()) }
        late.withLock { _ in
            owner.store(UInt(pthread_self()), ordering: .releasing)
            job.runSynchronously(on: asUnownedSerialExecutor())
            owner.store(0, ordering: .releasing)
        }
    }

    private func clearSignal() {
        var count: UInt64 = 0
        read(wakeDescriptor, &count, MemoryLayout<UInt64>.size)
    }

    private func signalLoop() {
        var one: UInt64 = 1
        // Fails only if the counter is full, and then the loop is awake already.
        write(wakeDescriptor, &one, MemoryLayout<UInt64>.size)
    }
}

/// The global actor of all I/O. Its executor is one `LoopThread`.
///
/// One `@LoopActor` type calls another directly, without suspending. C callbacks enter with `assumeIsolated(_:)`.
@globalActor public actor LoopActor {
    /// The shared instance.
    public static let shared = LoopActor()
    /// The loop that runs the actor. Started on first use; runs until the program ends.
    public static let loop = makeLoop()
    /// Runs the actor's jobs on the loop.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { Self.loop.asUnownedSerialExecutor() }

    private static func makeLoop() -> LoopThread {
        do {
            return try LoopThread()
        } catch {
            preconditionFailure("\(error)")  // The program cannot run without epoll or a thread.
        }
    }

    /// Runs `body` at once as code of the actor, as `MainActor.assumeIsolated` does. Traps off the loop's thread.
    ///
    /// Each callback of libevent and libcurl enters here, some thirty times for a segment. The standard library's way, to let `body`
    /// escape for a cast, makes an object each time. Here a function without a context is cast, and it is inlined, so that its type
    /// needs no context either.
    @inlinable @inline(__always)
    public static func assumeIsolated<T: Sendable, E: Error>(_ body: @LoopActor () throws(E) -> T) throws(E) -> T {
        typealias Isolated = @LoopActor (@LoopActor () throws(E) -> T) throws(E) -> T
        typealias Plain = (@LoopActor () throws(E) -> T) throws(E) -> T
        loop.enter()
        let run: Isolated = { (body) throws(E) -> T in try body() }
        return try unsafeBitCast(run, to: Plain.self)(body)  // `enter` has checked the isolation.
    }
}

/// A failure to create a loop, a timer or a watch.
public struct EventLoopError: Error, CustomStringConvertible, Sendable {
    /// The system resource that could not be created.
    public enum Code: String, Sendable {
        case base
        /// The eventfd that wakes the loop.
        case descriptor
        case thread, event
    }

    /// The resource that could not be created.
    public let code: Code
    /// The system's error number (errno(3)).
    public let errno: Int32
    init(_ code: Code, errno: Int32) {
        self.code = code
        self.errno = errno
    }

    /// A sentence for a log.
    public var description: String {
        "cannot create the event loop's \(code.rawValue): \(String(cString: strerror(errno)))"
    }
}
