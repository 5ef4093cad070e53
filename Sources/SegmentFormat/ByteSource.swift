/// A file that is read in parts: its length, and a way to its bytes.
///
/// Reading touches the boxes and never the media between them, so that a server reads a few kilobytes of a segment, and
/// sends the rest as it lies.
public struct ByteSource {
    /// The length of the file in bytes.
    public let count: Int
    private let reading: (Range<Int>) -> [UInt8]?

    /// A file on disk or anywhere.
    ///
    /// `reading` is given ranges within the file; nil, or another number of bytes, is an error of the code
    /// `unreadable`.
    public init(count: Int, reading: @escaping (Range<Int>) -> [UInt8]?) {
        self.count = count
        self.reading = reading
    }

    /// A file in memory.
    public init(_ bytes: [UInt8]) {
        self.init(count: bytes.count) { Array(bytes[$0]) }
    }

    /// Some of its bytes; the range must lie within the file.
    func bytes(_ range: Range<Int>) throws(SegmentFormatError) -> FileBytes {
        guard let bytes = reading(range), bytes.count == range.count else {
            throw SegmentFormatError(.unreadable, in: nil, at: range.lowerBound, "the file could not be read")
        }
        return FileBytes(bytes: bytes, origin: range.lowerBound)
    }
}

/// The last bytes that were read of a file, so that neighbours are read together.
struct SourceWindow {
    /// What is read from.
    let source: ByteSource
    private var current = FileBytes(bytes: [], origin: 0)

    /// One reading: more than most `moof`s with what stands before them.
    static let step = 8192

    /// Begins with nothing read.
    init(_ source: ByteSource) {
        self.source = source
    }

    /// Bytes that hold the range, which must lie within the file, and perhaps more.
    mutating func bytes(_ range: Range<Int>) throws(SegmentFormatError) -> FileBytes {
        if current.range.lowerBound <= range.lowerBound, range.upperBound <= current.range.upperBound { return current }
        let end = min(source.count, max(range.upperBound, range.lowerBound + Self.step))
        current = try source.bytes(range.lowerBound..<end)
        return current
    }
}
