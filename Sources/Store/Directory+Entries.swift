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
    }

    /// What is in the folder, in no order; names that the store would not give are left out.
    public func entries() throws(StoreError) -> [Entry] {
        let own = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard own >= 0, let stream = fdopendir(own) else { throw StoreError(path: path) }
        defer { closedir(stream) }
        var entries: [Entry] = []
        while let next = readdir(stream) {
            let name = withUnsafePointer(to: &next.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard Self.isName(name) else { continue }
            var status = stat()
            guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
            let kind = status.st_mode & S_IFMT
            guard kind == S_IFREG || kind == S_IFDIR else { continue }
            entries.append(Entry(name: name, isDirectory: kind == S_IFDIR, size: Int64(status.st_size)))
        }
        return entries
    }

    /// The length in bytes of the file `name`, or nil if there is no such file.
    public func size(of name: String) -> Int64? {
        var status = stat()
        guard Self.isName(name), fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        return status.st_mode & S_IFMT == S_IFREG ? Int64(status.st_size) : nil
    }
}
