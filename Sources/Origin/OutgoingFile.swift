import Glibc

/// An open file as the body of a PUT. libcurl reads it piece by piece, so it is never whole in memory.
///
/// Owns its descriptor. Sendable: `pread` does not use the descriptor's offset.
public final class OutgoingFile: Sendable {
    /// The number of bytes to send.
    public let size: Int64
    private let descriptor: Int32

    /// Takes ownership of the descriptor of a file with `size` bytes.
    public init(taking descriptor: Int32, size: Int64) { (self.descriptor, self.size) = (descriptor, size) }

    deinit { close(descriptor) }

    /// Reads from `offset`, at most what fits; nil if the file is too short or unreadable.
    func read(at offset: Int64, into room: UnsafeMutableRawBufferPointer) -> Int? {
        let count = min(Int64(room.count), size - offset)
        guard count > 0 else { return 0 }
        while true {
            let got = pread(descriptor, room.baseAddress, Int(count), off_t(offset))
            if got < 0, errno == EINTR { continue }
            return got > 0 ? got : nil
        }
    }
}
