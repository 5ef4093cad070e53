import CLinux
import Glibc
import Synchronization

/// A bundle that comes from elsewhere and is not there yet: its pieces gather in `tmp/`, with their ledgers, and get
/// their place in one step when all of them are there and outlive a loss of power.
///
/// What a crash leaves of it goes at the next start.
public final class StagedBundle: Sendable {
    private let store: Directory
    private let temporary: Directory
    private let assets: Directory
    /// The id of the asset that it is to be.
    public let id: String
    private let root: Directory
    /// What it is called until then: two that are to have one id may be on their way.
    private let name: String
    private let folders = Mutex<[String: Folder]>([:])

    private struct Folder {
        let directory: Directory
        /// Of its ledger.
        var lines: [UInt8] = []
    }

    init(id: String, store: Directory, temporary: Directory, assets: Directory) throws(StoreError) {
        (self.id, self.store, self.temporary, self.assets) = (id, store, temporary, assets)
        name = Store.uniqueName("import-" + id)
        root = try temporary.subdirectory(name, create: true)
    }

    /// Adds a piece that is a copy of a file, or of a part of it.
    ///
    /// - Parameters:
    ///   - source: the file, borrowed.
    ///   - expected: what it must be; nil where nobody knows.
    /// - Throws: `wrongLength` where the file ends before the range does, `contentChanged` where it is not what is
    ///   expected, both about `path`.
    public func add(
        _ file: String, to folder: String, from source: Int32, _ range: Range<Int64>, expecting expected: Digest? = nil,
        path: String
    ) throws(StoreError) {
        let directory = try self.directory(folder)
        let target = try directory.open(file, flags: O_RDWR | O_CREAT | O_TRUNC)
        defer { close(target) }
        try FileCopy.copy(
            source, from: range.lowerBound, count: Int64(range.count), to: target, path: path)
        let digest = try Digest(of: target, path: path)
        if let expected, expected != digest {
            throw StoreError(.contentChanged, path: path, detail: "not what \(Ledger.fileName) beside it says")
        }
        let line = Ledger.lines(of: file, Ledger.Entry(size: Int64(range.count), digest: digest))
        folders.withLock { $0[folder]?.lines += line }
    }

    /// Adds a text, or another small file that is no piece.
    ///
    /// - Parameter folder: nil for the top.
    public func add(_ bytes: [UInt8], as file: String, to folder: String? = nil) throws(StoreError) {
        let directory = if let folder { try self.directory(folder) } else { root }
        try directory.write(bytes, as: file)
    }

    private func directory(_ name: String) throws(StoreError) -> Directory {
        try folders.withLock { folders throws(StoreError) in
            if let known = folders[name] { return known.directory }
            let directory = try root.subdirectory(name, create: true)
            folders[name] = Folder(directory: directory)
            return directory
        }
    }

    /// Gets its place, once everything in it outlives a loss of power.
    ///
    /// - Throws: `exists` when there is a bundle of that id.
    public func settle() throws(StoreError) {
        for folder in folders.withLock({ $0.values.map(\.self) }) {
            try folder.directory.write(folder.lines, as: Ledger.fileName)
        }
        guard weir_syncfs(store.descriptor) == 0 else { throw StoreError(path: root.path) }
        do {
            try temporary.move(name, to: assets, as: id)
        } catch {
            // rename(2) says either where a folder with something in it would have to go.
            throw error.errno == ENOTEMPTY ? StoreError(.exists, path: assets.path + "/" + id) : error
        }
        fsync(assets.descriptor)
    }

    /// Takes away what has come so far.
    public func discard() { try? temporary.removeTree(name) }
}
