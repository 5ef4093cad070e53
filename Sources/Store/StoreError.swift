import Glibc

/// Why the store could not do what was asked.
public struct StoreError: Error, CustomStringConvertible, Sendable {
    /// What kind of trouble it is, as far as the caller's next step depends on it.
    public enum Code: String, Sendable {
        /// No such file or folder.
        case missing
        /// No permission, or a read-only file system.
        case notWritable
        /// The disk or the quota is full.
        case diskFull
        /// Another process holds the store.
        case busy
        /// Bytes that came a second time differ from those that came first.
        case contentChanged
        /// A file ended before, or ran past, the length that it should have.
        case wrongLength
        /// There is something already where something new was to come.
        case exists
        /// Another program that was needed failed.
        case program
        /// A name that may not stand in the store.
        case badName
        /// The catalogue could not be read or written.
        case catalogue
        /// A newer Weir has changed the catalogue in a way that this one does not know.
        case newer
        /// The store is in another folder by now.
        case moved
        /// The disk on which it lies is not there.
        case away
        /// Any other error of the system.
        case io
    }

    /// The kind of trouble.
    public let code: Code
    /// The file or folder in question.
    public let path: String
    /// The system's reason, as in errno(3); 0 where the system was not asked.
    public let errno: Int32
    /// What to add for a reader, such as SQLite's own words.
    public let detail: String?

    /// An error without a system call behind it.
    public init(_ code: Code, path: String, detail: String? = nil) {
        self.code = code
        self.path = path
        self.errno = 0
        self.detail = detail
    }

    /// The error of a system call that has just failed. The one place that turns errno into a code.
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

    /// A sentence for a message: what, where, and the system's word.
    public var description: String {
        let reason = detail ?? (errno != 0 ? String(cString: strerror(errno)) : Self.words(for: code))
        return "\(path): \(reason)"
    }

    private static func words(for code: Code) -> String {
        switch code {
        case .missing: "no such file"
        case .notWritable: "cannot be written"
        case .diskFull: "the disk is full"
        case .busy: "in use by another weir"
        case .contentChanged: "the origin's bytes are not those that it sent before"
        case .wrongLength: "not of the length that was announced"
        case .exists: "there is something already"
        case .program: "it failed"
        case .badName: "not a name for the store"
        case .catalogue: "the catalogue cannot be used"
        case .newer: "a newer Weir has changed it"
        case .moved: "the store is elsewhere now"
        case .away: "not there"
        case .io: "input/output error"
        }
    }
}
