/// A decimal-resolution (RFC 8216 §4.2), in pixels.
public struct Resolution: Hashable, Sendable, CustomStringConvertible {
    /// The width.
    public let width: Int
    /// The height.
    public let height: Int

    /// A resolution of any size.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// The form in playlists, `1280x720`.
    public var description: String { "\(width)x\(height)" }
}

/// Typed access. Each gives nil where the attribute is absent and throws where it is not of the type.
extension AttributeList {
    /// A quoted-string or an enumerated-string that must be there and not be empty.
    public func required(_ name: String) throws(PlaylistError) -> String {
        guard let text = self[name], !text.isEmpty else {
            throw error(.missingAttribute, "the attribute \(name) is missing")
        }
        return text
    }

    /// `YES` or `NO`; anything else, or none, counts as NO, as RFC 8216 §4.3.4.1 has it for absence.
    public func flag(_ name: String) -> Bool {
        find(name).map { bytes.matches($0.content, "YES") } ?? false
    }

    /// A decimal-integer; a fraction, which some packagers write, is cut off.
    public func decimalInteger(_ name: String) throws(PlaylistError) -> Int? {
        guard let range = find(name)?.content else { return nil }
        let point = bytes.firstIndex(of: UInt8(ascii: "."), in: range) ?? range.upperBound
        let fraction = min(point + 1, range.upperBound)..<range.upperBound
        guard let value = bytes.decimalInteger(range.lowerBound..<point), bytes[fraction].allSatisfy(\.isDigit) else {
            throw bad(name, "a decimal integer")
        }
        return value
    }

    /// A decimal-floating-point, never negative.
    public func decimalFloat(_ name: String) throws(PlaylistError) -> Double? {
        guard let range = find(name)?.content else { return nil }
        guard let value = bytes.decimalFloat(range) else { throw bad(name, "a decimal number") }
        return value
    }

    /// A signed-decimal-floating-point; nil where it is absent or no such number.
    public func signedFloat(_ name: String) -> Double? {
        guard let range = find(name)?.content, !range.isEmpty else { return nil }
        let isNegative = bytes[range.lowerBound] == UInt8(ascii: "-")
        let digits = range.lowerBound + (isNegative ? 1 : 0)..<range.upperBound
        return bytes.decimalFloat(digits).map { isNegative ? -$0 : $0 }
    }

    /// A hexadecimal-sequence after `0x` or `0X`, in bytes, most significant first; digits of either case.
    public func hexadecimal(_ name: String) throws(PlaylistError) -> [UInt8]? {
        guard let range = find(name)?.content else { return nil }
        let digits = bytes[range].dropFirst(2)
        guard range.count > 2, bytes[range].first == 0x30, bytes[range.lowerBound + 1] | 0x20 == 0x78 else {
            throw bad(name, "a hexadecimal sequence")
        }
        var (value, half): ([UInt8], UInt8?) = ([], digits.count % 2 == 1 ? 0 : nil)
        for digit in digits {
            guard let nibble = digit.hexadecimalValue else { throw bad(name, "a hexadecimal sequence") }
            if let high = half { value.append(high << 4 | nibble) }
            half = half == nil ? nibble : nil
        }
        return value
    }

    /// A decimal-resolution.
    public func resolution(_ name: String) throws(PlaylistError) -> Resolution? {
        guard let range = find(name)?.content else { return nil }
        guard let cross = bytes[range].firstIndex(where: { $0 | 0x20 == UInt8(ascii: "x") }),
            let width = bytes.decimalInteger(bytes.trimmed(range.lowerBound..<cross)),
            let height = bytes.decimalInteger(bytes.trimmed(cross + 1..<range.upperBound))
        else { throw bad(name, "a resolution") }
        return Resolution(width: width, height: height)
    }

    /// A byte range `n[@o]`; without an offset it begins at 0, since no segment precedes what an attribute names.
    public func subRange(_ name: String) throws(PlaylistError) -> SubRange? {
        guard let range = find(name)?.content else { return nil }
        guard let parts = SubRange.parts(bytes, range),
            let subRange = SubRange(offset: parts.offset ?? 0, length: parts.length)
        else { throw bad(name, "a byte range") }
        return subRange
    }

    private func bad(_ name: String, _ type: String) -> PlaylistError {
        error(.badValue, "\(name) is not \(type)")
    }

    /// An error at the list's line, quoting the list.
    func error(_ code: PlaylistError.Code, _ reason: String) -> PlaylistError {
        let bounds = (attributes.first?.name.lowerBound ?? 0)..<(attributes.last?.value.upperBound ?? 0)
        return PlaylistError(code, line: line + 1, reason, excerpt: PlaylistError.excerpt(of: bytes[bounds]))
    }
}
