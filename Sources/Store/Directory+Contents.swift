import CLinux
import Glibc

extension Directory {
    /// One file or folder in a folder.
    public struct Entry: Equatable, Sendable {
        /// The name without a path.
        public let name: String
        /// True for a folder.
        public let isDirectory: Bool
        /// The file's length in bytes.
        public let size: Int64
        /// Time of the last read or write, in seconds since 1970. Coarse: as far as the system or `recordUse` records reads.
        public let lastUse: Int64
        /// The file, if it has further names; nil for one with a single name.
        package let shared: FileIdentity.File?
    }

    /// Lists the files and folders, in no order. Skips links and names that are not valid in a store.
    public func entries() throws(StoreError) -> [Entry] {
        try names().compactMap { entry($0) }
    }

    /// The file or folder `name`; nil if there is none.
    func entry(_ name: String) -> Entry? {
        guard Self.isName(name), let status = status(of: name), status.isFile || status.isFolder else { return nil }
        var shared: FileIdentity.File?
        if status.isFile, status.st_nlink > 1 {
            shared = FileIdentity.File(status)
        }
        return Entry(
            name: name, isDirectory: status.isFolder, size: Int64(status.st_size),
            lastUse: Int64(max(status.st_atim.tv_sec, status.st_mtim.tv_sec)), shared: shared)
    }

    /// The length of the file `name` in bytes; nil if there is no such file.
    public func size(of name: String) -> Int64? {
        guard Self.isName(name), let status = status(of: name), status.isFile else { return nil }
        return Int64(status.st_size)
    }

    /// The time of the last write to the file `name`, in seconds since 1970; nil if there is no such file.
    public func writeTime(of name: String) -> Double? {
        guard Self.isName(name), let status = status(of: name), status.isFile else { return nil }
        return Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1e9
    }

    /// The identity of the file `name`; nil if there is no such file.
    package func identity(of name: String) -> FileIdentity? {
        guard Self.isName(name), let status = status(of: name), status.isFile else { return nil }
        return FileIdentity(status)
    }

    /// The status of the file, folder or link `name`; nil on any error, whose reason is in errno.
    func status(of name: String) -> stat? {
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        return status
    }

    /// The status of this folder.
    var status: stat? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        return status
    }

    /// Sets the access time of the file `name`, in seconds since 1970, and keeps its modification time. Errors are ignored.
    public func recordUse(of name: String, at seconds: Int64) {
        guard Self.isName(name) else { return }
        let times = [timespec(tv_sec: Int(seconds), tv_nsec: 0), timespec(tv_sec: 0, tv_nsec: weir_utime_omit)]
        utimensat(descriptor, name, times, AT_SYMLINK_NOFOLLOW)
    }

    /// The names of everything in it, in no order.
    public func names() throws(StoreError) -> [String] {
        let own = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard own >= 0 else { throw StoreError(path: path) }
        guard let stream = fdopendir(own) else {
            let error = StoreError(path: path)
            close(own)
            throw error
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let next = readdir(stream) {
            let name = withUnsafePointer(to: &next.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." {
                names.append(name)
            }
        }
        return names
    }

    /// Removes the file `name`; no error if it is missing.
    public func remove(_ name: String) throws(StoreError) {
        guard unlinkat(descriptor, try leaf(name), 0) != 0, errno != ENOENT else { return }
        throw StoreError(path: path + "/" + name)
    }

    /// Removes the folder `name` with its contents; no error if it is missing.
    public func removeTree(_ name: String) throws(StoreError) { try removeAny(try leaf(name)) }

    /// Removes everything in this folder, whatever its name. A link is removed, not its target.
    public func removeContents() throws(StoreError) {
        for name in try names() {
            try removeAny(name)
        }
    }

    /// Removes a file or link, or renames a folder, to be removed later. Returns the folder's new name, if any.
    func putAside(_ name: String) throws(StoreError) -> String? {
        if unlinkat(descriptor, name, 0) == 0 || errno == ENOENT {
            return nil
        }
        let path = path + "/" + name
        let aside = BundleStore.uniqueName("gone")
        guard renameat(descriptor, name, descriptor, aside) == 0 else { throw StoreError(path: path) }
        return aside
    }

    /// The sum of the lengths of all files in this folder and below, in bytes. Links are not followed.
    public func treeSize() throws(StoreError) -> Int64 {
        var sum: Int64 = 0
        for name in try names() {
            guard let status = status(of: name) else { continue }
            if status.isFolder {
                sum += try raw(name).treeSize()
            } else {
                sum += Int64(status.st_size)
            }
        }
        return sum
    }

    /// Opens the folder `name`, which need not be a name of the store, but no link.
    func raw(_ name: String) throws(StoreError) -> Directory {
        let opened = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard opened >= 0 else { throw StoreError(path: path + "/" + name) }
        return Directory(descriptor: opened, path: path + "/" + name)
    }

    /// Removes the file, link or folder `name`, which need not be a name of the store. A link is removed, not its target.
    func removeAny(_ name: String) throws(StoreError) {
        if unlinkat(descriptor, name, 0) == 0 || errno == ENOENT {
            return
        }
        let reason = errno
        let path = path + "/" + name
        let opened = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard opened >= 0 else { throw StoreError(path: path, errno: reason) }
        let folder = Directory(descriptor: opened, path: path)
        for _ in 0..<Self.removalAttempts {
            try folder.removeContents()
            if unlinkat(descriptor, name, AT_REMOVEDIR) == 0 {
                return
            }
            guard errno == ENOTEMPTY else { break }
        }
        throw StoreError(path: path)
    }

    /// A write that was under way when a folder was set aside may still put a file into it.
    private static let removalAttempts = 8
}

extension stat {
    var isFile: Bool { st_mode & S_IFMT == S_IFREG }
    var isFolder: Bool { st_mode & S_IFMT == S_IFDIR }
}

/// The mark that excludes a folder from backups by tar, borg, restic and others: CACHEDIR.TAG (https://bford.info/cachedir/).
extension Directory {
    static let cacheTag = "CACHEDIR.TAG"
    private static let signature = "Signature: 8a477f597d28d172789f06886806bc55"

    /// Marks the folder, or removes the mark. A file of that name with other contents is not changed.
    public func setExcludedFromBackups(_ isExcluded: Bool) throws(StoreError) {
        let found = try read(Self.cacheTag)
        if isExcluded, found == nil {
            let text = Self.signature + "\n# Excluded from backups by Weir's configuration.\n"
            try write(Array(text.utf8), as: Self.cacheTag, mode: 0o644)
        } else if !isExcluded, found?.starts(with: Self.signature.utf8) ?? false {
            try remove(Self.cacheTag)
        }
    }
}

extension BundleStore {
    /// Marks the folder of all bundles, or removes the mark. The small catalogue, which lists what was stored, is backed up.
    public func setExcludedFromBackups(_ isExcluded: Bool) throws(StoreError) {
        guard readOnlyReason == nil else { return }
        try assets?.setExcludedFromBackups(isExcluded)
    }
}
