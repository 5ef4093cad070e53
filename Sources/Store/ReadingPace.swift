import Synchronization

/// How fast pieces are read to be verified, and whether at all: one piece of work's, for its thread and whoever holds it up.
public final class ReadingPace: Sendable {
    private let rate: Mutex<ReadingRate>
    private let read = Atomic<Int64>(0)
    private let cancelled = Atomic(false)
    private let paused = Atomic(false)
    private let wakeup: Wakeup

    /// - Parameter bytesPerSecond: 0 for as fast as the disk is.
    /// - Throws: `StoreError` when the system gives no eventfd.
    public init(bytesPerSecond: Int64) throws(StoreError) {
        rate = Mutex(ReadingRate(bytesPerSecond: bytesPerSecond, at: .now))
        wakeup = try Wakeup()
    }

    /// The bytes that were read so far.
    public var bytes: Int64 { read.load(ordering: .relaxed) }

    /// Whether it is given up.
    public var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    /// Gives it up: nothing more is read.
    public func cancel() {
        cancelled.store(true, ordering: .relaxed)
        wakeup.signal()
    }

    /// Whether it rests until this is false again.
    public var isPaused: Bool {
        get { paused.load(ordering: .relaxed) }
        set {
            paused.store(newValue, ordering: .relaxed)
            wakeup.signal()
        }
    }

    /// Counts bytes that were read, and waits on the calling thread until the next ones may be.
    ///
    /// - Returns: whether it goes on.
    func goOn(after count: Int = 0) -> Bool {
        read.add(Int64(count), ordering: .relaxed)
        let due = rate.withLock { $0.next(after: count, at: .now) }
        while !isCancelled {
            let left = isPaused ? nil : due - .now
            if let left, left <= .zero { return true }
            wakeup.wait(milliseconds: left.map { Int32(min($0 / .milliseconds(1), 60_000)) + 1 })
        }
        return false
    }
}

/// When the next bytes may be read. Pure.
struct ReadingRate {
    private let bytesPerSecond: Int64
    private var due: ContinuousClock.Instant

    /// What was not read in this time is not caught up with.
    private static let depth = Duration.milliseconds(250)

    /// - Parameter bytesPerSecond: 0 for any.
    init(bytesPerSecond: Int64, at now: ContinuousClock.Instant) { (self.bytesPerSecond, due) = (bytesPerSecond, now) }

    /// When more may be read, after so many bytes were.
    mutating func next(after count: Int, at now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        guard bytesPerSecond > 0 else { return now }
        due = max(due, now - Self.depth) + .seconds(Double(count) / Double(bytesPerSecond))
        return due
    }
}
