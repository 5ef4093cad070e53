package import EventLoop
import Store

/// Passes complete files to the store's own thread, which commits them as pieces. The loop does not wait for the disk.
/// The files of one turn of the loop form one batch, and their results return together. Larger batches would need fewer
/// wakeups of threads, but more time: on two processors the transfers from the origin would be delayed.
@LoopActor package final class Committer {
    /// The piece's identity, if it is known.
    typealias Outcome = Result<FileIdentity?, StoreError>
    private typealias Ending = (Outcome) -> Void

    private let store: BundleStore
    private var waiting: [(commit: BundleStore.Commit, ending: Ending)] = []
    private var bytes = 0
    private var turn: LoopTimer?
    /// Limit of uncommitted bytes; above it, callers should wait before they fetch more.
    private static let limit = 8 << 20

    init(store: BundleStore) {
        self.store = store
        turn = LoopTimer { [weak self] in self?.send() }
    }

    /// The reason why nothing more may be written to the disk of a folder; nil while there is room.
    func roomFailure(in folder: PieceFolder) -> StoreError? {
        do {
            try store.checkRoom(in: folder.volume)
            return nil
        } catch {
            return error
        }
    }

    /// True if the disk keeps up, so that more may be fetched.
    var hasRoom: Bool { bytes < Self.limit }

    /// Commits a file as a piece, and calls back later: once the piece is stored, or with the error.
    func commit(
        _ file: GatheredFile, to folder: PieceDirectory, as target: String, ended: @escaping (Outcome) -> Void
    ) {
        let count = file.count
        bytes += count
        waiting.append(
            (
                BundleStore.Commit(file, to: folder, as: target),
                { [self] outcome in
                    bytes -= count
                    ended(outcome)
                }
            ))
        turn?.fireSoon()
    }

    /// Waits until all files are committed or have failed, and their callers have been called back.
    package func finish() async {
        // A callback may retry a failed commit.
        while bytes > 0 {
            send()
            await store.finishCommits()  // The results are on the loop before this resumes.
        }
    }

    private func send() {
        guard !waiting.isEmpty else { return }
        let batch = waiting
        waiting = []
        let endings = Endings(batch.map(\.ending))
        store.commit(batch.map(\.commit)) { outcomes in
            Task { @LoopActor in endings.report(outcomes) }
        }
    }

    @LoopActor private final class Endings {
        private let all: [Ending]

        init(_ all: [Ending]) { self.all = all }

        func report(_ outcomes: [Outcome]) {
            for (ending, outcome) in zip(all, outcomes) {
                ending(outcome)
            }
        }
    }
}
