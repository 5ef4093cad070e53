import EventLoop
import Glibc
import HTTPMessage
import HTTPServer

/// A small piece in memory, and its file held open: initialization sections, keys and subtitles are asked for again and
/// again.
///
/// That the file still has a name, and is as it was, takes one question to the system; to open, read and close it takes
/// four.
@LoopActor final class SmallPiece {
    /// The whole piece.
    let bytes: [UInt8]
    /// How it is answered.
    let representation: Representation
    private let file: OwnedDescriptor
    private let changed: timespec

    /// The largest piece that is kept so, in bytes.
    static let limit = 16 * 1024

    /// Takes over a file with this status; nil if it cannot be read.
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

    /// Whether the file is neither deleted, nor replaced, nor written to.
    var isCurrent: Bool {
        var status = stat()
        return fstat(file.rawValue, &status) == 0 && status.st_nlink > 0 && Int(status.st_size) == bytes.count
            && status.st_mtim.tv_sec == changed.tv_sec && status.st_mtim.tv_nsec == changed.tv_nsec
    }
}
