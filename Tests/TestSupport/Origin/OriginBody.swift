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
    /// A body of another size begins with a part of a packet, so that it ends with a whole one: nothing seems to be missing there.
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
        case .pattern(let size, let name):
            return OriginBody.pattern(of: name, size: size, offset..<end)
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

    /// Fewer packets are not recognised behind other bytes.
    private static let leastPackets = 5

    private static func pattern(of name: String, size: Int, _ range: Range<Int>) -> [UInt8] {
        let text = Array((name + " ").utf8)
        let tail = (0..<packet - digits - 2).map { text[$0 % text.count] }

        // The size of the part of a packet with which the body begins.
        let odd = size >= leastPackets * packet ? size % packet : 0
        let isInPart = range.lowerBound < odd
        let first = isInPart ? 0 : (range.lowerBound - odd) / packet * packet + odd

        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count + 2 * packet)
        if isInPart {
            appendPacket(at: 0, tail: tail, to: &bytes)
            bytes.removeLast(packet - odd)
        }
        for offset in stride(from: first + bytes.count, to: range.upperBound, by: packet) {
            appendPacket(at: offset, tail: tail, to: &bytes)
        }
        return Array(bytes[(range.lowerBound - first)..<(range.upperBound - first)])
    }

    private static func appendPacket(at offset: Int, tail: [UInt8], to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "G"))
        var divisor = 100_000_000_000
        while divisor > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(offset / divisor % 10))
            divisor /= 10
        }
        bytes.append(UInt8(ascii: " "))
        bytes += tail
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
