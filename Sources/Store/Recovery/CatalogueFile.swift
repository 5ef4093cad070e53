import CLinux
import Glibc

/// The database file of a catalogue and the files beside it, checked and replaced without SQLite.
struct CatalogueFile {
    let path: String
    private static let companions = ["-wal", "-shm"]
    /// The path of a catalogue that is being rebuilt from records.
    var newPath: String { path + ".new" }

    /// Describes the damage of the files; nil for sound and for missing files.
    func damage() -> String? {
        for suffix in [""] + Self.companions {
            var status = stat()
            guard lstat(path + suffix, &status) == 0 else { continue }
            // A link could point to any file of the user.
            guard status.st_mode & S_IFMT == S_IFREG else { return "is no file" }
        }
        guard let head = head(), !head.isEmpty else { return nil }
        guard head.starts(with: Array("SQLite format 3\0".utf8)) else { return "is no database" }
        // The write and read versions: SQLite opens a file with a higher one read-only, as if the permission was missing.
        guard head.count >= 20, (1...2).contains(head[18]), (1...2).contains(head[19]) else {
            return "has a damaged header"
        }
        return nil
    }

    /// Throws `notWritable` for a database without read permission, which must not be treated as a missing one.
    func checkPermission() throws(StoreError) {
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        if file >= 0 {
            close(file)
        } else if errno == EACCES {
            throw StoreError(path: path)
        }
    }

    private func head() -> [UInt8]? {
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = pread(file, &bytes, bytes.count, 0)
        return Array(bytes.prefix(max(0, count)))
    }

    /// Finishes a replacement: uses the new catalogue if the damaged one was already set aside, and removes it otherwise.
    func finishReplacement() {
        let isComplete = access(newPath, F_OK) == 0 && access(newPath + "-journal", F_OK) != 0
        if isComplete, access(path, F_OK) != 0 {
            rename(newPath, path)
        }
        removeNew()
    }

    func removeNew() {
        for suffix in ["", "-journal"] + Self.companions {
            unlink(newPath + suffix)
        }
    }

    /// Sets the damaged files aside, and renames the new one to their path. Returns the damaged database's new path.
    func replace() throws(StoreError) -> String {
        try Self.sync(newPath)
        var aside = path + ".broken"
        var number = 2
        var status = stat()
        while lstat(aside, &status) == 0 {
            aside = "\(path).broken-\(number)"
            number += 1
        }
        // SQLite would apply a log that is left to the new database.
        for suffix in Self.companions + [""] {
            guard rename(path + suffix, aside + suffix) == 0 || errno == ENOENT else {
                throw StoreError(path: path + suffix)
            }
        }
        guard rename(newPath, path) == 0 else { throw StoreError(path: path) }
        try Self.sync(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
        return aside
    }

    private static func sync(_ path: String) throws(StoreError) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw StoreError(path: path) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw StoreError(path: path) }
    }
}
