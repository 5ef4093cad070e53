import CLinux
import Glibc

/// A file or a folder outside of the store that appears whole or not at all.
///
/// It grows beside its place as `.NAME.weir-part`, which a lock keeps for one export at a time, and gets its name by a
/// rename that never replaces anything. What a crash leaves beside the place goes with the next export to it.
public final class ExportTarget: Sendable {
    /// What it is to be.
    public enum Kind: Sendable { case file, folder }

    /// The path that it is to have.
    public let path: String
    /// The path that it has until then.
    public let temporaryPath: String
    /// The open file or folder, borrowed. A file is empty, and stands at its beginning.
    public let descriptor: Int32
    private let kind: Kind
    private let parent: Int32
    private let name: String
    private var temporary: String { ".\(name).weir-part" }

    /// Prepares the way to `path`, whose folder must be there.
    ///
    /// - Throws: `exists` when there is something at the path, of whatever kind, `busy` when another export to it is
    ///   under way, and the system's reason why nothing can be written there.
    public init(path: String, kind: Kind) throws(StoreError) {
        let (folder, name) = try Self.split(path)
        let temporary = ".\(name).weir-part"
        let parent = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { throw StoreError(path: folder) }
        do throws(StoreError) {
            try Self.refuseExisting(name, in: parent, path)
            descriptor = try Self.open(temporary, in: parent, kind, path)
        } catch {
            close(parent)
            throw error
        }
        (self.path, self.kind, self.parent, self.name) = (path, kind, parent, name)
        temporaryPath = (folder == "/" ? "" : folder) + "/" + temporary
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

    private static func refuseExisting(_ name: String, in parent: Int32, _ path: String) throws(StoreError) {
        var status = stat()
        guard fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) != 0 else { throw StoreError(.exists, path: path) }
        guard errno == ENOENT else { throw StoreError(path: path) }
    }

    /// Opens what grows, locks it, and takes away what an earlier export left in it.
    private static func open(
        _ temporary: String, in parent: Int32, _ kind: Kind, _ path: String
    ) throws(StoreError) -> Int32 {
        let opened = try make(temporary, in: parent, kind, path)
        do throws(StoreError) {
            guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
                throw StoreError(.busy, path: path, detail: "another export to it is under way")
            }
            // Another export may have come to its end in between: then this is what it has made.
            var (held, found) = (stat(), stat())
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

    private static func make(
        _ temporary: String, in parent: Int32, _ kind: Kind, _ path: String
    ) throws(StoreError) -> Int32 {
        let opened: Int32
        switch kind {
        case .file:
            opened = openat(parent, temporary, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o666)
        case .folder:
            guard mkdirat(parent, temporary, 0o777) == 0 || errno == EEXIST else { throw StoreError(path: path) }
            opened = openat(parent, temporary, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        }
        guard opened >= 0 else { throw StoreError(path: path) }
        return opened
    }

    /// The folder that grows.
    func directory() throws(StoreError) -> Directory {
        let own = dup(descriptor)
        guard own >= 0 else { throw StoreError(path: path) }
        return Directory(descriptor: own, path: temporaryPath)
    }

    /// Lets it have its name, once everything in it outlives a loss of power.
    ///
    /// - Throws: `exists` when something has come to the path meanwhile; nothing of that is touched.
    public func finish() throws(StoreError) {
        // A folder has many files, and they may be on a file system of their own.
        guard (kind == .file ? fsync(descriptor) : weir_syncfs(descriptor)) == 0 else { throw StoreError(path: path) }
        if weir_rename_new(parent, temporary, name) != 0 {
            guard errno == EINVAL || errno == ENOSYS else {
                throw errno == EEXIST ? StoreError(.exists, path: path) : StoreError(path: path)
            }
            // A file system that cannot look and rename in one step.
            try Self.refuseExisting(name, in: parent, path)
            guard renameat(parent, temporary, parent, name) == 0 else { throw StoreError(path: path) }
        }
        fsync(parent)
    }

    /// Takes away what has grown so far.
    public func discard() {
        switch kind {
        case .file: unlinkat(parent, temporary, 0)
        case .folder:
            try? directory().removeContents()
            unlinkat(parent, temporary, AT_REMOVEDIR)
        }
    }
}
