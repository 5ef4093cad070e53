import EventLoop
import Store
import Synchronization

/// A folder on this disk as a place to publish to.
@LoopActor final class FolderSite: PublicationSite {
    nonisolated let place: String
    private let tree: PublishedTree

    init(_ path: String) {
        place = path
        tree = PublishedTree(path)
    }

    func look() async throws(LibraryError) -> PublicationFinding {
        try await doing { tree throws(StoreError) in
            let (isEmpty, record) = try tree.open(recordName: PublicationRecord.fileName)
            return PublicationFinding(isEmpty: isEmpty, record: record)
        }
    }

    func put(
        _ items: [ExportContents.Item], done: @escaping @LoopActor (ExportContents.Item, Bool) -> Void
    ) async throws(LibraryError) {
        try await doing { tree throws(StoreError) in
            try tree.put(items) { item, isSent in Task { @LoopActor in done(item, isSent) } }
        }
    }

    func delete(_ paths: [String]) async throws(LibraryError) {
        try await doing { tree throws(StoreError) in try tree.delete(paths) }
    }

    func cancel() { tree.cancel() }

    private nonisolated func doing<Value: Sendable>(
        _ body: @escaping @Sendable (PublishedTree) throws(StoreError) -> Value
    ) async throws(LibraryError) -> Value {
        do {
            return try await DiskWork.run { [tree] () throws(StoreError) in try body(tree) }
        } catch {
            throw LibraryError(leaving: error, "nothing more is published to \(place)")
        }
    }
}
