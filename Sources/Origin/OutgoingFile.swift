import Glibc

/// An open file on its way to a server, as the body of a PUT: read from the disk as libcurl has room, never whole in
/// memory. Owns its descriptor. Sendable: where the descriptor stands does not matter.
public final class OutgoingFile: Sendable {
    /// How many bytes are sent.
    public let size: Int64
    private let descriptor: Int32

    /// Takes over a descriptor of a file that has `size` bytes.
    public init(taking descriptor: Int32, size: Int64) { (self.descriptor, self.size) = (descriptor, size) }

    deinit { close(descriptor) }

    /// Reads from `offset` on, as much as there is room for; nil where the file gives less than it has to.
    func read(at offset: Int64, into room: UnsafeMutableRawBufferPointer) -> Int? {
        let wanted = min(Int64(room.count), size - offset)
        guard wanted > 0 else { return 0 }
        while true {
            let count = pread(descriptor, room.baseAddress, Int(wanted), off_t(offset))
            if count < 0, errno == EINTR { continue }
            return count > 0 ? count : nil
        }
    }
}
