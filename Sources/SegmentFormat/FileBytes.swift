/// Bytes of a file, addressed by their place in the file.
struct FileBytes: Sendable {
    /// The bytes from `origin` on.
    let bytes: [UInt8]
    /// The place of the first of them in the file.
    let origin: Int

    /// The places that are here.
    var range: Range<Int> { origin..<(origin + bytes.count) }

    /// A big-endian number; it must lie within ``range``.
    func integer<T: FixedWidthInteger>(_ type: T.Type = T.self, at position: Int) -> T {
        var value: T = 0
        for index in (position - origin)..<(position - origin + T.bitWidth / 8) {
            value = value << 8 | T(truncatingIfNeeded: bytes[index])
        }
        return value
    }

    /// The bytes of a part, which must lie within ``range``.
    subscript(_ part: Range<Int>) -> ArraySlice<UInt8> {
        bytes[(part.lowerBound - origin)..<(part.upperBound - origin)]
    }
}
