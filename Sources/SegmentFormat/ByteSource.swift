/// A file of known length whose bytes are read in parts, on demand.
///
/// Parsing reads the boxes, a few kilobytes of a segment, and never the media between them, which is sent unread (sendfile).
public struct ByteSource {
    /// The length of the file in bytes.
    public let count: Int
    private let reading: (Range<Int>) -> [UInt8]?

    /// Creates a source from a read function.
    ///
    /// `reading` gets ranges within the file. Parsing fails (`unreadable`) if it returns nil or another length.
    public init(count: Int, reading: @escaping (Range<Int>) -> [UInt8]?) {
        self.count = count
        self.reading = reading
    }

    /// Creates a source over bytes in memory.
    public init(_ bytes: [UInt8]) { self.init(count: bytes.count) { Array(bytes[$0]) } }

    /// Reads the whole file; nil if it cannot be read.
    public func contents() -> [UInt8]? { try? bytes(0..<count).bytes }

    /// Reads a range, which must be within the file.
    func bytes(_ range: Range<Int>) throws(SegmentFormatError) -> FileBytes {
        guard let bytes = reading(range), bytes.count == range.count else {
            throw SegmentFormatError(.unreadable, at: range.lowerBound, "the file could not be read")
        }
        return FileBytes(bytes: bytes, origin: range.lowerBound)
    }
}

/// A read-ahead window over a file: the bytes of the latest read, so that adjacent boxes share one read.
struct SourceWindow {
    let source: ByteSource
    private var current = FileBytes(bytes: [], origin: 0)
    /// Minimum bytes of one read: more than most `moof` boxes with the boxes in front of them.
    static let step = 8192
    init(_ source: ByteSource) { self.source = source }

    /// Returns bytes that include the range, and perhaps more. The range must be within the file.
    mutating func bytes(_ range: Range<Int>) throws(SegmentFormatError) -> FileBytes {
        if current.range.lowerBound <= range.lowerBound, range.upperBound <= current.range.upperBound {
            return current
        }
        let end = min(source.count, max(range.upperBound, range.lowerBound + Self.step))
        current = try source.bytes(range.lowerBound..<end)
        return current
    }
}

/// A part of a file in memory, addressed by file offset.
struct FileBytes: Sendable {
    let bytes: [UInt8]
    /// File offset of the first byte.
    let origin: Int
    var range: Range<Int> { origin..<(origin + bytes.count) }

    /// Reads a big-endian integer, which must be within ``range``.
    func integer<T: FixedWidthInteger>(_ type: T.Type = T.self, at position: Int) -> T {
        var value: T = 0
        for index in (position - origin)..<(position - origin + T.bitWidth / 8) {
            value = value << 8 | T(truncatingIfNeeded: bytes[index])
        }
        return value
    }

    /// The bytes of a part, which must be within ``range``.
    subscript(_ part: Range<Int>) -> ArraySlice<UInt8> {
        bytes[(part.lowerBound - origin)..<(part.upperBound - origin)]
    }
}
