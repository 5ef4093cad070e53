import Glibc

/// Says if work that waits for its turn is still needed.
@LoopActor package protocol WorkDemand: AnyObject, Sendable {
    /// False if nobody waits for the result any more.
    var isWanted: Bool { get }
}

/// Runs pure work on content of origins outside the loop: parsing and writing large playlists.
///
/// Work for one owner, an asset, runs one piece after the other, so that no asset occupies more than one processor; owners take
/// turns. Small work runs at once on the loop, because a change of threads costs more.
@LoopActor package final class PureWork {
    /// Work of at most this size is done on the loop: about a millisecond. Sizes are in bytes of text or in items of 64 bytes.
    package nonisolated static let small = 64 << 10
    /// By the identity of the owner, which lives as long as its work.
    private var queues: [ObjectIdentifier: Queue] = [:]
    /// The owners with waiting work and none that runs, in the order of their turns.
    private var turns: [ObjectIdentifier] = []
    private var runningCount = 0
    /// The most pieces of work that run at a time.
    private let width: Int

    private struct Queue {
        let owner: AnyObject
        var waiting: [any QueuedWork] = []
        var isRunning = false
    }

    /// The work of all rooms.
    package static let shared = PureWork(width: max(2, sysconf(Int32(_SC_NPROCESSORS_ONLN)) - 1))
    package init(width: Int) { self.width = width }

    /// The number of owners with work outside the loop.
    package var ownerCount: Int { queues.count }
    /// The number of pieces of work of an owner that have not begun.
    package func waitingCount(for owner: AnyObject) -> Int { queues[ObjectIdentifier(owner)]?.waiting.count ?? 0 }

    /// Returns the result of `body`; nil if the work was dropped before it began, because it was cancelled or not wanted any more.
    /// - Parameters:
    ///   - size: the size of the content, see `small`.
    ///   - owner: an object that stands for the asset.
    ///   - demand: asked just before the work begins; nil for work that is always wanted.
    package func run<Value: Sendable>(
        size: Int, for owner: AnyObject, wanted demand: (any WorkDemand)? = nil, _ body: @escaping @Sendable () -> Value
    ) async -> Value? {
        guard size > Self.small else { return body() }
        return await withCheckedContinuation { continuation in
            let key = ObjectIdentifier(owner)
            let isIdle = queues[key] == nil
            queues[key, default: Queue(owner: owner)].waiting.append(
                Piece(body: body, demand: demand, continuation: continuation))
            if isIdle {
                turns.append(key)
            }
            begin()
        }
    }

    /// Drops an owner's work that has not begun.
    package func cancel(for owner: AnyObject) {
        let key = ObjectIdentifier(owner)
        guard let queue = queues[key] else { return }
        queues[key]?.waiting = []
        if !queue.isRunning {
            queues[key] = nil
            turns.removeAll { $0 == key }
        }
        for piece in queue.waiting {
            piece.drop()
        }
    }

    private func begin() {
        while runningCount < width, !turns.isEmpty {
            let key = turns.removeFirst()
            guard let piece = next(key) else {
                queues[key] = nil
                continue
            }
            queues[key]?.isRunning = true
            runningCount += 1
            piece.start { await self.recordEnd(key) }
        }
    }

    private func next(_ key: ObjectIdentifier) -> (any QueuedWork)? {
        guard let waiting = queues[key]?.waiting else { return nil }
        let first = waiting.firstIndex { $0.isWanted } ?? waiting.count
        for piece in waiting[..<first] {
            piece.drop()
        }
        queues[key]?.waiting.removeFirst(min(first + 1, waiting.count))
        guard first < waiting.count else { return nil }
        return waiting[first]
    }

    private func recordEnd(_ key: ObjectIdentifier) {
        runningCount -= 1
        queues[key]?.isRunning = false
        if queues[key]?.waiting.isEmpty ?? true {
            queues[key] = nil
        } else {
            turns.append(key)
        }
        begin()
    }
}

/// A piece of work that waits.
@LoopActor private protocol QueuedWork: Sendable {
    var isWanted: Bool { get }
    /// Runs it on another thread, then calls `end`, and returns the result to the caller.
    func start(_ end: @escaping @Sendable () async -> Void)
    func drop()
}

private struct Piece<Value: Sendable>: QueuedWork {
    let body: @Sendable () -> Value
    let demand: (any WorkDemand)?
    let continuation: CheckedContinuation<Value?, Never>

    var isWanted: Bool { demand?.isWanted ?? true }

    func start(_ end: @escaping @Sendable () async -> Void) {
        let body = body
        let continuation = continuation
        Task.detached(priority: .utility) {
            let value = body()
            await end()
            continuation.resume(returning: value)
        }
    }

    func drop() { continuation.resume(returning: nil) }
}
