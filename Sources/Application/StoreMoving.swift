internal import Store
internal import Synchronization

/// Moves the whole store to another folder while no daemon uses it.
public final class StoreMoving: Sendable {
    /// Result of a move.
    public struct Result: Sendable {
        /// Path of the moved store, with links resolved.
        public let path: String
        /// Bytes of the moved files.
        public let bytes: Int64
        /// Number of damaged pieces; they were copied as they are.
        public let damaged: Int
    }

    private let store: String
    private let path: String
    private let pace: ReadingPace
    private let total = Atomic<Int64>(0)

    /// Creates a move that has not begun.
    ///
    /// - Parameters:
    ///   - configuration: names the current folder of the store.
    ///   - path: the absolute path of the new folder.
    public init(_ configuration: Configuration, to path: String) throws(ApplicationError) {
        (store, self.path) = (configuration.store, path)
        do { pace = try ReadingPace(bytesPerSecond: 0) } catch { throw Self.failure(error, configuration.store) }
    }

    /// Bytes copied so far.
    public var bytes: Int64 { pace.bytes }

    /// Total bytes; 0 until they are known.
    public var totalBytes: Int64 { total.load(ordering: .relaxed) }

    /// True if the move was cancelled.
    public var isCancelled: Bool { pace.isCancelled }

    /// Cancels the move. The next move to the same folder continues with the copied files.
    public func cancel() { pace.cancel() }

    /// Runs the move, or continues an interrupted one.
    public func run() async throws(ApplicationError) -> Result {
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
            case .busy: "end the daemon, for instance with: systemctl --user stop weir; then the same command again"
            case .diskFull: "a disk with more room"
            case .exists, .badName, .notWritable: "a new folder on the other disk"
            case .missing: "say where the store is with: --store DIR"
            default: nil
            }
        let reason = error.code == .busy && error.detail == nil ? "another weir has it" : "\(error)"
        return ApplicationError(
            .store, "the store \(store) stays where it is: \(reason)", next: next, underlying: error)
    }
}
