import Glibc

extension Directory {
    /// Removes the file `name`; no error if it is not there.
    public func remove(_ name: String) throws(StoreError) {
        guard unlinkat(descriptor, try leaf(name), 0) != 0, errno != ENOENT else { return }
        throw StoreError(path: path + "/" + name)
    }

    /// Removes the folder `name` and all that is in it; no error if it is not there.
    public func removeTree(_ name: String) throws(StoreError) { try removeAnything(try leaf(name)) }

    /// Removes all that is in this folder, whoever put it there: links go, what they lead to stays.
    public func removeContents() throws(StoreError) {
        for name in try names() { try removeAnything(name) }
    }

    /// Removes a file or link, or calls a folder otherwise, which goes later.
    ///
    /// - Returns: the folder's name now; nil for what is gone.
    func putAside(_ name: String) throws(StoreError) -> String? {
        if unlinkat(descriptor, name, 0) == 0 || errno == ENOENT { return nil }
        let path = path + "/" + name
        let aside = Store.uniqueName("gone")
        guard renameat(descriptor, name, descriptor, aside) == 0 else { throw StoreError(path: path) }
        return aside
    }

    /// The lengths of all files in this folder and below, in bytes; links are not followed.
    public func treeSize() throws(StoreError) -> Int64 {
        var sum: Int64 = 0
        for name in try names() {
            var status = stat()
            guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
            guard status.st_mode & S_IFMT == S_IFDIR else {
                sum += Int64(status.st_size)
                continue
            }
            let opened = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard opened >= 0 else { throw StoreError(path: path + "/" + name) }
            sum += try Directory(descriptor: opened, path: path + "/" + name).treeSize()
        }
        return sum
    }
    /// Removes whatever is called so, by a name of others too: a link goes, what it leads to stays.
    func removeAny(_ name: String) throws(StoreError) { try removeAnything(name) }

    private func removeAnything(_ name: String) throws(StoreError) {
        if unlinkat(descriptor, name, 0) == 0 || errno == ENOENT { return }
        let reason = errno
        let path = path + "/" + name
        let opened = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard opened >= 0 else { throw StoreError(path: path, errno: reason) }
        try Directory(descriptor: opened, path: path).removeContents()
        guard unlinkat(descriptor, name, AT_REMOVEDIR) == 0 else { throw StoreError(path: path) }
    }
}
