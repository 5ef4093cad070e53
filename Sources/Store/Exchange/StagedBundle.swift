import CLinux
import Glibc
import Synchronization

/// An imported bundle that is not visible yet. It is written into `tmp/`, and becomes a bundle by a rename once it is synced.
///
/// After a crash the next start deletes the rest.
public final class StagedBundle: Sendable {
    private let store, temporary, assets: Directory
    /// The new asset's id.
    public let id: String
    private let root: Directory
    /// The temporary name: several bundles with one id may be staged at the same time.
    private let name: String
    private let folders = Mutex<[String: Folder]>([:])

    private struct Folder {
        let directory: Directory
        var lines: [UInt8] = []
    }

    init(id: String, store: Directory, temporary: Directory, assets: Directory) throws(StoreError) {
        self.id = id
        self.store = store
        self.temporary = temporary
        self.assets = assets
        name = BundleStore.uniqueName("import-" + id)
        root = try temporary.subdirectory(name, create: true)
    }

    /// Adds a piece: a copy of a file or of a part of it. `source` is the open file, owned by the caller. `expected` is
    /// the expected SHA-256; nil if unknown. Throws `wrongLength` if the file is shorter than the range,
    /// `contentChanged` for another SHA-256, both with `path`.
    public func add(
        _ file: String, to folder: String, from source: Int32, _ range: Range<Int64>, expecting expected: Digest? = nil,
        path: String
    ) throws(StoreError) {
        let directory = try self.directory(folder)
        let target = try directory.open(file, flags: O_RDWR | O_CREAT | O_TRUNC)
        defer { close(target) }
        try FileCopy.copy(source, from: range.lowerBound, count: Int64(range.count), to: target, path: path)
        let entry = try Ledger.Entry(reading: target, length: Int64(range.count), path: path)
        if let expected, expected != entry.digest {
            throw StoreError(.contentChanged, path: path, detail: "not what \(Ledger.fileName) beside it says")
        }
        let line = Ledger.lines(of: file, entry)
        folders.withLock { $0[folder]?.lines += line }
    }

    /// Adds a text or another small file that is not a piece. `folder` is nil for the top.
    public func add(_ bytes: [UInt8], as file: String, to folder: String? = nil) throws(StoreError) {
        let directory = if let folder { try self.directory(folder) } else { root }
        try directory.write(bytes, as: file)
    }

    private func directory(_ name: String) throws(StoreError) -> Directory {
        try folders.withLock { folders throws(StoreError) in
            if let known = folders[name] {
                return known.directory
            }
            let directory = try root.subdirectory(name, create: true)
            folders[name] = Folder(directory: directory)
            return directory
        }
    }

    /// Syncs the bundle, and makes it visible. Throws `exists` if there is a bundle of that id.
    public func commit() throws(StoreError) {
        for folder in folders.withLock({ $0.values.map(\.self) }) {
            try folder.directory.write(folder.lines, as: Ledger.fileName)
        }
        guard weir_syncfs(store.descriptor) == 0 else { throw StoreError(path: root.path) }
        do {
            try temporary.move(name, to: assets, as: id)
        } catch {
            throw error.renaming(to: assets.path + "/" + id)
        }
        fsync(assets.descriptor)
    }

    /// Deletes the files written so far.
    public func discard() { try? temporary.removeTree(name) }
}
