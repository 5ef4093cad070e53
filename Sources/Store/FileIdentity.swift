import CLinux
import Glibc

/// The facts by which it shows that a file has changed: the file itself, its length, and the times of its last write and of the
/// last change of its status. Programs can set the time of the write, as tag editors do, but not the other one.
package struct FileIdentity: Hashable, Sendable {
    /// The file, whatever its name and contents.
    package struct File: Hashable, Sendable {
        let device: UInt64
        let inode: UInt64

        /// Creates a file from the numbers by which the system identifies it.
        package init(device: UInt64, inode: UInt64) {
            self.device = device
            self.inode = inode
        }

        init(_ status: stat) { self.init(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)) }
    }

    package let file: File
    /// The length in bytes.
    package let size: Int64
    /// The time of the last write, in nanoseconds since 1970.
    package let modified: Int64
    /// The time of the last change of contents, links, permissions or times, in nanoseconds since 1970.
    private let changed: Int64

    /// The identity of a file with this status.
    init(_ status: stat) {
        file = File(status)
        size = Int64(status.st_size)
        modified = Self.nanoseconds(status.st_mtim)
        changed = Self.nanoseconds(status.st_ctim)
    }

    /// The identity of an open file; nil if the system does not tell its status.
    package init?(of descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    /// True for another status of the same file, with the same length and time of the last write.
    func differsOnlyInStatus(from other: FileIdentity) -> Bool {
        file == other.file && size == other.size && modified == other.modified
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec &* 1_000_000_000 &+ time.tv_nsec)
    }
}
