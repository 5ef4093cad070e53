import CLinux
import Glibc

/// The moving of a whole store to another folder, with its lock held: nobody uses it meanwhile.
///
/// On one disk the folders change places in one step. To another disk everything is copied beside the new place, held
/// against the ledgers, synced and renamed; then the old folder says where the store is, and what is in it goes. So one of
/// the two is whole at each instant, and the same call finishes what was interrupted: what was copied is not copied again.
public struct StoreMove {
    /// How much is copied, and whether it goes on.
    public let pace: ReadingPace
    /// How many pieces were not what their ledger says, and were copied as they are.
    public private(set) var damaged = 0
    /// The bytes that there are.
    public let totalBytes: Int64
    /// The new folder's path, without links.
    public let path: String

    private let source: Directory
    private let lock: Hold
    private let parent: Directory
    private let name: String
    private var temporary: String { ".\(name).weir-part" }

    /// Looks whether it can be, and takes the store's lock.
    ///
    /// - Throws: `busy` when the store is in use, `missing` where there is none, `moved` where it went elsewhere, `exists`
    ///   where something is at the new place, `badName` for one in the store, `notWritable`, `diskFull`; nothing has
    ///   changed then.
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
        path = (base == "/" ? "" : base) + "/" + name
        guard !(path + "/").hasPrefix(real + "/") else {
            throw StoreError(.badName, path: new, detail: "it is in the store itself")
        }
        self.pace = pace
        if let note = StoreMoveNote.read(in: source), note.path != path {
            throw StoreError(.moved, path: old, detail: "the store is in \(note.path)")
        }
        let isStore = source.has("assets") || source.has("records") || source.has(StoreMoveNote.fileName)
        guard isStore else { throw StoreError(.missing, path: old, detail: "there is no store") }
        lock = Hold(try source.open("lock", flags: O_RDWR | O_CREAT))
        guard flock(lock.descriptor, LOCK_EX | LOCK_NB) == 0 else { throw StoreError(path: old) }
        totalBytes = try source.wholeSize()
        // Where the old folder says already that the store is there, only what is left of it is to go.
        if StoreMoveNote.read(in: source) == nil { try Self.checkTarget(parent, name, path, from: real) }
    }

    /// The store's lock, let go with the last reference.
    private final class Hold: Sendable {
        let descriptor: Int32
        init(_ descriptor: Int32) { self.descriptor = descriptor }
        deinit { close(descriptor) }
    }

    /// The new place must be free: nothing, an empty folder, or what an earlier call has left there.
    private static func checkTarget(
        _ parent: Directory, _ name: String, _ path: String, from old: String
    ) throws(StoreError) {
        var status = stat()
        guard fstatat(parent.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw StoreError(.exists, path: path) }
        let found = try parent.raw(name)
        guard status.st_uid == geteuid() else {
            throw StoreError(.notWritable, path: path, detail: "it belongs to another user")
        }
        let isOurs =
            StoreMoveNote.read(StoreMoveNote.arrivedName, in: found)?.path == old
            || [path, old].contains(StoreMoveNote.read(in: found)?.path)
        let isEmpty = try found.names().isEmpty
        guard isOurs || isEmpty else {
            throw StoreError(.exists, path: path, detail: "there is something already: give a new folder")
        }
    }

    /// Does it, or goes on with it. Takes as long as it takes.
    ///
    /// - Throws: `busy` where it was given up; the system's reasons. The store is then where it was, unless the old folder
    ///   says already that it is not: then only what is left there is still to go.
    public mutating func run() throws(StoreError) {
        if StoreMoveNote.read(in: source) == nil {
            if try exchange() { return }
            try copy()
            try StoreMoveNote(path: path).write(in: source)
        }
        try parent.raw(name).remove(StoreMoveNote.arrivedName)
        for name in try source.names() where name != StoreMoveNote.fileName && name != "lock" {
            try source.removeAny(name)
        }
    }

    // MARK: On one disk

    /// - Returns: whether one disk has both, so that it could be.
    private func exchange() throws(StoreError) -> Bool {
        var (own, other) = (stat(), stat())
        guard fstat(source.descriptor, &own) == 0, fstat(parent.descriptor, &other) == 0,
            own.st_dev == other.st_dev, !source.isMountPoint, !parent.has(temporary)
        else { return false }
        guard mkdirat(parent.descriptor, name, 0o700) == 0 || errno == EEXIST else { throw StoreError(path: path) }
        let note = try parent.raw(name)
        // What an earlier call copied there is of another disk.
        if StoreMoveNote.read(StoreMoveNote.arrivedName, in: note) != nil { return false }
        try StoreMoveNote(path: path).write(in: note)
        guard let old = Directory.real(source.path) else { throw StoreError(path: source.path) }
        guard weir_rename_exchange(old, path) == 0 else {
            let reason = errno
            try note.remove(StoreMoveNote.fileName)
            unlinkat(parent.descriptor, name, AT_REMOVEDIR)
            guard [EXDEV, EINVAL, ENOSYS, EBUSY].contains(reason) else { throw StoreError(path: path, errno: reason) }
            return false
        }
        fsync(parent.descriptor)
        if let above = try? Directory.existing(path: old + "/..") { fsync(above.descriptor) }
        return true
    }

    // MARK: To another disk

    private mutating func copy() throws(StoreError) {
        // A copy that is whole, but perhaps not the latest: the old store may have been used since.
        if parent.has(name), try !parent.raw(name).names().isEmpty, !parent.has(temporary) {
            guard renameat(parent.descriptor, name, parent.descriptor, temporary) == 0 else {
                throw StoreError(path: path)
            }
        }
        guard mkdirat(parent.descriptor, temporary, 0o700) == 0 || errno == EEXIST else { throw StoreError(path: path) }
        let target = try parent.raw(temporary)
        try checkRoom(beside: try target.wholeSize())
        try mirror(source, to: target, isTop: true)
        guard let old = Directory.real(source.path) else { throw StoreError(path: source.path) }
        try StoreMoveNote(path: old).write(StoreMoveNote.arrivedName, in: target)
        try Store.syncDisk(of: target)
        // Over an empty folder, where there is one.
        guard renameat(parent.descriptor, temporary, parent.descriptor, name) == 0 else {
            let isMount = errno == EBUSY
            throw isMount
                ? StoreError(.exists, path: path, detail: "a disk is mounted there: give a new folder on it")
                : StoreError(path: path)
        }
        guard fsync(parent.descriptor) == 0 else { throw StoreError(path: parent.path) }
    }

    private func checkRoom(beside present: Int64) throws(StoreError) {
        let (free, total) = Store.space(of: parent)
        guard total > 0, free < totalBytes - present else { return }
        throw StoreError(
            .diskFull, path: path,
            detail: "the store takes \(totalBytes >> 20) MB, and the disk has room for \(free >> 20) MB")
    }

    /// Lets a folder have what another has; what is there already, by length and time, stays.
    private mutating func mirror(_ from: Directory, to: Directory, isTop: Bool = false) throws(StoreError) {
        // What grew there is of no use to the next process either, and a note half written to nobody.
        let passed = isTop ? ["tmp", StoreMoveNote.fileName + ".new", StoreMoveNote.arrivedName + ".new"] : []
        let names = try from.names().filter { !passed.contains($0) }
        for gone in Set(try to.names()).subtracting(names) { try to.removeAny(gone) }
        let ledger = (try? from.read(Ledger.fileName)).flatMap { $0 }.map { Ledger($0) }
        for name in names {
            var status = stat()
            guard fstatat(from.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
                throw StoreError(path: from.path + "/" + name)
            }
            if status.st_mode & S_IFMT == S_IFDIR {
                let made = mkdirat(to.descriptor, name, status.st_mode & 0o777)
                guard made == 0 || errno == EEXIST else { throw StoreError(path: to.path + "/" + name) }
                try mirror(try from.raw(name), to: try to.raw(name))
            } else {
                try copy(name, status, from: from, to: to, ledger?.entries[name])
            }
        }
    }

    private mutating func copy(
        _ name: String, _ status: stat, from: Directory, to: Directory, _ line: Ledger.Entry?
    ) throws(StoreError) {
        var found = stat()
        if fstatat(to.descriptor, name, &found, AT_SYMLINK_NOFOLLOW) == 0 {
            let isSame =
                found.st_mode & S_IFMT == S_IFREG && found.st_size == status.st_size
                && found.st_mtim.tv_sec == status.st_mtim.tv_sec && found.st_mtim.tv_nsec == status.st_mtim.tv_nsec
            if isSame {
                _ = pace.goOn(after: Int(status.st_size))
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
        if let line, line != entry { damaged += 1 }
        // Only a file that is whole has the time of its original.
        guard futimens(target, [status.st_atim, status.st_mtim]) == 0 else { throw StoreError(path: path) }
    }
}

extension FileCopy {
    /// Copies all of a file, and tells what it is.
    ///
    /// - Throws: `busy` where it was given up; the system's error, about `path`.
    static func hashed(
        _ source: Int32, to target: Int32, path: String, _ pace: ReadingPace
    ) throws(StoreError) -> Ledger.Entry {
        var digest = DigestState()
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var offset: off_t = 0
        while true {
            guard pace.goOn() else { throw StoreError(.busy, path: path, detail: "given up") }
            let count = pread(source, &buffer, buffer.count, offset)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw StoreError(path: path) }
            guard count > 0 else { break }
            buffer.withUnsafeBytes { digest.add(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            guard write(buffer, count, to: target) else { throw StoreError(path: path) }
            offset += off_t(count)
            _ = pace.goOn(after: count)
        }
        return Ledger.Entry(size: Int64(offset), digest: digest.digest)
    }

    /// Writes the first `count` bytes, whatever write(2) takes at once; where not, errno says why.
    static func write(_ buffer: [UInt8], _ count: Int, to file: Int32) -> Bool {
        var done = 0
        while done < count {
            let written = buffer.withUnsafeBytes { Glibc.write(file, $0.baseAddress! + done, count - done) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { return false }
            done += written
        }
        return true
    }
}

/// Folders in which people may have put things of any name.
extension Directory {
    /// Whether there is anything of this name.
    fileprivate func has(_ name: String) -> Bool {
        var status = stat()
        return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// The folder `name`, no link.
    fileprivate func raw(_ name: String) throws(StoreError) -> Directory {
        let opened = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard opened >= 0 else { throw StoreError(path: path + "/" + name) }
        return Directory(descriptor: opened, path: path + "/" + name)
    }

    /// Whether another file system begins here.
    fileprivate var isMountPoint: Bool {
        var (own, above) = (stat(), stat())
        return fstat(descriptor, &own) != 0 || fstatat(descriptor, "..", &above, 0) != 0 || own.st_dev != above.st_dev
    }

    /// The lengths of all files.
    ///
    /// - Throws: `exists` for what is neither file nor folder: that could not be moved.
    fileprivate func wholeSize() throws(StoreError) -> Int64 {
        var sum: Int64 = 0
        for name in try names() {
            var status = stat()
            guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
                throw StoreError(path: path + "/" + name)
            }
            switch status.st_mode & S_IFMT {
            case S_IFDIR: sum += try raw(name).wholeSize()
            case S_IFREG: sum += Int64(status.st_size)
            default:
                throw StoreError(
                    .exists, path: path + "/" + name, detail: "it is neither file nor folder: take it away first")
            }
        }
        return sum
    }
}
