import Glibc
package import SegmentFormat
import Store

/// Reads stored pieces on which decisions depend.
extension PieceFolder {
    /// Opens a piece for `body` to read; nil if it is not stored, cannot be read, or was changed by another program since it was
    /// verified. Then it is verified, which counts as a change of the folder once it has ended.
    package func reading<T>(_ file: String, _ body: (ByteSource) -> T?) -> T? {
        guard let open = openPiece(file) else { return nil }
        defer { close(open.descriptor) }
        if case .changed = open.state {
            verify(file, isUrgent: false) { [weak self] in self?.recordChange() }
            return nil
        }
        return ByteSource(descriptor: open.descriptor).flatMap(body)
    }
}

extension ByteSource {
    /// Creates a source that reads a file on demand; nil if its length is unknown. The descriptor must stay open.
    package init?(descriptor: Int32) {
        guard let identity = FileIdentity(of: descriptor) else { return nil }
        self.init(count: Int(identity.size)) { range in
            let bytes = [UInt8](unsafeUninitializedCapacity: range.count) { buffer, filled in
                while filled < range.count {
                    let got = pread(
                        descriptor, buffer.baseAddress.map { $0 + filled }, range.count - filled,
                        range.lowerBound + filled)
                    if got < 0, errno == EINTR {
                        continue
                    }
                    guard got > 0 else { break }
                    filled += got
                }
            }
            guard bytes.count == range.count else { return nil }
            return bytes
        }
    }
}
