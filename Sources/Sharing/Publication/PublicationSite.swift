import EventLoop
import Store

/// The target of a publication. The calls do not overlap.
@LoopActor protocol PublicationSite: AnyObject {
    /// The address for messages, without secrets.
    nonisolated var address: String { get }
    /// Reads the record at the target, and locks the target against other publications if possible.
    func open() async throws(ExchangeError) -> PublicationFinding
    /// Sends files, except for those that are up to date at the target. Each appears completely or not at all.
    ///
    /// - Parameter done: called for each file at the target; `isSent` is false if it was up to date.
    func put(
        _ items: [ExportContents.Item], done: @escaping @LoopActor (ExportContents.Item, _ isSent: Bool) -> Void
    ) async throws(ExchangeError)
    /// Deletes files of an earlier publication, and empty folders where that is safe.
    func delete(_ paths: [String]) async throws(ExchangeError)
    /// Cancels the call in progress as soon as possible: it throws `cancelled`.
    func cancel()
}

extension PublicationSite {
    /// Runs blocking work on a thread for the disk.
    nonisolated func onDisk<Value: Sendable>(
        _ body: @escaping @Sendable () throws(StoreError) -> Value
    ) async throws(ExchangeError) -> Value {
        do {
            return try await DiskWork.run(body)
        } catch {
            throw ExchangeError(leaving: error, "nothing more is published to \(address)")
        }
    }
}

struct PublicationFinding: Sendable {
    /// True if the target has no files at all.
    let isEmpty: Bool
    /// The text of `weir-published.txt`; nil if there is none.
    let record: [UInt8]?
}

@LoopActor final class FolderSite: PublicationSite {
    nonisolated let address: String
    private let tree: PublishedTree

    init(_ path: String) {
        address = path
        tree = PublishedTree(path)
    }

    func open() async throws(ExchangeError) -> PublicationFinding {
        try await onDisk { [tree] () throws(StoreError) in
            let (isEmpty, record) = try tree.open(recordName: PublicationRecord.fileName)
            return PublicationFinding(isEmpty: isEmpty, record: record)
        }
    }

    func put(
        _ items: [ExportContents.Item], done: @escaping @LoopActor (ExportContents.Item, Bool) -> Void
    ) async throws(ExchangeError) {
        try await onDisk { [tree] () throws(StoreError) in
            try tree.put(items) { item, isSent in Task { @LoopActor in done(item, isSent) } }
        }
    }

    func delete(_ paths: [String]) async throws(ExchangeError) {
        try await onDisk { [tree] () throws(StoreError) in try tree.delete(paths) }
    }

    func cancel() { tree.cancel() }
}
