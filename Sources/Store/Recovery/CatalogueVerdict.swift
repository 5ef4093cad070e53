import GRDB
import Synchronization

/// What SQLite finds wrong with a catalogue's file, found out on a thread of its own: all of the file is read for it, and
/// its rows can be read meanwhile.
final class CatalogueVerdict {
    private final class Finding: Sendable {
        /// nil where it was not found out; otherwise as `CatalogueReading.verdict`.
        let text = Mutex<String??>(nil)
    }

    private let finding = Finding()
    private var thread: StoreThread?

    /// Begins, with a file that nobody writes.
    init(on path: String) {
        // Without a thread it is found out by whoever asks.
        thread = try? StoreThread("verdict") { [finding] in
            var configuration = Configuration()
            configuration.readonly = true
            guard let queue = try? DatabaseQueue(path: path, configuration: configuration) else { return }
            let verdict = try? queue.read(CatalogueReading.verdict)
            finding.text.withLock { $0 = verdict }
        }
    }

    deinit { thread?.join() }

    /// Waits for it; nil where it could not be found out this way.
    func result() -> String?? {
        thread?.join()
        thread = nil
        return finding.text.withLock { $0 }
    }
}
