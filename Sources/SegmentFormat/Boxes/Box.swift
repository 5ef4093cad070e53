/// The header of a box (ISO/IEC 14496-12 §4.2): its type and its byte range in the file.
struct Box: Hashable, Sendable {
    /// The four-character type; `uuid` for a user extension.
    let type: FourCC
    /// File offsets of the whole box, header included.
    let range: Range<Int>
    /// Header length in bytes: 8, or 16 with a 64-bit size; a `uuid` box has 16 more.
    let headerSize: Int
    /// True if the size field is 0: the box extends to the end of the file.
    let endsWithFile: Bool
    var payload: Range<Int> { (range.lowerBound + headerSize)..<range.upperBound }
}

extension Box {
    /// Creates an error at the start of the box.
    func error(_ code: SegmentFormatError.Code, _ reason: String) -> SegmentFormatError {
        SegmentFormatError(code, of: type, at: range.lowerBound, reason)
    }

    static func header(_ type: FourCC, size: Int) -> [UInt8] {
        var header: [UInt8] = []
        header.append(integer: UInt32(size))
        header.append(integer: type.rawValue)
        return header
    }

    /// Rebuilds the header for a box that has grown; nil if the new size exceeds a 32-bit size field.
    func header(grownBy growth: Int, from source: FileBytes) -> [UInt8]? {
        let size = range.count + growth
        if endsWithFile {
            return Array(source[range.lowerBound..<payload.lowerBound])
        }
        // A size of 1 means that a 64-bit size follows the type.
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
    mutating func append(integer: some FixedWidthInteger) {
        var shift = integer.bitWidth - 8
        while shift >= 0 {
            append(UInt8(truncatingIfNeeded: integer >> shift))
            shift -= 8
        }
    }
}

/// A four-character code: the type of a box, a handler or a sample entry (ISO/IEC 14496-12 §4.2).
public struct FourCC: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The four bytes as a big-endian integer.
    public let rawValue: UInt32
    /// Creates a code from its integer value.
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }

    /// Creates a code from four ASCII characters. Of a longer literal, the last four count.
    public init(stringLiteral value: StaticString) {
        rawValue = value.withUTF8Buffer { $0.reduce(0) { $0 << 8 | UInt32($1) } }
    }

    /// The four characters, or the value in hexadecimal if one is not printable.
    public var description: String {
        let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: rawValue >> $0) }
        guard bytes.allSatisfy({ 0x20...0x7E ~= $0 }) else { return "0x" + String(rawValue, radix: 16) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
