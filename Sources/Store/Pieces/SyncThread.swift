import Glibc

/// Makes pieces survive a power cut: syncs groups of 16 pieces, 64 MB or two seconds, and then writes their ledger lines. A
/// failed sync discards its group, because the system does not write the failed pages again either: fsync(2).
final class SyncThread: Sendable {
    /// A piece under its final name that is not synced yet, or a text that has grown.
    struct Arrival: Sendable {
        let pieces: PieceDirectory
        let file: String
        /// Its number among the folder's arrivals; 0 for a piece that was found without a line; nil for a text.
        let number: Int?
        /// Its length in bytes; 0 if unknown.
        let size: Int64
        /// The open file, of which the sync thread is an owner; nil to open it by its name.
        var descriptor: SharedDescriptor?
        /// The file at its arrival; nil if unknown.
        var identity: FileIdentity?
        /// The entry of its bytes; nil to compute it from the file.
        var entry: Ledger.Entry?
    }

    private struct Queue {
        var arrivals: [Arrival] = []
        var bytes: Int64 = 0
        var since = ContinuousClock.now
        /// Pieces that were found without a line, last first. They are synced when nothing else is to be.
        var found: [Arrival] = []
        /// Called once earlier arrivals are synced. Closures, because the removal of a bundle waits here too, and is no task.
        var waiting: [@Sendable () -> Void] = []
        var failures = 0

        mutating func next(_ isStopping: Bool) -> WorkerThread<Queue>.Step {
            let left = SyncThread.groupSpan - (.now - since)
            let isFull = arrivals.count >= SyncThread.groupCount || bytes >= SyncThread.groupBytes
            let isDue = !arrivals.isEmpty && (isFull || left <= .zero || isStopping)
            if isDue || !waiting.isEmpty {
                defer {
                    arrivals = []
                    waiting = []
                }
                return .perform { [arrivals, waiting] worker in
                    SyncThread.sync(arrivals, worker)
                    for done in waiting {
                        done()
                    }
                }
            }
            if isStopping {
                return .end
            }
            if let next = found.popLast() {
                return .perform { SyncThread.sync([next], $0) }
            }
            guard !arrivals.isEmpty else { return .wait(milliseconds: nil) }
            return .wait(milliseconds: Int32(left / .milliseconds(1)) + 1)
        }
    }

    private static let groupCount = 16
    private static let groupBytes: Int64 = 64 << 20
    private static let groupSpan = Duration.seconds(2)
    /// Above this count one sync of the whole file system is faster, and no more descriptors are held open.
    static let mostSingly = 64
    /// After so many failed syncs in a row nothing more is stored.
    private static let mostFailures = 5
    private let worker: WorkerThread<Queue>

    init() throws(StoreError) {
        // A player reads a piece before it is synced.
        worker = try WorkerThread("sync", Queue(), isBackground: true) { queue, isStopping in queue.next(isStopping) }
    }

    /// Syncs a piece soon. From any thread, as all methods.
    func sync(_ arrival: Arrival) {
        var arrival = arrival
        let count = worker.withLock { queue in
            if queue.arrivals.isEmpty {
                queue.since = .now
                queue.bytes = 0
            }
            if queue.arrivals.count >= Self.mostSingly {
                arrival.descriptor.take()?.release()
            }
            queue.arrivals.append(arrival)
            queue.bytes += arrival.size
            // Many bytes make a full group too.
            guard queue.bytes < Self.groupBytes else { return Self.groupCount }
            return queue.arrivals.count
        }
        if count == 1 || count == Self.groupCount {
            worker.signal()
        }
    }

    /// Syncs a piece that was found without a line, when nothing else is to be synced.
    func adopt(_ arrival: Arrival) {
        worker.withLock { $0.found.append(arrival) }
        worker.signal()
    }

    /// True if the disk has lost written data so often that nothing more is to be stored.
    var isFailing: Bool { worker.withLock { $0.failures >= Self.mostFailures } }

    /// Calls `done` on the sync thread once all earlier arrivals are synced.
    func flush(_ done: @escaping @Sendable () -> Void) {
        worker.withLock { $0.waiting.append(done) }
        worker.signal()
    }

    /// Syncs all arrivals, and ends the thread. The next start finds the adopted pieces that are left.
    func stop() { worker.stop() }

    private static func sync(_ group: [Arrival], _ worker: WorkerThread<Queue>) {
        guard !group.isEmpty else { return }
        let isSynced = SyncGroup(group).sync()
        worker.withLock { queue in
            if isSynced {
                queue.failures = 0
            } else {
                queue.failures += 1
            }
        }
    }
}
