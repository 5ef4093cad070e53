/// A box (ISO/IEC 14496-12 §4.2): where it lies, and what it says it is.
public struct Box: Hashable, Sendable {
    /// The four characters; of a user's extension, `uuid`.
    public let type: FourCC
    /// All of it, header included, by its place in the file.
    public let range: Range<Int>
    /// The bytes before what it holds: 8, with a 64-bit size 16, and 16 more of a user's extension.
    public let headerSize: Int
    /// Its size was written as 0: it goes to the end of the file, however long that gets.
    public let endsWithFile: Bool

    /// What it holds.
    public var payload: Range<Int> { (range.lowerBound + headerSize)..<range.upperBound }
    /// Where the 16 bytes of a user's extended type are; nil of any other box.
    public var extendedType: Range<Int>? {
        type == "uuid" ? (payload.lowerBound - 16)..<payload.lowerBound : nil
    }
}

extension Box {
    /// The boxes of a file in memory, in order: the first begins at 0, each where the one before ends, the last at the
    /// end.
    public static func topLevel(of bytes: [UInt8]) throws(SegmentFormatError) -> [Box] {
        try boxes(of: bytes, in: 0..<bytes.count, file: nil)
    }

    /// The boxes in a box that holds nothing else, in order, after `skipping` bytes of its payload: 4 of a full box.
    ///
    /// The box must be one of the same bytes.
    public func children(in bytes: [UInt8], skipping: Int = 0) throws(SegmentFormatError) -> [Box] {
        guard skipping <= payload.count else {
            throw SegmentFormatError(.truncated, type, at: range.lowerBound, "it ends within its first fields")
        }
        return try Self.boxes(of: bytes, in: (payload.lowerBound + skipping)..<payload.upperBound, file: type)
    }

    private static func boxes(
        of bytes: [UInt8], in range: Range<Int>, file parent: FourCC?
    ) throws(SegmentFormatError) -> [Box] {
        var reader = BoxReader(FileBytes(bytes: bytes, origin: 0), in: parent, range)
        var found: [Box] = []
        while let box = try reader.box() { found.append(box) }
        return found
    }

    /// The header of a box of this type, with a 32-bit size.
    static func header(_ type: FourCC, size: Int) -> [UInt8] {
        var header: [UInt8] = []
        header.append(integer: UInt32(size))
        header.append(integer: type.rawValue)
        return header
    }

    /// The header written anew for a box that has grown; nil where a 32-bit size cannot say it.
    func header(grownBy growth: Int, from source: FileBytes) -> [UInt8]? {
        let size = range.count + growth
        if endsWithFile { return Array(source[range.lowerBound..<payload.lowerBound]) }
        // A size of 1 announces 64 bits after the type.
        guard source.integer(UInt32.self, at: range.lowerBound) != 1 else {
            var header: [UInt8] = []
            header.append(integer: UInt32(1))
            header.append(integer: type.rawValue)
            header.append(integer: UInt64(size))
            return header + source[(range.lowerBound + 16)..<payload.lowerBound]
        }
        guard size <= UInt32.max else { return nil }
        return Self.header(type, size: size) + source[(range.lowerBound + 8)..<payload.lowerBound]
    }
}

extension [UInt8] {
    /// Appends a number, its highest byte first.
    mutating func append(integer: some FixedWidthInteger) {
        var shift = integer.bitWidth - 8
        while shift >= 0 {
            append(UInt8(truncatingIfNeeded: integer >> shift))
            shift -= 8
        }
    }
}
