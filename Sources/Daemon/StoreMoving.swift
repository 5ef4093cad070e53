internal import Store
internal import Synchronization

/// Moves the whole store to another folder while no daemon uses it.
package final class StoreMoving: Sendable {
    package struct Result: Sendable {
        package let path: String
        package let bytes: Int64
        /// Number of damaged pieces; they were copied as they are.
        package let damaged: Int
    }

    private let store: String
    private let path: String
    private let pace: ReadingPace
    private let total = Atomic<Int64>(0)

    /// Creates a move to an absolute path that has not begun.
    package init(_ configuration: Configuration, to path: String) throws(ApplicationError) {
        store = configuration.store
        self.path = path
        do { pace = try ReadingPace(bytesPerSecond: 0) } catch { throw Self.failure(error, configuration.store) }
    }

    package var bytes: Int64 { pace.bytes }
    package var totalBytes: Int64 { total.load(ordering: .relaxed) }
    package var isCancelled: Bool { pace.isCancelled }

    /// Cancels the move. The next move to the same folder continues with the copied files.
    package func cancel() { pace.cancel() }

    package func run() async throws(ApplicationError) -> Result {
        do {
            return try await DiskWork.run { [self] () throws(StoreError) in
                var move = try StoreMove(from: store, to: path, pace: pace)
                total.store(move.totalBytes, ordering: .relaxed)
                try move.run()
                return Result(path: move.path, bytes: move.totalBytes, damaged: move.damaged)
            }
        } catch {
            throw Self.failure(error, store)
        }
    }

    private static func failure(_ error: StoreError, _ store: String) -> ApplicationError {
        let next: String? =
            switch error.code {
            case .busy: "end the daemon, for example with: systemctl --user stop weir; then repeat the command"
            case .diskFull: "use a disk with more space"
            case .exists, .badName, .notWritable: "name a new folder on the other disk"
            case .missing: "name the store's folder with --store DIR"
            default: nil
            }
        var reason = "\(error)"
        if error.code == .busy, error.detail == nil {
            reason = "another daemon uses it"
        }
        return ApplicationError(.store, "the store \(store) was not moved: \(reason)", next: next, underlying: error)
    }
}
