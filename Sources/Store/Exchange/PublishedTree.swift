import CLinux
import Glibc
import Synchronization

/// A folder outside the store that is updated file by file. Each file is replaced in one step, and a file that is up to date
/// stays. One thread at a time writes and deletes; any thread may cancel.
///
/// A file with a ledger line was synced and is not read again; another one is. Nothing is written or deleted through a link.
public final class PublishedTree: Sendable {
    private let path: String
    private let opened = Mutex(Opened())
    private let isCancelled = Mutex(false)

    private struct Opened {
        var root: Directory?
        var folders: [String: Directory] = [:]
    }

    /// The name of a file that is being written.
    private static let partName = "weir-part"
    /// Makes a tree at an absolute path; nothing is opened yet.
    public init(_ path: String) { self.path = path }
    /// Cancels `put`, which ends at the next file.
    public func cancel() { isCancelled.withLock { $0 = true } }

    /// Opens and locks the folder, and creates it if it is missing. Its parent must exist. `recordName` is a file whose
    /// contents are returned; nil if it is missing. Throws `busy` during another publication to it.
    public func open(recordName: String) throws(StoreError) -> (isEmpty: Bool, record: [UInt8]?) {
        if mkdir(path, 0o755) == 0 {
            chmod(path, 0o755)
        } else if errno != EEXIST {
            throw StoreError(path: path)
        }
        let root = try Directory.existing(path: path)
        guard flock(root.descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw StoreError(.busy, path: path, detail: "another publication to it is in progress")
        }
        opened.withLock { $0.root = root }
        return (try root.names().allSatisfy { $0 == Self.partName }, try root.read(recordName))
    }

    /// Writes missing and different files. `done` is called after each file, with true if it was written.
    public func put(_ items: [ExportContents.Item], done: (ExportContents.Item, Bool) -> Void) throws(StoreError) {
        var known: [String: Ledger] = [:]
        var voided: Set<String> = []
        for item in items {
            if isCancelled.withLock({ $0 }) {
                throw StoreError(.program, path: path, detail: "canceled")
            }
            let folder = try directory(item.folder)
            // Sync the files before the ledger says that they are synced.
            if item.name == Ledger.fileName, weir_syncfs(folder.descriptor) != 0 {
                throw StoreError(path: folder.path)
            }
            let name = item.folder ?? ""
            if known[name] == nil {
                known[name] = Ledger(try folder.read(Ledger.fileName) ?? [])
            }
            if try isThere(item, in: folder, known[name]) {
                done(item, false)
            } else {
                if case .piece = item.source, known[name]?.entries[item.name] != nil, voided.insert(name).inserted {
                    // Delete the ledger first: after a kill no line may describe the old file.
                    try folder.remove(Ledger.fileName)
                }
                try put(item, in: folder)
                done(item, true)
            }
        }
    }

    private func isThere(_ item: ExportContents.Item, in folder: Directory, _ ledger: Ledger?) throws(StoreError)
        -> Bool
    {
        guard let file = folder.open(item.name, length: item.size) else { return false }
        defer { close(file) }
        if case .piece = item.source, let entry = ledger?.entries[item.name], entry.size == item.size {
            return entry.digest == item.digest
        }
        return try Digest(of: file, path: folder.path + "/" + item.name) == item.digest
    }

    private func put(_ item: ExportContents.Item, in folder: Directory) throws(StoreError) {
        let part = try folder.open(Self.partName, flags: O_RDWR | O_CREAT | O_TRUNC, mode: 0o644)
        defer { close(part) }
        // A service has a umask that hides files from other users, such as that of a web server.
        fchmod(part, 0o644)
        do throws(StoreError) {
            try fill(part, with: item, folder.path + "/" + item.name)
            try folder.move(Self.partName, to: folder, as: item.name)
        } catch {
            try? folder.remove(Self.partName)
            throw error
        }
    }

    private func fill(_ part: Int32, with item: ExportContents.Item, _ path: String) throws(StoreError) {
        if case .text(let bytes) = item.source {
            guard Directory.write(bytes, to: part) else { throw StoreError(path: path) }
            return
        }
        guard let source = try item.open() else { return }
        defer { close(source) }
        try FileCopy.copyWhole(source, count: item.size, to: part, path: path)
        guard try Digest(of: part, path: path) == item.digest else {
            throw StoreError(.wrongLength, path: item.path, detail: "the stored piece is damaged")
        }
    }

    /// Deletes files, and folders that become empty.
    public func delete(_ paths: [String]) throws(StoreError) {
        guard let root = opened.withLock({ $0.root }) else { return }
        for path in paths {
            let parts = path.split(separator: "/").map(String.init)
            guard let name = parts.last else { continue }
            let folder: Directory
            do throws(StoreError) {
                if parts.count > 1 {
                    folder = try root.subdirectory(parts[0])
                } else {
                    folder = root
                }
            } catch {
                if error.code == .missing {
                    continue
                }
                throw error
            }
            try folder.remove(name)
            if parts.count > 1 {
                unlinkat(root.descriptor, parts[0], AT_REMOVEDIR)
            }
        }
    }

    private func directory(_ name: String?) throws(StoreError) -> Directory {
        try opened.withLock { opened throws(StoreError) in
            guard let root = opened.root else { throw StoreError(.missing, path: path) }
            guard let name else { return root }
            if let known = opened.folders[name] {
                return known
            }
            let folder = try root.subdirectory(name, create: true, mode: 0o755)
            // Fails for a folder of another user, who decides.
            fchmod(folder.descriptor, 0o755)
            opened.folders[name] = folder
            return folder
        }
    }
}
