import CLinux
import Glibc

/// The files of a catalogue as files: what can be said, and done with them, before SQLite opens them.
struct CatalogueFile {
    /// The database's path.
    let path: String

    /// What SQLite puts beside a database.
    private static let companions = ["-wal", "-shm"]
    /// A catalogue that is made anew from records, until it is whole.
    var newPath: String { path + ".new" }

    /// What is wrong with the files, in words; nil for nothing, and for files that are not there.
    func damage() -> String? {
        for suffix in [""] + Self.companions {
            var status = stat()
            guard lstat(path + suffix, &status) == 0 else { continue }
            // A link could lead anywhere.
            guard status.st_mode & S_IFMT == S_IFREG else { return "is no file" }
        }
        guard let head = head(), !head.isEmpty else { return nil }
        guard head.starts(with: Array("SQLite format 3\0".utf8)) else { return "is no database" }
        // The versions for writing and reading: to a higher one SQLite would not write, and take that for a permission.
        guard head.count >= 20, (1...2).contains(head[18]), (1...2).contains(head[19]) else {
            return "has a damaged header"
        }
        return nil
    }

    /// Throws `notWritable` for a database that this user may not even read: it is not empty, as one that is not there.
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

    /// Takes over a catalogue that was made anew, if an earlier process ended between putting the damaged one aside and
    /// that; removes one that was not needed.
    func settle() {
        let isWhole = access(newPath, F_OK) == 0 && access(newPath + "-journal", F_OK) != 0
        if isWhole, access(path, F_OK) != 0 { rename(newPath, path) }
        removeNew()
    }

    /// Removes a catalogue that is being made anew.
    func removeNew() {
        for suffix in ["", "-journal"] + Self.companions { unlink(newPath + suffix) }
    }

    /// Puts the damaged files aside, and the new one in their place.
    ///
    /// - Returns: where the damaged database lies now.
    func replace() throws(StoreError) -> String {
        try Self.sync(newPath)
        var aside = path + ".broken"
        var number = 2
        var status = stat()
        while lstat(aside, &status) == 0 {
            aside = "\(path).broken-\(number)"
            number += 1
        }
        // A log that stayed would be taken for the new database's.
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
