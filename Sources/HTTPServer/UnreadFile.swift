import Glibc

/// A file that a client has not read to the end. Its space is not free before that, even if the file is deleted.
public struct UnreadFile: Hashable, Sendable {
    /// The absolute path, without symbolic links. Once the file is deleted, what the system shows in its place.
    public let path: String
    /// True if the file has no name any more: only those who read it keep it.
    public let isDeleted: Bool
    /// The bytes that it takes on the disk.
    public let bytes: Int64

    /// Looks at an open file; nil if the system does not say what it is.
    init?(_ descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/fd/\(descriptor)", &buffer, buffer.count)
        path = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        isDeleted = status.st_nlink == 0
        bytes = Int64(status.st_blocks) * 512
    }
}

/// An open file of which parts wait in a connection's queue. It is closed with the reply.
final class ReplyFile {
    let descriptor: Int32
    /// The descriptor of the body, of which `descriptor` may be a duplicate.
    let original: Int32

    /// - Parameter isOwned: true to take ownership of the descriptor. Otherwise it is duplicated, since the body may end before the
    ///   client has read it. Nil if there are no descriptors left.
    init?(_ original: Int32, isOwned: Bool) {
        if isOwned {
            descriptor = original
        } else {
            descriptor = fcntl(original, F_DUPFD_CLOEXEC, 0)
        }
        self.original = original
        guard descriptor >= 0 else { return nil }
    }

    deinit {
        if descriptor >= 0 {
            close(descriptor)
        }
    }
}
