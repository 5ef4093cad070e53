import Glibc
import Synchronization

/// The result of reading a piece before it is sent.
package enum PieceCheck: Sendable {
    /// Its bytes are those of its ledger line, or it has no line yet and gets one: the file that was read.
    case sound(FileIdentity)
    /// A large piece, which has not been read: the digests of its blocks of `Ledger.Entry.blockSize` bytes, and the file.
    case blocks([Digest], FileIdentity)
    /// Its bytes are wrong. In a writable store it is already removed.
    case damaged(PieceFault)
    /// Deleted or replaced meanwhile.
    case gone
    /// The folder or its ledger cannot be read now, for instance for want of descriptors.
    case unknown
}

/// Reads pieces before they are played, on a thread of its own: those that a player waits for first, then those that one will
/// request next. Pieces are read through the page cache, from which they are then sent.
final class PieceChecker: Sendable {
    private struct Job: Sendable {
        let folder: PieceDirectory
        let file: String
        let isWhole: Bool
        let done: @Sendable (PieceCheck) -> Void
    }

    private struct Queue {
        var urgent: [Job] = []
        var ahead: [Job] = []
        /// Blocks of large pieces.
        var blocks: [@Sendable () -> Void] = []
    }

    private let worker: WorkerThread<Queue>

    init() throws(StoreError) {
        worker = try WorkerThread("verify", Queue()) { queue, isStopping in
            if isStopping {
                return .end
            }
            if !queue.blocks.isEmpty {
                let block = queue.blocks.removeFirst()
                return .perform { _ in block() }
            }
            guard let job = queue.urgent.first ?? queue.ahead.first else {
                return .wait(milliseconds: nil)
            }
            if queue.urgent.isEmpty {
                queue.ahead.removeFirst()
            } else {
                queue.urgent.removeFirst()
            }
            return .perform { _ in job.done(job.folder.check(job.file, isWhole: job.isWhole)) }
        }
    }

    func check(
        _ file: String, in folder: PieceDirectory, isUrgent: Bool, isWhole: Bool,
        done: @escaping @Sendable (PieceCheck) -> Void
    ) {
        let job = Job(folder: folder, file: file, isWhole: isWhole, done: done)
        worker.withLock { queue in
            if isUrgent {
                queue.urgent.append(job)
            } else {
                queue.ahead.append(job)
            }
        }
        worker.signal()
    }

    /// Moves a job that was not urgent to the front.
    func expedite(_ file: String, in folder: PieceDirectory) {
        worker.withLock { queue in
            guard let index = queue.ahead.firstIndex(where: { $0.file == file && $0.folder === folder }) else { return }
            queue.urgent.append(queue.ahead.remove(at: index))
        }
    }

    func check(
        block: Range<Int64>, of descriptor: Int32, _ digest: Digest, done: @escaping @Sendable (Bool) -> Void
    ) {
        worker.withLock { queue in
            queue.blocks.append { done(Digest(of: descriptor, in: block) == digest) }
        }
        worker.signal()
    }

    func stop() { worker.stop() }
}

extension BundleStore {
    /// Verifies a piece before it is played, on a thread of the store. `done` is called on that thread.
    /// - Parameters:
    ///   - isUrgent: true if a player waits for it.
    ///   - isWhole: true to read a large piece too, instead of returning the digests of its blocks.
    package func check(
        _ file: String, in folder: PieceDirectory, isUrgent: Bool, isWhole: Bool = false,
        done: @escaping @Sendable (PieceCheck) -> Void
    ) {
        guard let checker = checker() else { return done(.unknown) }
        checker.check(file, in: folder, isUrgent: isUrgent, isWhole: isWhole, done: done)
    }

    /// Makes a check that is waiting urgent.
    public func expediteCheck(_ file: String, in folder: PieceDirectory) { checker()?.expedite(file, in: folder) }

    /// Compares a block of an open piece with its digest. `done` is called on a thread of the store; until then the caller
    /// keeps the descriptor open.
    public func check(
        block: Range<Int64>, of descriptor: Int32, _ digest: Digest, done: @escaping @Sendable (Bool) -> Void
    ) {
        guard let checker = checker() else { return done(false) }
        checker.check(block: block, of: descriptor, digest, done: done)
    }
}
