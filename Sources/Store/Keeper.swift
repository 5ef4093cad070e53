import Glibc
import Synchronization

/// Makes pieces outlive a loss of power: syncs them in groups on a thread of its own, and then has written what they are.
///
/// A group is 16 pieces, or 64 MB, or what has come within two seconds. A sync that fails discards its group, since
/// what was not written is not tried a second time by the system either: fsync(2).
final class Keeper: Sendable {
    /// A piece that is in its place, or a text that has grown, and would perhaps not be so after a loss of power.
    struct Arrival: Sendable {
        /// Its folder.
        let pieces: PieceDirectory
        /// Its name there.
        let file: String
        /// Which of its folder's arrivals it is; 0 for one that was found; nil for a text that has grown, which is no piece.
        let number: Int?
        /// Its length in bytes; 0 where nobody has said it.
        let size: Int64
        /// Of the file, and the keeper's own; nil where it is to be opened by its name.
        let descriptor: Int32?
    }

    private struct Queue {
        var arrivals: [Arrival] = []
        var bytes: Int64 = 0
        var since = ContinuousClock.now
        /// Found pieces, last first. They wait until nothing else does.
        var found: [Arrival] = []
        var waiting: [@Sendable () -> Void] = []
        var isStopped = false
        /// How many syncs have failed since one that did not.
        var failures = 0
    }

    /// What is to be done next.
    private enum Turn {
        case sync([Arrival], waiting: [@Sendable () -> Void])
        case adopt(Arrival)
        case wait(milliseconds: Int32?)
        case end
    }

    private static let groupCount = 16
    private static let groupBytes: Int64 = 64 << 20
    private static let groupSpan = Duration.seconds(2)
    /// Beyond so many one sync of the whole file system is the quicker, and no more descriptors are held.
    static let mostSingly = 64

    /// After so many failed syncs in a row nothing more is kept.
    private static let mostFailures = 5

    private let queue: QueueBox
    private let thread: StoreThread

    init() throws(StoreError) {
        let queue = try QueueBox()
        thread = try StoreThread("keeper") { queue.run() }
        self.queue = queue
    }

    /// Syncs a piece soon. From any thread, as all of these.
    func take(_ arrival: Arrival) { queue.take(arrival) }

    /// Syncs a piece that was found when there is nothing else to do.
    func adopt(_ arrival: Arrival) { queue.adopt(arrival) }

    /// Whether the disk has lost what it was given so often that nothing more should be.
    var hasGivenUp: Bool { queue.hasGivenUp }

    /// Calls back, on the keeper's thread, once everything is synced that it was given so far.
    func flush(_ done: @escaping @Sendable () -> Void) { queue.flush(done) }

    /// Syncs what it was given, and ends. What was found and had not its turn is found again another time.
    func stop() {
        queue.stop()
        thread.join()
    }

    /// What the thread and those who ask share.
    private final class QueueBox: Sendable {
        private let queue = Mutex(Queue())
        private let bell: Bell

        init() throws(StoreError) { bell = try Bell() }

        var hasGivenUp: Bool { queue.withLock { $0.failures >= Keeper.mostFailures } }

        func take(_ arrival: Arrival) {
            var arrival = arrival
            let count = queue.withLock { queue in
                if queue.arrivals.isEmpty { (queue.since, queue.bytes) = (.now, 0) }
                if queue.arrivals.count >= Keeper.mostSingly, let descriptor = arrival.descriptor {
                    close(descriptor)
                    arrival = Arrival(
                        pieces: arrival.pieces, file: arrival.file, number: arrival.number, size: arrival.size,
                        descriptor: nil)
                }
                queue.arrivals.append(arrival)
                queue.bytes += arrival.size
                return queue.bytes >= Keeper.groupBytes ? Keeper.groupCount : queue.arrivals.count
            }
            if count == 1 || count == Keeper.groupCount { bell.ring() }
        }

        func adopt(_ arrival: Arrival) {
            queue.withLock { $0.found.append(arrival) }
            bell.ring()
        }

        func flush(_ done: @escaping @Sendable () -> Void) {
            queue.withLock { $0.waiting.append(done) }
            bell.ring()
        }

        func stop() {
            queue.withLock { $0.isStopped = true }
            bell.ring()
        }

        func run() {
            while true {
                switch next() {
                case .sync(let group, let waiting):
                    keep(group)
                    for done in waiting { done() }
                case .adopt(let arrival): keep([arrival])
                case .wait(let milliseconds): bell.wait(milliseconds: milliseconds)
                case .end: return
                }
            }
        }

        private func keep(_ group: [Arrival]) {
            guard !group.isEmpty else { return }
            let isKept = KeeperGroup(group).keep()
            queue.withLock { $0.failures = isKept ? 0 : $0.failures + 1 }
        }

        private func next() -> Turn {
            queue.withLock { queue in
                let left = Keeper.groupSpan - (.now - queue.since)
                let isFull = queue.arrivals.count >= Keeper.groupCount || queue.bytes >= Keeper.groupBytes
                let isDue = !queue.arrivals.isEmpty && (isFull || left <= .zero || queue.isStopped)
                if isDue || !queue.waiting.isEmpty {
                    defer { (queue.arrivals, queue.waiting) = ([], []) }
                    return .sync(queue.arrivals, waiting: queue.waiting)
                }
                if queue.isStopped { return .end }
                if let found = queue.found.popLast() { return .adopt(found) }
                return .wait(milliseconds: queue.arrivals.isEmpty ? nil : Int32(left / .milliseconds(1)) + 1)
            }
        }
    }
}
