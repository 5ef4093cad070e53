import CLinux
import Glibc
import Synchronization

/// A bundle on its way to another disk: copied file by file into `tmp/` there, looked through again until it is the same, and
/// then put in its place in one step. What is copied is held against the ledger meanwhile.
///
/// What a crash leaves of it goes when the place is opened again. One thread at a time works on it: another one waits.
public final class BundleTransit: Sendable {
    /// What one file was when it was copied.
    private struct Copied {
        let stamp: Stamp
        /// Of a piece.
        let entry: Ledger.Entry?
    }

    /// What tells one state of a file from another.
    private struct Stamp: Equatable {
        let inode: UInt
        let size: Int64
        let seconds: Int
        let nanoseconds: Int

        init(_ status: stat) {
            (inode, size) = (UInt(status.st_ino), Int64(status.st_size))
            (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
        }
    }

    /// What has come so far.
    private struct Progress {
        /// By folder, the bundle's own being the empty name, and file.
        var copied: [String: [String: Copied]] = [:]
        var faults: [(folder: String, file: String)] = []
        var isSettled = false
    }

    private let id: String
    private let source: Directory
    private let target: BundlePlace
    private let temporary: Directory
    private let assets: Directory
    private let name: String
    private let root: Directory
    private let isPiece: @Sendable (String) -> Bool
    private let progress = Mutex(Progress())

    /// Begins with nothing copied.
    ///
    /// - Parameter isPiece: whether a file of that name in a folder of the bundle is a piece.
    public init(
        of id: String, from place: BundlePlace, to target: BundlePlace, isPiece: @escaping @Sendable (String) -> Bool
    ) throws(StoreError) {
        (self.id, self.target, self.isPiece) = (id, target, isPiece)
        source = try place.bundle(id, create: false)
        let folders = try target.writable()
        (temporary, assets) = (folders.temporary, folders.assets)
        guard try !target.hasBundle(id) else { throw StoreError(.exists, path: assets.path + "/" + id) }
        name = Store.uniqueName("move-" + id)
        root = try temporary.subdirectory(name, create: true)
    }

    /// The pieces that were not what the ledger says, or could not be read, and did not come along.
    public var faults: [(folder: String, file: String)] { progress.withLock { $0.faults } }

    /// Copies what is new or another one since the last pass, and takes away what is gone.
    ///
    /// - Parameters:
    ///   - pace: where it is given up, the pass ends with `busy`.
    ///   - room: throws when no more may be written; asked before each file.
    /// - Returns: how many files were copied.
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
            let (from, to) = (try source.subdirectory(folder), try root.subdirectory(folder, create: true))
            let files = try from.entries().filter { !$0.isDirectory }.map(\.name)
            count += try pass(files, folder, from: from, to: to, pace, isLast, room, &progress)
            if isLast { try writeLedger(of: folder, from: from, to: to, &progress) }
        }
        let files = entries.filter { !$0.isDirectory }.map(\.name)
        return count + (try pass(files, "", from: source, to: root, pace, isLast, room, &progress))
    }

    private func pass(
        _ files: [String], _ folder: String, from: Directory, to: Directory, _ pace: ReadingPace, _ isLast: Bool,
        _ room: () throws(StoreError) -> Void, _ progress: inout Progress
    ) throws(StoreError) -> Int {
        var known = progress.copied[folder] ?? [:]
        for gone in Set(known.keys).subtracting(files) {
            try to.remove(gone)
            known[gone] = nil
        }
        defer { progress.copied[folder] = known }
        var count = 0
        for file in files where file != Ledger.fileName || folder.isEmpty {
            var status = stat()
            guard fstatat(from.descriptor, file, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
            if known[file]?.stamp == Stamp(status) { continue }
            try room()
            known[file] = nil
            let isPiece = !folder.isEmpty && isPiece(file)
            guard let copy = try copy(file, from: from, to: to, isPiece: isPiece, pace) else {
                if isLast { progress.faults.append((folder, file)) }
                continue
            }
            count += 1
            known[file] = copy
        }
        return count
    }

    /// - Returns: nil for a file that is gone, and for a piece that cannot be read; nothing of it is left then.
    private func copy(
        _ file: String, from: Directory, to: Directory, isPiece: Bool, _ pace: ReadingPace
    ) throws(StoreError) -> Copied? {
        guard let opened = from.openIfPresent(file) else { return nil }
        defer { close(opened) }
        let path = to.path + "/" + file
        let target = try to.open(file, flags: O_WRONLY | O_CREAT | O_TRUNC)
        defer { close(target) }
        var digest = DigestState()
        var (status, offset) = (stat(), off_t(0))
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        guard fstat(opened, &status) == 0 else { throw StoreError(path: from.path + "/" + file) }
        while true {
            guard pace.goOn() else { throw StoreError(.busy, path: path, detail: "given up") }
            let count = pread(opened, &buffer, buffer.count, offset)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                let error = StoreError(path: from.path + "/" + file)
                guard isPiece else { throw error }
                try to.remove(file)
                return nil
            }
            guard count > 0 else { break }
            if isPiece { buffer.withUnsafeBytes { digest.add(UnsafeRawBufferPointer(rebasing: $0[..<count])) } }
            guard FileCopy.write(buffer, count, to: target) else { throw StoreError(path: path) }
            offset += off_t(count)
            _ = pace.goOn(after: count)
        }
        // What is read once is not to push out of memory what is played; and when it was last played moves along.
        posix_fadvise(opened, 0, 0, POSIX_FADV_DONTNEED)
        futimens(target, [status.st_atim, status.st_mtim])
        let entry = isPiece ? Ledger.Entry(size: Int64(offset), digest: digest.digest) : nil
        return Copied(stamp: Stamp(status), entry: entry)
    }

    /// Writes the ledger anew: a line for each piece that came along, those among them that had none. A piece that is not
    /// what its line says stays behind.
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
            }
        }
        try to.write(lines, as: Ledger.fileName)
    }

    /// Lets the copies outlive a loss of power so far: what is still to come is little then.
    public func sync() throws(StoreError) { try Store.syncDisk(of: root) }

    /// Copies what is left, and puts the bundle in its place, where it outlives a loss of power. Nothing may change in the
    /// bundle meanwhile, and all its pieces must have their lines.
    ///
    /// - Throws: `exists` when there is a bundle of that id.
    public func settle(_ pace: ReadingPace) throws(StoreError) {
        try progress.withLock { progress throws(StoreError) in
            _ = try pass(pace, isLast: true, room: {}, &progress)
            try sync()
            do throws(StoreError) {
                try temporary.move(name, to: assets, as: id)
            } catch {
                throw error.errno == ENOTEMPTY ? StoreError(.exists, path: assets.path + "/" + id) : error
            }
            progress.isSettled = true
        }
        guard fsync(assets.descriptor) == 0 else { throw StoreError(path: assets.path) }
    }

    /// Takes away what has come so far.
    public func discard() {
        let name = progress.withLock { $0.isSettled } ? (try? target.setAside(id)) ?? nil : name
        if let name { try? temporary.removeTree(name) }
    }
}
