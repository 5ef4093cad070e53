import CLinux
import Foundation
import Glibc
import SafeText

/// Moves a whole store to another folder, while holding its lock.
///
/// On one disk the two folders are exchanged in one step. To another disk everything is copied beside the new path, verified
/// against the ledgers, synced and renamed; then the old folder gets `moved.json`, and its contents are deleted. So one of
/// the two is complete at each instant, and the same call finishes an interrupted move without copying a file twice.
public struct StoreMove {
    /// Counts the copied bytes, and can cancel the move.
    public let pace: ReadingPace
    /// The number of pieces that do not match their ledger. They are copied as they are.
    public private(set) var damaged = 0
    /// The size of the store in bytes.
    public let totalBytes: Int64
    /// The new folder's path without links.
    public let path: String
    private let source: Directory
    private let lock: HeldLock
    private let parent: Directory
    private let name: String
    private var temporary: String { ".\(name).weir-part" }

    /// Checks both paths, and acquires the store's lock. Throws `busy` if the store is in use, `missing` if there is
    /// none, `moved` if it was moved elsewhere, `exists` if the new path is in use, `badName` if it is inside the
    /// store, `notWritable`, `diskFull`. Nothing has changed then.
    public init(from old: String, to new: String, pace: ReadingPace) throws(StoreError) {
        source = try Directory.existing(path: old)
        guard let real = Directory.real(old) else { throw StoreError(path: old) }
        let parts = new.split(separator: "/")
        guard new.hasPrefix("/"), !new.utf8.contains(0), let last = parts.last, last != "..", last != "." else {
            throw StoreError(.badName, path: new, detail: "not the absolute path of a folder")
        }
        name = String(last)
        let folder = "/" + parts.dropLast().joined(separator: "/")
        parent = try Directory.open(path: folder)
        guard let base = Directory.real(folder) else { throw StoreError(path: folder) }
        path = Directory.path(of: name, in: base)
        guard !(path + "/").hasPrefix(real + "/") else {
            throw StoreError(.badName, path: new, detail: "it is in the store itself")
        }
        self.pace = pace
        if let marker = StoreMoveMarker.read(in: source), marker.path != path {
            throw StoreError(.moved, path: old, detail: "the store is in \(marker.path)")
        }
        let isStore = source.has("assets") || source.has("records") || source.has(StoreMoveMarker.fileName)
        guard isStore else { throw StoreError(.missing, path: old, detail: "there is no store") }
        lock = HeldLock(try source.open("lock", flags: O_RDWR | O_CREAT))
        guard flock(lock.descriptor, LOCK_EX | LOCK_NB) == 0 else { throw StoreError(path: old) }
        totalBytes = try source.totalSize()
        // With the marker in the old folder, the copy is complete, and only the old contents are to be deleted.
        if StoreMoveMarker.read(in: source) == nil {
            try Self.checkTarget(name, in: parent, path: path, movingFrom: real)
        }
    }

    private final class HeldLock: Sendable {
        let descriptor: Int32
        init(_ descriptor: Int32) { self.descriptor = descriptor }
        deinit { close(descriptor) }
    }

    /// Throws unless the new path is missing, an empty folder, or left by an earlier call.
    private static func checkTarget(
        _ name: String, in parent: Directory, path: String, movingFrom old: String
    ) throws(StoreError) {
        guard let status = parent.status(of: name) else { return }
        guard status.isFolder else { throw StoreError(.exists, path: path) }
        let found = try parent.raw(name)
        guard status.st_uid == geteuid() else {
            throw StoreError(.notWritable, path: path, detail: "it belongs to another user")
        }
        let isOurs =
            StoreMoveMarker.read(StoreMoveMarker.arrivedName, in: found)?.path == old
            || [path, old].contains(StoreMoveMarker.read(in: found)?.path)
        let isEmpty = try found.names().isEmpty
        guard isOurs || isEmpty else {
            throw StoreError(.exists, path: path, detail: "the folder is not empty: give a new folder")
        }
    }

    /// Moves the store, or continues an interrupted move. Throws `busy` after a cancellation; the system's errors. The store is
    /// then still in the old folder, unless that has its marker already: then only its old contents are to be deleted.
    public mutating func run() throws(StoreError) {
        if StoreMoveMarker.read(in: source) == nil {
            if try exchange() {
                return
            }
            try copy()
            try StoreMoveMarker(path: path).write(in: source)
        }
        try parent.raw(name).remove(StoreMoveMarker.arrivedName)
        for name in try source.names() where name != StoreMoveMarker.fileName && name != "lock" {
            try source.removeAny(name)
        }
    }

    // MARK: On one disk

    /// - Returns: false if the folders are on different disks.
    private func exchange() throws(StoreError) -> Bool {
        guard let own = source.status, let other = parent.status, own.st_dev == other.st_dev, !source.isMountPoint,
            !parent.has(temporary)
        else { return false }
        guard mkdirat(parent.descriptor, name, 0o700) == 0 || errno == EEXIST else { throw StoreError(path: path) }
        let target = try parent.raw(name)
        // An earlier call has copied from another disk.
        if StoreMoveMarker.read(StoreMoveMarker.arrivedName, in: target) != nil {
            return false
        }
        try StoreMoveMarker(path: path).write(in: target)
        guard let old = Directory.real(source.path) else { throw StoreError(path: source.path) }
        guard weir_rename_exchange(old, path) == 0 else {
            let reason = errno
            try target.remove(StoreMoveMarker.fileName)
            unlinkat(parent.descriptor, name, AT_REMOVEDIR)
            guard [EXDEV, EINVAL, ENOSYS, EBUSY].contains(reason) else { throw StoreError(path: path, errno: reason) }
            return false
        }
        fsync(parent.descriptor)
        if let above = try? Directory.existing(path: old + "/..") {
            fsync(above.descriptor)
        }
        return true
    }

    // MARK: To another disk

    private mutating func copy() throws(StoreError) {
        // The copy is complete but perhaps outdated: the old store may have been used since.
        if parent.has(name), try !parent.raw(name).names().isEmpty, !parent.has(temporary) {
            guard renameat(parent.descriptor, name, parent.descriptor, temporary) == 0 else {
                throw StoreError(path: path)
            }
        }
        guard mkdirat(parent.descriptor, temporary, 0o700) == 0 || errno == EEXIST else { throw StoreError(path: path) }
        let target = try parent.raw(temporary)
        guard target.status?.st_uid == geteuid() else {
            throw StoreError(.notWritable, path: path, detail: "\(temporary) beside it belongs to another user")
        }
        try checkRoom(beside: try target.totalSize())
        try mirror(source, to: target, isTop: true)
        guard let old = Directory.real(source.path) else { throw StoreError(path: source.path) }
        try StoreMoveMarker(path: old).write(StoreMoveMarker.arrivedName, in: target)
        try BundleStore.syncDisk(of: target)
        // Replaces an empty folder.
        guard renameat(parent.descriptor, temporary, parent.descriptor, name) == 0 else {
            guard errno == EBUSY else { throw StoreError(path: path) }
            throw StoreError(.exists, path: path, detail: "a disk is mounted there: give a new folder on it")
        }
        guard fsync(parent.descriptor) == 0 else { throw StoreError(path: parent.path) }
    }

    private func checkRoom(beside present: Int64) throws(StoreError) {
        let (free, total) = BundleStore.space(of: parent)
        guard total > 0, free < totalBytes - present else { return }
        let size = Quantity.bytes(Int(totalBytes))
        let room = Quantity.bytes(Int(free))
        throw StoreError(
            .diskFull, path: path, detail: "the store takes \(size), and the disk has room for \(room)")
    }

    /// Makes the contents of `to` equal to those of `from`. Keeps files with equal length and modification time.
    private mutating func mirror(_ from: Directory, to: Directory, isTop: Bool = false) throws(StoreError) {
        var passed: Set<String> = []
        if isTop {
            // Growing files and half-written markers are of no use in the copy.
            passed = ["tmp", StoreMoveMarker.fileName + ".new", StoreMoveMarker.arrivedName + ".new"]
        }
        let names = try from.names().filter { !passed.contains($0) }
        for gone in Set(try to.names()).subtracting(names) {
            try to.removeAny(gone)
        }
        var ledger: Ledger?
        if let text = try? from.read(Ledger.fileName) {
            ledger = Ledger(text)
        }
        for name in names {
            guard let status = from.status(of: name) else { throw StoreError(path: from.path + "/" + name) }
            if status.isFolder {
                let made = mkdirat(to.descriptor, name, status.st_mode & 0o777)
                guard made == 0 || errno == EEXIST else { throw StoreError(path: to.path + "/" + name) }
                try mirror(try from.raw(name), to: try to.raw(name))
            } else {
                try copy(name, status: status, from: from, to: to, line: ledger?.entries[name])
            }
        }
    }

    private mutating func copy(
        _ name: String, status: stat, from: Directory, to: Directory, line: Ledger.Entry?
    ) throws(StoreError) {
        if let found = to.status(of: name) {
            let isSame =
                found.isFile && found.st_size == status.st_size
                && found.st_mtim.tv_sec == status.st_mtim.tv_sec && found.st_mtim.tv_nsec == status.st_mtim.tv_nsec
            if isSame {
                _ = pace.waitForTurn(after: Int(status.st_size))
                return
            }
            try to.removeAny(name)
        }
        let path = to.path + "/" + name
        let source = openat(from.descriptor, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard source >= 0 else { throw StoreError(path: from.path + "/" + name) }
        defer { close(source) }
        let target = openat(
            to.descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, status.st_mode & 0o777)
        guard target >= 0 else { throw StoreError(path: path) }
        defer { close(target) }
        let entry = try FileCopy.hashed(source, to: target, path: path, pace)
        if let line, line != entry {
            damaged += 1
        }
        // Set last: only a complete copy has the time of the original.
        guard futimens(target, [status.st_atim, status.st_mtim]) == 0 else { throw StoreError(path: path) }
    }
}

/// Access to files of any name, which people may have put into the store.
extension Directory {
    fileprivate func has(_ name: String) -> Bool { status(of: name) != nil }

    fileprivate var isMountPoint: Bool {
        guard let own = status, let above = status(of: "..") else { return true }
        return own.st_dev != above.st_dev
    }

    /// The sum of all files' lengths. Throws `exists` for other things than files and folders: they cannot be copied.
    fileprivate func totalSize() throws(StoreError) -> Int64 {
        var sum: Int64 = 0
        for name in try names() {
            guard let status = status(of: name) else { throw StoreError(path: path + "/" + name) }
            switch status.st_mode & S_IFMT {
            case S_IFDIR: sum += try raw(name).totalSize()
            case S_IFREG: sum += Int64(status.st_size)
            default:
                throw StoreError(
                    .exists, path: path + "/" + name, detail: "it is neither file nor folder: remove it first")
            }
        }
        return sum
    }
}

/// The text of `moved.json`: the new path of a moved store. It stays in the old folder, so that no empty store is made there.
struct StoreMoveMarker: Codable, Equatable {
    static let fileName = "moved.json"
    /// The file name in the new folder until the old folder has its marker. `path` is then the old path.
    static let arrivedName = "arrived.json"
    let path: String

    /// Reads the marker of a folder; nil if there is none or it is unreadable.
    static func read(_ name: String = fileName, in folder: Directory) -> StoreMoveMarker? {
        guard let bytes = try? folder.read(name) else { return nil }
        return try? JSONDecoder().decode(StoreMoveMarker.self, from: Data(bytes))
    }

    func write(_ name: String = fileName, in folder: Directory) throws(StoreError) {
        guard let text = try? JSONEncoder().encode(self) else { throw StoreError(.io, path: folder.path) }
        try folder.replace(name, by: Array(text) + Array("\n".utf8))
    }
}
