import EventLoop
import Glibc
import HTTPMessage
import HTTPServer

/// Holds a small piece in memory and its file open. Players request initialization sections, keys and subtitles again
/// and again.
///
/// One system call verifies that the file still exists unchanged. Opening, reading and closing it takes four.
@LoopActor final class SmallPiece {
    let bytes: [UInt8]
    /// The head of the reply.
    let representation: Representation
    private let file: OwnedDescriptor
    private let changed: timespec

    /// The largest piece that is held in memory, in bytes.
    static let limit = 16 * 1024

    /// Takes ownership of a file with this status; nil if it cannot be read.
    init?(_ file: consuming OwnedDescriptor, _ status: stat, _ representation: Representation) {
        let descriptor = file.rawValue
        let count = Int(status.st_size)
        var isWhole = false
        bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = max(0, pread(descriptor, buffer.baseAddress, count, 0))
            isWhole = filled == count
        }
        self.file = file
        self.representation = representation
        changed = status.st_mtim
        guard isWhole else { return nil }
    }

    /// True if the file was not deleted, replaced or modified.
    var isCurrent: Bool {
        var status = stat()
        return fstat(file.rawValue, &status) == 0 && status.st_nlink > 0 && Int(status.st_size) == bytes.count
            && status.st_mtim.tv_sec == changed.tv_sec && status.st_mtim.tv_nsec == changed.tv_nsec
    }
}
