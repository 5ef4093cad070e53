import FoundationEssentials
import Synchronization

/// A removed asset whose folder may be on a volume that was away then. The folder is removed once the volume is back.
public struct AwaitedRemoval: Codable, Hashable, Sendable, CatalogueRow {
    static let table = "removal"
    static let keyCount = 2
    static let columns: [RowColumn<Self>] = [
        .init("asset", \.asset), .init("mark", \.mark), .init("path", \.path),
    ]
    static let blank = AwaitedRemoval(asset: "", mark: "", path: "")

    /// The removed asset's id.
    public internal(set) var asset: String
    /// The mark of the volume.
    var mark: String
    /// The path of the volume, as last known.
    var path: String
}

/// The removals that wait for volumes. They are in the catalogue, and in a file of the state folder, which is still there when
/// the catalogue is lost and made again from the bundles.
final class AwaitedRemovals: Sendable {
    static let fileName = "removals.json"
    private let folder: String?
    private let state: Mutex<Set<AwaitedRemoval>>

    /// `folder` is the path of the state folder; nil to keep nothing there.
    init(inCatalogue known: [AwaitedRemoval], folder: String?) {
        self.folder = folder
        let bytes = folder.flatMap { try? Directory.existing(path: $0).read(Self.fileName) }
        let written = bytes.flatMap { try? JSONDecoder().decode([AwaitedRemoval].self, from: Data($0)) }
        state = Mutex(Set(known).union(written ?? []))
    }

    var all: Set<AwaitedRemoval> { state.withLock { $0 } }

    func contains(_ id: String) -> Bool { state.withLock { $0.contains { $0.asset == id } } }

    /// Replaces the removals of an asset. Waits for the disk.
    func set(_ removals: [AwaitedRemoval], of id: String) throws(StoreError) {
        try state.withLock { state throws(StoreError) in
            let next = state.filter { $0.asset != id }.union(removals)
            guard next != state else { return }
            try write(next)
            state = next
        }
    }

    private func write(_ removals: Set<AwaitedRemoval>) throws(StoreError) {
        guard let path = folder else { return }
        let folder = try Directory.existing(path: path)
        guard !removals.isEmpty else { return try folder.remove(Self.fileName) }
        let sorted = removals.sorted { ($0.asset, $0.mark) < ($1.asset, $1.mark) }
        guard let text = try? JSONEncoder().encode(sorted) else {
            throw StoreError(.io, path: folder.path + "/" + Self.fileName)
        }
        try folder.replace(Self.fileName, by: Array(text) + Array("\n".utf8))
    }
}
