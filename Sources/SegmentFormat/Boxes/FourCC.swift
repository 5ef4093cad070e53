/// The type of a box, a handler or a sample entry (ISO/IEC 14496-12 §4.2): four bytes, most often letters.
public struct FourCC: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The bytes as a big-endian number.
    public let rawValue: UInt32

    /// Any four bytes.
    public init(_ rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Four characters of source text; of more, the last four count.
    public init(stringLiteral value: StaticString) {
        rawValue = value.withUTF8Buffer { $0.reduce(0) { $0 << 8 | UInt32($1) } }
    }

    /// The letters, or the number in hexadecimal where there is one that cannot be printed.
    public var description: String {
        let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: rawValue >> $0) }
        return bytes.allSatisfy { 0x20...0x7E ~= $0 }
            ? String(decoding: bytes, as: UTF8.self) : "0x" + String(rawValue, radix: 16)
    }
}
