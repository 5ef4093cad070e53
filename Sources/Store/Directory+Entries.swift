import CLinux
import Glibc

extension Directory {
    /// One name in a folder.
    public struct Entry: Equatable, Sendable {
        /// The name, without its folder.
        public let name: String
        /// Whether it is a folder.
        public let isDirectory: Bool
        /// The file's length in bytes.
        public let size: Int64
        /// When it was last read or written, in seconds since 1970: coarsely, as far as the system, or `noteUse`, notes
        /// that it is read.
        public let lastUse: Int64
    }

    /// The files and folders that are here, in no order; links, and names that the store would not give, are left out.
    public func entries() throws(StoreError) -> [Entry] {
        try names().compactMap { name in
            var status = stat()
            guard Self.isName(name), fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
            let kind = status.st_mode & S_IFMT
            guard kind == S_IFREG || kind == S_IFDIR else { return nil }
            return Entry(
                name: name, isDirectory: kind == S_IFDIR, size: Int64(status.st_size),
                lastUse: Int64(max(status.st_atim.tv_sec, status.st_mtim.tv_sec)))
        }
    }

    /// The length in bytes of the file `name`, or nil if there is no such file.
    public func size(of name: String) -> Int64? {
        var status = stat()
        guard Self.isName(name), fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        return status.st_mode & S_IFMT == S_IFREG ? Int64(status.st_size) : nil
    }

    /// Notes when the file `name` was last read, in seconds since 1970, in its access time; when it was written stays as
    /// it is. Nothing where that cannot be noted.
    public func noteUse(of name: String, at seconds: Int64) {
        guard Self.isName(name) else { return }
        let times = [timespec(tv_sec: Int(seconds), tv_nsec: 0), timespec(tv_sec: 0, tv_nsec: weir_utime_omit)]
        utimensat(descriptor, name, times, AT_SYMLINK_NOFOLLOW)
    }

    /// Every name but `.` and `..`.
    func names() throws(StoreError) -> [String] {
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
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
