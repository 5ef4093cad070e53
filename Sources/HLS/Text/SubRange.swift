/// A sub-range of a resource (RFC 8216 §4.3.2.2): 1 byte to 4 TiB, with its end not beyond `Int.max`. So the lengths of all
/// ranges of a playlist can be added.
public struct SubRange: Hashable, Sendable, CustomStringConvertible {
    /// Offset of the first byte, from 0.
    public let offset: Int
    /// Number of bytes, at least 1.
    public let length: Int

    private static let longest = 4 << 40

    /// Creates a sub-range; nil if the length is not positive or too large, the offset is negative, or the end exceeds
    /// `Int.max`.
    public init?(offset: Int, length: Int) {
        guard offset >= 0, (1...Self.longest).contains(length), !offset.addingReportingOverflow(length).overflow else {
            return nil
        }
        self.offset = offset
        self.length = length
    }

    /// Creates a sub-range whose end only the origin knows; nil if the offset is negative. Its length is counted in no sum.
    public init?(openFrom offset: Int) {
        guard offset >= 0, offset < .max else { return nil }
        self.offset = offset
        length = .max - offset
    }

    /// The length for sums.
    public var size: ByteCount { ByteCount(length) }
    /// Offset after the last byte.
    public var end: Int { offset + length }
    /// The playlist form with its offset: `length@offset`.
    public var description: String { "\(length)@\(offset)" }

    /// Parses `n[@o]` into the length and the optional offset; nil for anything else. `n@` has no offset, as `n`.
    static func parts(_ bytes: [UInt8], _ range: Range<Int>) -> (length: Int, offset: Int?)? {
        let at = bytes.firstIndex(of: UInt8(ascii: "@"), in: range)
        let lengthRange = bytes.trimmed(range.lowerBound..<(at ?? range.upperBound))
        guard let length = bytes.decimalInteger(lengthRange) else { return nil }
        guard let at else { return (length, nil) }
        let offsetRange = bytes.trimmed(at + 1..<range.upperBound)
        guard !offsetRange.isEmpty else { return (length, nil) }
        guard let offset = bytes.decimalInteger(offsetRange) else { return nil }
        return (length, offset)
    }
}

/// EXT-X-BYTERANGE (RFC 8216 §4.3.2.2).
enum ByteRangeTag {
    /// Parses the byte range in `value` and resolves its offset. Without an offset the range begins at the end of the
    /// previous segment's or part's range, or else at 0.
    static func resolve(
        _ text: PlaylistText, _ line: Int, value: Range<Int>, previous: SubRange?
    ) throws(PlaylistError) -> SubRange {
        guard let parts = SubRange.parts(text.bytes, value) else {
            throw text.error(.badValue, line: line, "the byte range is not length@offset")
        }
        let offset = parts.offset ?? previous?.end
        guard let range = SubRange(offset: offset ?? 0, length: parts.length) else {
            throw text.error(.badValue, line: line, "the byte range is empty or too large")
        }
        return range
    }

    static func isImplicit(_ text: PlaylistText, _ line: Int) -> Bool {
        text.bytes.firstIndex(of: UInt8(ascii: "@"), in: text.value(line)) == nil
    }
}
