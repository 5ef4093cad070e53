import CLinux
import Glibc

/// A file or folder outside the store that appears complete or not at all.
///
/// It grows beside its path as `.NAME.weir-part`, locked for one export at a time, and gets its name by a rename that never
/// replaces anything. After a crash the next start deletes the rest (`BundleStore.noteExport`), or the next export to the same path.
public final class ExportTarget: Sendable {
    /// The kind of target.
    public enum Kind: Sendable { case file, folder }

    /// The final path.
    public let path: String
    /// The path until `finish()`.
    public let temporaryPath: String
    /// The open file or folder, valid as long as this object. A file is empty, with its offset at 0.
    public let descriptor: Int32
    private let kind: Kind
    private let parent: Int32
    private let name: String
    private var temporary: String { ".\(name).weir-part" }

    /// Prepares an export to `path`, whose parent folder must exist. Throws `exists` if anything is at the path, `busy`
    /// during another export to it, and the system's error if nothing can be written there.
    public init(path: String, kind: Kind) throws(StoreError) {
        let (folder, name) = try Self.split(path)
        let temporary = ".\(name).weir-part"
        let parent = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { throw StoreError(path: folder) }
        do throws(StoreError) {
            try Self.refuseExisting(name, in: parent, path)
            descriptor = try Self.open(temporary, in: parent, kind, exportPath: path)
        } catch {
            close(parent)
            throw error
        }
        self.path = path
        self.kind = kind
        self.parent = parent
        self.name = name
        temporaryPath = Directory.path(of: temporary, in: folder)
    }

    deinit {
        close(descriptor)
        close(parent)
    }

    private static func split(_ path: String) throws(StoreError) -> (folder: String, name: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        guard path.hasPrefix("/"), let name = parts.last, name != "..", name != ".", !path.utf8.contains(0) else {
            throw StoreError(.badName, path: path, detail: "not the absolute path of a file or folder")
        }
        return ("/" + parts.dropLast().joined(separator: "/"), String(name))
    }

    /// Deletes what an export to `path` left, unless another one is under way. Errors are ignored.
    static func removePart(ofExportTo path: String) {
        guard let (folder, name) = try? split(path) else { return }
        let parent = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { return }
        defer { close(parent) }
        let temporary = ".\(name).weir-part"
        let part = openat(parent, temporary, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        guard part >= 0 else { return }
        defer { close(part) }
        var status = stat()
        guard fstat(part, &status) == 0, status.st_uid == geteuid(), status.isFile || status.isFolder,
            flock(part, LOCK_EX | LOCK_NB) == 0
        else { return }
        guard status.isFolder else {
            unlinkat(parent, temporary, 0)
            return
        }
        try? Directory(descriptor: dup(part), path: path).removeContents()
        unlinkat(parent, temporary, AT_REMOVEDIR)
    }

    private static func refuseExisting(_ name: String, in parent: Int32, _ path: String) throws(StoreError) {
        var status = stat()
        guard fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) != 0 else { throw StoreError(.exists, path: path) }
        guard errno == ENOENT else { throw StoreError(path: path) }
    }

    /// Opens and locks the temporary file or folder, and deletes the contents that an earlier export left. Errors name `path`.
    private static func open(
        _ temporary: String, in parent: Int32, _ kind: Kind, exportPath path: String
    ) throws(StoreError) -> Int32 {
        if kind == .file {
            removeLinked(temporary, in: parent)
        }
        let (opened, isNew) = try make(temporary, in: parent, kind, exportPath: path)
        do throws(StoreError) {
            // Some file systems give every file to one user.
            if !isNew {
                try refuseForeign(opened, named: temporary, kind, exportPath: path)
            }
            guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
                throw StoreError(.busy, path: path, detail: "another export to it is under way")
            }
            // If another export has finished in between, this is its result.
            var held = stat()
            var found = stat()
            guard fstat(opened, &held) == 0, fstatat(parent, temporary, &found, AT_SYMLINK_NOFOLLOW) == 0,
                held.st_ino == found.st_ino
            else { throw StoreError(.exists, path: path) }
            switch kind {
            case .file: guard ftruncate(opened, 0) == 0 else { throw StoreError(path: path) }
            case .folder: try Directory(descriptor: dup(opened), path: path).removeContents()
            }
        } catch {
            close(opened)
            throw error
        }
        return opened
    }

    /// Deletes a temporary file with a second name: its bytes are also another file's.
    private static func removeLinked(_ temporary: String, in parent: Int32) {
        var status = stat()
        guard fstatat(parent, temporary, &status, AT_SYMLINK_NOFOLLOW) == 0, status.isFile,
            status.st_uid == geteuid(), status.st_nlink > 1
        else { return }
        unlinkat(parent, temporary, 0)
    }

    /// Throws if the temporary file or folder is not ours alone: its owner could read and change the export. It is not
    /// changed.
    private static func refuseForeign(
        _ opened: Int32, named temporary: String, _ kind: Kind, exportPath path: String
    ) throws(StoreError) {
        var status = stat()
        guard fstat(opened, &status) == 0 else { throw StoreError(path: path) }
        guard status.st_uid == geteuid() else {
            throw StoreError(
                .notWritable, path: path,
                detail: "\(temporary) beside it belongs to another user: delete it, or choose another folder")
        }
        if kind == .file, !status.isFile || status.st_nlink != 1 {
            throw StoreError(
                .notWritable, path: path,
                detail: "\(temporary) beside it is no plain file with one name: delete it, or choose another folder")
        }
    }

    private static func make(
        _ temporary: String, in parent: Int32, _ kind: Kind, exportPath path: String
    ) throws(StoreError) -> (descriptor: Int32, isNew: Bool) {
        let flags = O_NOFOLLOW | O_CLOEXEC
        var opened = Int32(-1)
        var isNew = true
        switch kind {
        case .file:
            opened = openat(parent, temporary, O_RDWR | O_CREAT | O_EXCL | flags, 0o666)
            if opened < 0, errno == EEXIST {
                isNew = false
                opened = openat(parent, temporary, O_RDWR | O_CREAT | O_NONBLOCK | flags, 0o666)
            }
        case .folder:
            isNew = mkdirat(parent, temporary, 0o777) == 0
            guard isNew || errno == EEXIST else { throw StoreError(path: path) }
            opened = openat(parent, temporary, O_RDONLY | O_DIRECTORY | flags)
        }
        guard opened >= 0 else { throw StoreError(path: path) }
        return (opened, isNew)
    }

    func directory() throws(StoreError) -> Directory {
        let own = dup(descriptor)
        guard own >= 0 else { throw StoreError(path: path) }
        return Directory(descriptor: own, path: temporaryPath)
    }

    /// Syncs the target, and renames it to its final path. Throws `exists` if something else is there by now.
    public func finish() throws(StoreError) {
        let result =
            switch kind {
            case .file: fsync(descriptor)
            // A folder has many files, and may be on a file system of its own.
            case .folder: weir_syncfs(descriptor)
            }
        guard result == 0 else { throw StoreError(path: path) }

        if weir_rename_new(parent, temporary, name) != 0 {
            if errno == EEXIST {
                throw StoreError(.exists, path: path)
            }
            guard errno == EINVAL || errno == ENOSYS else { throw StoreError(path: path) }
            // The file system cannot check and rename in one step.
            try Self.refuseExisting(name, in: parent, path)
            guard renameat(parent, temporary, parent, name) == 0 else { throw StoreError(path: path) }
        }
        fsync(parent)
    }

    /// Deletes the temporary file or folder.
    public func discard() {
        switch kind {
        case .file: unlinkat(parent, temporary, 0)
        case .folder:
            try? directory().removeContents()
            unlinkat(parent, temporary, AT_REMOVEDIR)
        }
    }

    /// Calls `body` to fill the target, and finishes it. On an error, deletes it.
    public func fill(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        do {
            try body()
            try finish()
        } catch {
            discard()
            throw error
        }
    }

    /// Writes a small file at `path`.
    public static func write(_ bytes: [UInt8], at path: String) throws(StoreError) {
        let target = try ExportTarget(path: path, kind: .file)
        try target.fill { () throws(StoreError) in
            guard Directory.write(bytes, to: target.descriptor) else { throw StoreError(path: path) }
        }
    }
}
