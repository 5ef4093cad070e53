import Glibc

/// An error of the store.
public struct StoreError: Error, CustomStringConvertible, Sendable {
    /// The kind of error, as far as the caller's next step depends on it.
    public enum Code: String, Sendable, CaseIterable {
        /// `notWritable` also for a read-only file system, `diskFull` also for a quota.
        case missing, notWritable, diskFull
        /// Another process holds the store.
        case busy
        /// Bytes of a repeated response differ from the bytes received first.
        case contentChanged
        case wrongLength, exists
        /// Another program failed.
        case program
        case badName, catalogue
        /// A newer Weir wrote a format that this one does not know.
        case newer
        /// The store was moved to another folder.
        case moved
        /// The volume's disk is not mounted.
        case away
        /// Another system error.
        case io
    }

    /// The kind of error.
    public let code: Code
    /// The file or folder.
    public let path: String
    /// The system's error number, errno(3); 0 if no system call failed.
    public let errno: Int32
    /// Details for a reader, such as SQLite's message.
    public let detail: String?

    /// Makes an error that no system call caused.
    public init(_ code: Code, path: String, detail: String? = nil) {
        self.code = code
        self.path = path
        self.errno = 0
        self.detail = detail
    }

    /// Makes the error of a system call that has just failed. Nothing else converts errno into a code.
    init(path: String, errno number: Int32 = Glibc.errno) {
        self.path = path
        errno = number
        detail = nil
        switch number {
        case ENOENT, ENOTDIR: code = .missing
        case EACCES, EPERM, EROFS: code = .notWritable
        case EEXIST: code = .exists
        case ENOSPC, EDQUOT, EFBIG: code = .diskFull
        case EWOULDBLOCK: code = .busy
        default: code = .io
        }
    }

    /// Makes the error of a read or write that moved no bytes. `count` is its result: 0 sets no errno.
    static func incomplete(_ count: Int, path: String) -> StoreError {
        guard count == 0 else { return StoreError(path: path) }
        return StoreError(.io, path: path)
    }

    /// The error of a rename to the folder at `path`. rename(2) reports ENOTEMPTY if the target folder has files.
    func renaming(to path: String) -> StoreError {
        guard errno == ENOTEMPTY else { return self }
        return StoreError(.exists, path: path)
    }

    /// The path and the reason, for a message.
    public var description: String { "\(path): \(reason)" }

    private var reason: String {
        if let detail {
            return detail
        }
        guard errno != 0 else { return Self.words(for: code) }
        return String(cString: strerror(errno))
    }

    private static func words(for code: Code) -> String {
        switch code {
        case .missing: "no such file"
        case .notWritable: "cannot be written"
        case .diskFull: "the disk is full"
        case .busy: "in use by another weir"
        case .contentChanged: "the origin has sent other bytes than before"
        case .wrongLength: "the length is not the one that was announced"
        case .exists: "a file or folder is there already"
        case .program: "it failed"
        case .badName: "not a name that the store allows"
        case .catalogue: "the catalogue cannot be used"
        case .newer: "a newer Weir has changed it"
        case .moved: "the store was moved to another folder"
        case .away: "the disk is not mounted"
        case .io: "input/output error"
        }
    }
}
