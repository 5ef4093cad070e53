import CLinux
import Glibc

/// An open folder of the store. All files of the store are accessed through it.
///
/// Names are single components of letters, digits, `-`, `_` and `.`, and links are never followed: whatever an origin
/// sends, nothing outside the store is opened. Owns its descriptor. Sendable: it never changes.
public final class Directory: Sendable {
    /// The folder's descriptor, valid as long as this object.
    public let descriptor: Int32
    /// The folder's path, for messages only.
    public let path: String
    init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(descriptor) }

    /// Opens the folder at `path`, and creates it (0700) with its parents if it is missing.
    public static func open(path: String) throws(StoreError) -> Directory {
        try make(path: path)
        return try existing(path: path)
    }

    /// The path of an entry of the folder at `folder`, which is an absolute path.
    static func path(of name: String, in folder: String) -> String {
        guard folder != "/" else { return "/" + name }
        return folder + "/" + name
    }

    static func existing(path: String, followsLink: Bool = true) throws(StoreError) -> Directory {
        var flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
        if !followsLink {
            flags |= O_NOFOLLOW
        }
        let descriptor = Glibc.open(path, flags)
        guard descriptor >= 0 else { throw StoreError(path: path) }
        return Directory(descriptor: descriptor, path: path)
    }

    private static func make(path: String) throws(StoreError) {
        var made = path.hasPrefix("/") ? "" : "."
        for component in path.split(separator: "/") {
            made += "/" + component
            guard mkdir(made, 0o700) != 0, errno != EEXIST else { continue }
            let reason = errno
            var status = stat()
            guard stat(made, &status) != 0 else { continue }  // A parent on a read-only or foreign file system.
            throw StoreError(path: made, errno: reason)
        }
    }

    /// Opens the folder `name` in this one; with `create`, creates it with `mode` if it is missing.
    public func subdirectory(
        _ name: String, create: Bool = false, mode: UInt32 = 0o700
    ) throws(StoreError) -> Directory {
        let name = try leaf(name)
        if create, mkdirat(descriptor, name, mode) != 0, errno != EEXIST {
            throw failure(at: name)
        }
        return try raw(name)
    }

    /// Opens the file `name` with `flags` of open(2). The caller owns the descriptor.
    package func open(_ name: String, flags: Int32 = O_RDONLY, mode: UInt32 = 0o600) throws(StoreError) -> Int32 {
        let opened = openat(descriptor, try leaf(name), flags | O_NOFOLLOW | O_CLOEXEC, mode)
        guard opened >= 0 else { throw failure(at: name) }
        return opened
    }

    /// Opens the file `name` for reading, or returns nil on any error. For the hot path: no error is built.
    public func openIfPresent(_ name: String) -> Int32? {
        guard Self.isName(name) else { return nil }
        let opened = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        return opened.openDescriptor
    }

    /// Opens the file `name` for reading, with its identity by one fstat(2); nil on any error. For the hot path.
    package func openIdentified(_ name: String) -> (descriptor: Int32, identity: FileIdentity)? {
        guard let opened = openIfPresent(name) else { return nil }
        guard let identity = FileIdentity(of: opened) else {
            close(opened)
            return nil
        }
        return (opened, identity)
    }

    /// Opens the file `name` for reading. Returns nil if `length` is given and the file has another length.
    public func open(_ name: String, length: Int64?) -> Int32? {
        guard let opened = openIfPresent(name) else { return nil }
        var status = stat()
        if let length, fstat(opened, &status) != 0 || Int64(status.st_size) != length {
            close(opened)
            return nil
        }
        return opened
    }

    /// Creates an unnamed file, which is deleted with its last descriptor. The caller owns the descriptor.
    public func openAnonymous() throws(StoreError) -> Int32 {
        let opened = openat(descriptor, ".", weir_o_tmpfile | O_RDWR | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw StoreError(path: path) }
        return opened
    }

    /// Moves the file `name` to `target` in `folder` in one step, and replaces an existing file: rename(2).
    public func move(_ name: String, to folder: Directory, as target: String) throws(StoreError) {
        guard renameat(descriptor, try leaf(name), folder.descriptor, try folder.leaf(target)) == 0 else {
            throw folder.failure(at: target)
        }
    }

    /// Writes a whole file: a reader sees the old or the new one, even if the process ends at any instant. Not synced: it is
    /// for texts that can be made again, and a sync would wait for media.
    public func write(_ bytes: [UInt8], as name: String, mode: UInt32 = 0o600) throws(StoreError) {
        try write(bytes, through: name + ".new", to: self, as: name, mode: mode)
    }

    /// Writes a whole file through the file `temporary` in this folder, into another folder of the same file system.
    /// `finish` is called with the descriptor once all bytes are written.
    func write(
        _ bytes: [UInt8], through temporary: String, to folder: Directory, as name: String, mode: UInt32 = 0o600,
        finish: (Int32) -> Void = { _ in }
    ) throws(StoreError) {
        let file = try open(temporary, flags: O_RDWR | O_CREAT | O_TRUNC, mode: mode)
        do throws(StoreError) {
            let isWritten = Self.write(bytes, to: file)
            let reason = errno
            if isWritten {
                finish(file)
            }
            // Network disks and quotas may report their error only now.
            guard close(file) == 0 || !isWritten else { throw failure(at: temporary) }
            guard isWritten else { throw failure(at: temporary, errno: reason) }
            try move(temporary, to: folder, as: name)
        } catch {
            unlinkat(descriptor, temporary, 0)
            throw error
        }
    }

    /// Replaces a file with a text, synced: after a power cut either the old or the new one is complete.
    func replace(_ name: String, by bytes: [UInt8]) throws(StoreError) {
        try writeSynced(bytes, as: name + ".new")
        try move(name + ".new", to: self, as: name)
        fsync(descriptor)
    }

    /// Writes and syncs a file, or removes it on an error.
    func writeSynced(_ bytes: [UInt8], as name: String) throws(StoreError) {
        let file = try open(name, flags: O_WRONLY | O_CREAT | O_TRUNC)
        let isSynced = Self.write(bytes, to: file) && fsync(file) == 0
        let reason = errno
        let isClosed = close(file) == 0
        guard isClosed, isSynced else {
            // The first failure counts.
            let number = isSynced ? errno : reason
            let error = failure(at: name, errno: number)
            unlinkat(descriptor, name, 0)
            throw error
        }
    }

    /// Writes all or the first `count` bytes with as many write(2) calls as needed. On failure, errno has the reason.
    static func write(_ bytes: [UInt8], _ count: Int? = nil, to file: Int32) -> Bool {
        let count = count ?? bytes.count
        var done = 0
        while done < count {
            let written = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress! + done, count - done) }
            if written < 0, errno == EINTR {
                continue
            }
            guard written > 0 else { return false }
            done += written
        }
        return true
    }

    /// Reads the whole file `name`; nil if it is missing. For small files that the store wrote.
    public func read(_ name: String) throws(StoreError) -> [UInt8]? {
        guard let file = openIfPresent(name) else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(file, &buffer, buffer.count)
            guard count >= 0 else { throw StoreError(path: path + "/" + name) }
            guard count > 0 else { return bytes }
            bytes.append(contentsOf: buffer[..<count])
        }
    }

    /// Returns true for a valid name: one component without `..`, and nothing special to a shell or in a URL.
    public static func isName(_ name: String) -> Bool {
        guard (1...200).contains(name.utf8.count), name.utf8.first != UInt8(ascii: ".") else { return false }
        return name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): true
            case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): true
            default: false
            }
        }
    }

    func leaf(_ name: String) throws(StoreError) -> String {
        guard Self.isName(name) else { throw StoreError(.badName, path: path + "/" + name) }
        return name
    }

    /// Makes the error of a system call on the file `name` that has just failed. The path is built only then.
    private func failure(at name: String, errno number: Int32 = Glibc.errno) -> StoreError {
        StoreError(path: path + "/" + name, errno: number)
    }
}
