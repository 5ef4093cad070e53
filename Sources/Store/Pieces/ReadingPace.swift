import Synchronization

/// Limits the speed of one verification or copy, and lets other threads pause or cancel it.
public final class ReadingPace: Sendable {
    private let rate: Mutex<ReadingRate>
    private let read = Atomic<Int64>(0)
    private let cancelled = Atomic(false)
    private let paused = Atomic(false)
    private let wakeup: Wakeup

    /// Makes a pace; `bytesPerSecond` is 0 for no limit.
    public init(bytesPerSecond: Int64) throws(StoreError) {
        rate = Mutex(ReadingRate(bytesPerSecond: bytesPerSecond, at: .now))
        wakeup = try Wakeup()
    }

    /// The bytes read so far.
    public var bytes: Int64 { read.load(ordering: .relaxed) }
    /// True after `cancel()`.
    public var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    /// Cancels the work: nothing more is read.
    public func cancel() {
        cancelled.store(true, ordering: .relaxed)
        wakeup.signal()
    }

    /// True while the work is paused.
    public var isPaused: Bool {
        get { paused.load(ordering: .relaxed) }
        set {
            paused.store(newValue, ordering: .relaxed)
            wakeup.signal()
        }
    }

    /// Counts bytes that were read, and blocks until the next ones may be. Returns false after a cancellation.
    func waitForTurn(after count: Int = 0) -> Bool {
        read.add(Int64(count), ordering: .relaxed)
        let due = rate.withLock { $0.next(after: count, at: .now) }
        while !isCancelled {
            guard !isPaused else {
                wakeup.wait(milliseconds: nil)
                continue
            }
            let left = due - .now
            if left <= .zero {
                return true
            }
            wakeup.wait(milliseconds: Int32(min(left / .milliseconds(1), 60_000)) + 1)
        }
        return false
    }
}

/// Computes the times at which the next bytes may be read. Pure.
struct ReadingRate {
    private let bytesPerSecond: Int64
    private var due: ContinuousClock.Instant
    /// Time that can be caught up: after a longer delay the rate is not exceeded to make up for it.
    private static let depth = Duration.milliseconds(250)
    /// - Parameter bytesPerSecond: 0 for no limit.
    init(bytesPerSecond: Int64, at now: ContinuousClock.Instant) {
        self.bytesPerSecond = bytesPerSecond
        due = now
    }

    mutating func next(after count: Int, at now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        guard bytesPerSecond > 0 else { return now }
        due = max(due, now - Self.depth) + .seconds(Double(count) / Double(bytesPerSecond))
        return due
    }
}
