/// A sub-range of a resource (RFC 8216 §4.3.2.2): at least one byte, and its end never beyond `Int.max`.
public struct SubRange: Hashable, Sendable, CustomStringConvertible {
    /// The first byte's place in the resource, from 0.
    public let offset: Int
    /// The number of bytes, from 1.
    public let length: Int

    /// A sub-range; nil where the length is not positive, the offset negative, or the end beyond `Int.max`.
    public init?(offset: Int, length: Int) {
        guard offset >= 0, length > 0, !offset.addingReportingOverflow(length).overflow else { return nil }
        self.offset = offset
        self.length = length
    }

    /// The place after the last byte.
    public var end: Int { offset + length }

    /// The form in playlists with the offset written out: `length@offset`.
    public var description: String { "\(length)@\(offset)" }

    /// Reads `n[@o]`: the length and, where it is written, the offset; nil for anything else.
    static func parts(_ bytes: [UInt8], _ range: Range<Int>) -> (length: Int, offset: Int?)? {
        let at = bytes.firstIndex(of: UInt8(ascii: "@"), in: range)
        let lengthRange = bytes.trimmed(range.lowerBound..<(at ?? range.upperBound))
        guard let length = bytes.decimalInteger(lengthRange) else { return nil }
        guard let at else { return (length, nil) }
        guard let offset = bytes.decimalInteger(bytes.trimmed(at + 1..<range.upperBound)) else { return nil }
        return (length, offset)
    }
}
