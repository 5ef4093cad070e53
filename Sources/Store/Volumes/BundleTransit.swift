import CLinux
import Glibc
import Synchronization

/// Copies a bundle to another disk: file by file into `tmp/` there, again until nothing has changed, and then renames the
/// copy in one step. Pieces are verified against the ledger on the way.
///
/// After a crash the rest is deleted when the volume is opened again. Concurrent calls wait for each other.
public final class BundleTransit: Sendable {
    private struct Copied {
        /// The source.
        let identity: FileIdentity
        /// The copy; nil if the system does not tell its status.
        let copy: FileIdentity?
        /// Nil for a file that is not a piece.
        let entry: Ledger.Entry?
    }

    private struct Progress {
        /// By folder and file. The bundle's own folder is the empty name.
        var copied: [String: [String: Copied]] = [:]
        /// The first copied name of each file that has further names.
        var shared: [FileIdentity.File: (folder: String, file: String)] = [:]
        var faults: [(folder: String, file: String)] = []
        var isCommitted = false
    }

    private let id: String
    private let source: Directory
    private let target: Volume
    private let temporary, assets: Directory
    private let name: String
    private let root: Directory
    private let isPiece: @Sendable (String) -> Bool
    private let ownChanges: OwnChanges
    private let progress = Mutex(Progress())

    /// Prepares a copy. `isPiece` returns true if a file of that name in a folder of the bundle is a piece. In `ownChanges` the
    /// copies are recorded whose bytes are those of the ledger.
    package init(
        of id: String, from origin: Volume, to target: Volume, noting ownChanges: OwnChanges,
        isPiece: @escaping @Sendable (String) -> Bool
    ) throws(StoreError) {
        self.id = id
        self.ownChanges = ownChanges
        self.target = target
        self.isPiece = isPiece
        source = try origin.bundle(id, create: false)
        let folders = try target.writable()
        temporary = folders.temporary
        assets = folders.assets
        guard try !target.hasBundle(id) else { throw StoreError(.exists, path: assets.path + "/" + id) }
        name = BundleStore.uniqueName("move-" + id)
        root = try temporary.subdirectory(name, create: true)
    }

    /// The pieces that were not copied, because they are damaged or unreadable.
    public var faults: [(folder: String, file: String)] { progress.withLock { $0.faults } }

    /// Copies the files that changed since the last pass, and removes the copies of deleted ones. Throws `busy` after a
    /// cancellation. `room`, called before each file, throws if nothing more may be written. Returns the number of copies.
    @discardableResult public func pass(
        _ pace: ReadingPace, room: () throws(StoreError) -> Void = {}
    ) throws(StoreError) -> Int {
        try progress.withLock { progress throws(StoreError) in
            try pass(pace, isLast: false, room: room, &progress)
        }
    }

    private func pass(
        _ pace: ReadingPace, isLast: Bool, room: () throws(StoreError) -> Void, _ progress: inout Progress
    ) throws(StoreError) -> Int {
        var count = 0
        let entries = try source.entries()
        let folders = entries.filter(\.isDirectory).map(\.name)
        for gone in Set(progress.copied.keys).subtracting(folders + [""]) {
            try root.removeTree(gone)
            progress.copied[gone] = nil
        }
        for folder in folders {
            let from = try source.subdirectory(folder)
            let to = try root.subdirectory(folder, create: true)
            let files = try from.entries().filter { !$0.isDirectory }.map(\.name)
            count += try pass(
                files, of: folder, from: from, to: to, at: pace, isLast: isLast, room: room, &progress)
        }
        // After all folders: a further name changes the status of a copy.
        for folder in folders where isLast {
            try writeLedger(of: folder, from: source.subdirectory(folder), to: root.subdirectory(folder), &progress)
        }
        let files = entries.filter { !$0.isDirectory }.map(\.name)
        count += try pass(files, of: "", from: source, to: root, at: pace, isLast: isLast, room: room, &progress)
        return count
    }

    private func pass(
        _ files: [String], of folder: String, from: Directory, to: Directory, at pace: ReadingPace, isLast: Bool,
        room: () throws(StoreError) -> Void, _ progress: inout Progress
    ) throws(StoreError) -> Int {
        var known = progress.copied[folder] ?? [:]
        for gone in Set(known.keys).subtracting(files) {
            try to.remove(gone)
            known[gone] = nil
        }
        defer { progress.copied[folder] = known }
        var count = 0
        for file in files where file != Ledger.fileName || folder.isEmpty {
            guard let status = from.status(of: file) else { continue }
            if known[file]?.identity == FileIdentity(status) {
                continue
            }
            try room()
            known[file] = nil
            let isPiece = !folder.isEmpty && isPiece(file)
            // Writing to the old file would change its other names too.
            try to.remove(file)
            if status.st_nlink > 1, let copy = try link(file, status, of: folder, to: to, known: known, after: progress)
            {
                count += 1
                known[file] = copy
                continue
            }
            guard let copy = try copy(file, from: from, to: to, isPiece: isPiece, at: pace) else {
                if isLast {
                    progress.faults.append((folder, file))
                }
                continue
            }
            count += 1
            known[file] = copy
            if status.st_nlink > 1 {
                progress.shared[copy.identity.file] = (folder, file)
            }
        }
        return count
    }

    /// Makes a further name of a copied file a name of its copy: the bytes are stored once there too.
    /// - Parameter known: what is copied of the same folder.
    /// - Returns: nil if no other name of it is copied as it is now, and where the disk has no hard links.
    private func link(
        _ file: String, _ status: stat, of folder: String, to: Directory, known: [String: Copied],
        after progress: Progress
    ) throws(StoreError) -> Copied? {
        let identity = FileIdentity(status)
        guard let first = progress.shared[identity.file] else { return nil }
        let isOfFolder = first.folder == folder
        var copies = known
        if !isOfFolder {
            copies = progress.copied[first.folder] ?? [:]
        }
        guard let copied = copies[first.file], copied.entry != nil, copied.identity.differsOnlyInStatus(from: identity)
        else { return nil }
        let directory = isOfFolder ? to : try root.subdirectory(first.folder)
        guard linkat(directory.descriptor, first.file, to.descriptor, file, 0) == 0 else { return nil }
        return Copied(identity: identity, copy: to.identity(of: file), entry: copied.entry)
    }

    /// - Returns: nil for a missing file and for an unreadable piece, whose copy is removed.
    private func copy(
        _ file: String, from: Directory, to: Directory, isPiece: Bool, at pace: ReadingPace
    ) throws(StoreError) -> Copied? {
        guard let opened = from.openIfPresent(file) else { return nil }
        defer { close(opened) }
        let path = to.path + "/" + file
        let target = try to.open(file, flags: O_WRONLY | O_CREAT | O_TRUNC)
        defer { close(target) }
        var status = stat()
        let sourcePath = from.path + "/" + file
        guard fstat(opened, &status) == 0 else { throw StoreError(path: sourcePath) }
        let entry: Ledger.Entry
        do throws(StoreError) {
            entry = try FileCopy.hashed(opened, sourcePath: sourcePath, to: target, path: path, pace)
        } catch {
            guard isPiece, error.path == sourcePath else { throw error }
            try to.remove(file)
            return nil
        }
        // Keep played files in the page cache instead of this one; and copy the time of the last playback.
        posix_fadvise(opened, 0, 0, POSIX_FADV_DONTNEED)
        futimens(target, [status.st_atim, status.st_mtim])
        // Only pieces have lines in the ledger.
        let line = isPiece ? entry : nil
        return Copied(identity: FileIdentity(status), copy: FileIdentity(of: target), entry: line)
    }

    /// Writes a ledger with a line for each copied piece. A piece that does not match its old line is removed again.
    private func writeLedger(
        of folder: String, from: Directory, to: Directory, _ progress: inout Progress
    ) throws(StoreError) {
        guard let bytes = try from.read(Ledger.fileName) else { return }
        let ledger = Ledger(bytes)
        var lines: [UInt8] = []
        for (file, copy) in (progress.copied[folder] ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard let entry = copy.entry else { continue }
            if let line = ledger.entries[file], line != entry {
                try to.remove(file)
                progress.faults.append((folder, file))
            } else {
                lines += Ledger.lines(of: file, entry)
                if let arrived = to.identity(of: file) ?? copy.copy {
                    ownChanges.record(from: copy.identity, to: arrived)
                }
            }
        }
        try to.write(lines, as: Ledger.fileName)
    }

    /// Syncs the copies. Called before the last pass, which then has little to sync.
    public func sync() throws(StoreError) { try BundleStore.syncDisk(of: root) }

    /// Copies the rest, and renames the copy to the bundle's path, synced. The bundle must not change meanwhile, and
    /// all its pieces must have their lines. Throws `exists` if there is a bundle of that id.
    public func commit(_ pace: ReadingPace) throws(StoreError) {
        try progress.withLock { progress throws(StoreError) in
            _ = try pass(pace, isLast: true, room: {}, &progress)
            try sync()
            do throws(StoreError) {
                try temporary.move(name, to: assets, as: id)
            } catch {
                throw error.renaming(to: assets.path + "/" + id)
            }
            progress.isCommitted = true
        }
        guard fsync(assets.descriptor) == 0 else { throw StoreError(path: assets.path) }
    }

    /// Removes the copy.
    public func discard() {
        guard progress.withLock({ $0.isCommitted }) else {
            try? temporary.removeTree(name)
            return
        }
        // The copy has the bundle's name already. It gets a temporary one, so that no half of it is seen as a bundle.
        guard let aside = try? target.setAside(id) else { return }
        try? temporary.removeTree(aside)
    }
}
