/// A bounds-checked cursor over the payload of a box or over a file's top level. Reads integers and boxes.
struct BoxReader {
    let source: FileBytes
    /// The enclosing box, for errors; nil at the top level.
    let parent: FourCC?
    /// File offset of the end of the payload.
    let end: Int
    /// File offset of the next read.
    private(set) var position: Int

    /// Creates a reader over a range. The range may exceed `source`, but integers must be read within `source` only.
    init(_ source: FileBytes, in parent: FourCC?, _ range: Range<Int>) {
        self.source = source
        self.parent = parent
        position = range.lowerBound
        end = range.upperBound
    }

    init(_ source: FileBytes, _ box: Box) { self.init(source, in: box.type, box.payload) }
    var remaining: Int { end - position }

    /// Skips bytes and returns the file offset of the first skipped byte.
    @discardableResult
    mutating func skip(_ count: Int) throws(SegmentFormatError) -> Int {
        guard count <= remaining else {
            throw error(.truncated, "it ends \(count - remaining) bytes before its fields do")
        }
        defer { position += count }
        return position
    }

    mutating func integer<T: FixedWidthInteger>(_ type: T.Type = T.self) throws(SegmentFormatError) -> T {
        source.integer(at: try skip(T.bitWidth / 8))
    }

    mutating func bytes(_ count: Int) throws(SegmentFormatError) -> [UInt8] {
        let start = try skip(count)
        return Array(source[start..<(start + count)])
    }

    mutating func rest() -> [UInt8] {
        defer { position = end }
        return Array(source[position..<end])
    }

    /// Reads the version and flags of a full box (ISO/IEC 14496-12 §4.2).
    mutating func fullBox() throws(SegmentFormatError) -> (version: UInt8, flags: UInt32) {
        let word: UInt32 = try integer()
        return (UInt8(word >> 24), word & 0xFF_FFFF)
    }

    /// Reads an integer of 64 bits in a box of version 1, else of 32 bits.
    mutating func integer(version: UInt8) throws(SegmentFormatError) -> UInt64 {
        guard version == 1 else { return UInt64(try integer(UInt32.self)) }
        return try integer()
    }

    /// The number of bytes of an integer that `integer(version:)` reads.
    static func count(version: UInt8) -> Int { version == 1 ? 8 : 4 }

    /// Reads the next box header and moves the cursor past the box; nil at the end.
    mutating func box() throws(SegmentFormatError) -> Box? {
        guard position < end else { return nil }
        let start = position
        guard remaining >= 8 else { throw error(.truncated, "\(remaining) bytes are left, too few for a box") }
        let size: UInt32 = try integer()
        let type = FourCC(try integer())
        var long = UInt64(size)
        if size == 1 {
            long = try field(of: type, from: start)
        }
        if type == "uuid" {
            try field(of: type, from: start, 16)
        }
        return try finishBox(type, from: start, size: long, endsWithFile: size == 0)
    }

    /// Validates the size of a box whose header has been read, and moves the cursor past the box.
    private mutating func finishBox(
        _ type: FourCC, from start: Int, size: UInt64, endsWithFile: Bool
    ) throws(SegmentFormatError) -> Box {
        func fault(_ code: SegmentFormatError.Code, _ reason: String) -> SegmentFormatError {
            SegmentFormatError(code, of: type, at: start, reason)
        }

        let header = position - start
        guard !endsWithFile || parent == nil else {
            throw fault(.badSize, "a size of 0 may stand at the top level alone")
        }
        var size = size
        if endsWithFile {
            size = UInt64(end - start)
        }

        guard size >= header else { throw fault(.badSize, "its size is \(size), less than its own header") }
        guard size <= end - start else {
            var holder = "the file has"
            if let parent {
                holder = "\(parent) has"
            }
            throw fault(.truncated, "its size is \(size), and \(holder) \(end - start) bytes left")
        }
        position = start + Int(size)
        return Box(type: type, range: start..<position, headerSize: header, endsWithFile: endsWithFile)
    }

    private mutating func field(of type: FourCC, from start: Int) throws(SegmentFormatError) -> UInt64 {
        try field(of: type, from: start, 8)
        return source.integer(at: position - 8)
    }

    private mutating func field(of type: FourCC, from start: Int, _ count: Int) throws(SegmentFormatError) {
        guard remaining >= count else {
            throw SegmentFormatError(.truncated, of: type, at: start, "its header is cut off")
        }
        position += count
    }

    /// Throws if a list that has `count` entries may not have another.
    func checkRoom(_ count: Int) throws(SegmentFormatError) {
        if count >= SegmentFormatLimits.listed {
            throw error(.overLimit, "it has more than \(count) entries")
        }
    }

    func error(_ code: SegmentFormatError.Code, _ reason: String) -> SegmentFormatError {
        SegmentFormatError(code, in: parent?.description, at: position, reason)
    }
}
