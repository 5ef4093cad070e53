import EventLoop
import Fetching
import Glibc
public import SegmentFormat

extension ByteSource {
    /// Creates a source that reads an open file on demand. The descriptor must stay open while the source is in use.
    public init(descriptor: Int32, count: Int) {
        self.init(count: count) { range in
            var isWhole = false
            let bytes = [UInt8](unsafeUninitializedCapacity: range.count) { buffer, filled in
                while filled < range.count {
                    let got = pread(
                        descriptor, buffer.baseAddress.map { $0 + filled }, range.count - filled,
                        range.lowerBound + filled)
                    if got < 0, errno == EINTR { continue }
                    guard got > 0 else { break }
                    filled += got
                }
                isWhole = filled == range.count
            }
            return isWhole ? bytes : nil
        }
    }
}

extension PieceFolder {
    /// Opens a piece for `body` to read; nil if it is not stored, or cannot be read.
    func reading<T>(_ file: String, _ body: (ByteSource) throws -> T?) rethrows -> T? {
        guard let descriptor = open(file) else { return nil }
        defer { close(descriptor) }
        guard let count = Self.size(of: descriptor) else { return nil }
        return try body(ByteSource(descriptor: descriptor, count: count))
    }

    /// The length of an open file in bytes.
    nonisolated static func size(of descriptor: Int32) -> Int? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int(status.st_size) : nil
    }
}
