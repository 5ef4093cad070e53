import CTestSupport
import Foundation
import Glibc

/// The bytes of a resource of ``OriginServer``, with its validators.
enum OriginBody {
    /// A file, read piece by piece.
    case file(OpenFile)
    /// Bytes made for one reply.
    case bytes([UInt8])
    /// `size` bytes in packets of 188: a `G`, twelve digits of the packet's own offset, a blank, and the name over and over.
    case pattern(size: Int, name: String)

    /// An open file that is closed with the last reference.
    final class OpenFile {
        let size: Int
        let modified: Int
        private let descriptor: Int32

        /// Opens a regular file; nil if there is none.
        init?(path: String) {
            descriptor = open(path, O_RDONLY | O_CLOEXEC)
            var status = stat()
            guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                if descriptor >= 0 {
                    close(descriptor)
                }
                return nil
            }
            size = status.st_size
            modified = status.st_mtim.tv_sec
        }

        deinit {
            close(descriptor)
        }

        func read(from offset: Int, count: Int) -> [UInt8] {
            [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                initialized = max(0, pread(descriptor, buffer.baseAddress, count, offset))
            }
        }
    }

    var size: Int {
        switch self {
        case .file(let file): file.size
        case .bytes(let bytes): bytes.count
        case .pattern(let size, _): size
        }
    }

    /// The entity tag without its quotes, made as nginx makes it; nil if the body has none.
    var tag: String? {
        switch self {
        case .file(let file):
            return String(file.modified, radix: 16) + "-" + String(file.size, radix: 16)
        case .bytes:
            return nil
        case .pattern(let size, _):
            return "size-\(size)"
        }
    }

    /// The date for Last-Modified; nil if the body has none.
    var modified: String? {
        guard case .file(let file) = self else { return nil }
        return OriginDate.text(file.modified, format: "%a, %d %b %Y %H:%M:%S GMT")
    }

    /// Returns the bytes from `offset` on, at most `count` of them.
    func read(from offset: Int, count: Int) -> [UInt8] {
        let end = min(size, offset + count)
        guard offset < end else { return [] }

        switch self {
        case .file(let file):
            return file.read(from: offset, count: end - offset)
        case .bytes(let bytes):
            return Array(bytes[offset..<end])
        case .pattern(_, let name):
            return OriginBody.pattern(of: name, offset..<end)
        }
    }

    /// Returns the bytes in gzip format.
    func compressed() -> OriginBody {
        var stream = z_stream()
        weir_gzip_begin(&stream)
        defer { deflateEnd(&stream) }

        var plain = read(from: 0, count: size)
        let bound = Int(deflateBound(&stream, uLong(plain.count)))
        let packed = [UInt8](unsafeUninitializedCapacity: bound) { buffer, initialized in
            plain.withUnsafeMutableBufferPointer { source in
                stream.next_in = source.baseAddress
                stream.avail_in = uInt(source.count)
                stream.next_out = buffer.baseAddress
                stream.avail_out = uInt(buffer.count)
                deflate(&stream, Z_FINISH)
            }
            initialized = Int(stream.total_out)
        }
        return .bytes(packed)
    }

    private static let packet = 188
    private static let digits = 12

    private static func pattern(of name: String, _ range: Range<Int>) -> [UInt8] {
        let text = Array((name + " ").utf8)
        let tail = (0..<packet - digits - 2).map { text[$0 % text.count] }
        let first = range.lowerBound / packet * packet

        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count + 2 * packet)
        for offset in stride(from: first, to: range.upperBound, by: packet) {
            bytes.append(UInt8(ascii: "G"))
            var divisor = 100_000_000_000
            while divisor > 0 {
                bytes.append(UInt8(ascii: "0") + UInt8(offset / divisor % 10))
                divisor /= 10
            }
            bytes.append(UInt8(ascii: " "))
            bytes += tail
        }
        return Array(bytes[(range.lowerBound - first)..<(range.upperBound - first)])
    }
}

/// Writes points in time as text, in UTC.
enum OriginDate {
    /// - Parameter format: as `strftime` takes it.
    static func text(_ secondsSince1970: Int, format: String) -> String {
        var seconds = time_t(secondsSince1970)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        var buffer = [CChar](repeating: 0, count: 64)
        let count = strftime(&buffer, buffer.count, format, &parts)
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
