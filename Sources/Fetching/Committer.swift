package import EventLoop
import Store

/// Hands files that are whole to the store's own thread, which makes pieces of them: the loop does not wait for the disk.
///
/// Those of one turn of the loop go together, and what became of them comes back together. More together would cost less
/// in waking threads, and more time: where there are two processors the origin's turn would come late.
@LoopActor package final class Committer {
    private typealias Ending = (StoreError?) -> Void

    private let store: Store
    private var waiting: [(commit: Store.Commit, ending: Ending)] = []
    /// The bytes that are no pieces yet.
    private var bytes = 0
    private var turn: LoopTimer?

    /// So many bytes may wait before whoever brings more should wait too.
    private static let limit = 8 << 20

    init(store: Store) {
        self.store = store
        turn = LoopTimer { [weak self] in self?.send() }
    }

    /// Whether the disk keeps up, so that more may be fetched meanwhile.
    var hasRoom: Bool { bytes < Self.limit }

    /// Makes a piece of a file, and calls back later: with nil once it is one, with what went wrong else.
    func commit(
        _ file: GatheredFile, to folder: PieceDirectory, as target: String, ended: @escaping (StoreError?) -> Void
    ) {
        let count = file.count
        bytes += count
        waiting.append(
            (
                Store.Commit(file, to: folder, as: target),
                { [self] failure in
                    bytes -= count
                    ended(failure)
                }
            ))
        turn?.fireSoon()
    }

    /// Waits until all that was handed over is a piece, or is not to be one, and whoever waits for it knows.
    package func settle() async {
        // What failed may be tried again.
        while bytes > 0 {
            send()
            await store.finishCommits()  // What came of it was put on the loop before this goes on.
        }
    }

    private func send() {
        guard !waiting.isEmpty else { return }
        let batch = waiting
        waiting = []
        let endings = Endings(batch.map(\.ending))
        store.commit(batch.map(\.commit)) { failures in
            Task { @LoopActor in endings.tell(failures) }
        }
    }

    /// Who waits for the files of one batch.
    @LoopActor private final class Endings {
        private let all: [Ending]

        init(_ all: [Ending]) { self.all = all }

        func tell(_ failures: [StoreError?]) {
            for (ending, failure) in zip(all, failures) { ending(failure) }
        }
    }
}
