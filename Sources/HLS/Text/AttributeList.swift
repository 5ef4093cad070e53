internal import SafeText

/// An attribute list (RFC 8216 §4.2) as spans of its line. Order, blanks and quotes are preserved.
///
/// Accepted because it occurs in practice: blanks around names, values and commas, empty elements, a trailing comma,
/// undefined names, and values with or without quotes regardless of their type. Omitted: an element without a name or `=`,
/// text after a closing quote, and attributes beyond `PlaylistLimits.attributes`. Without its second quote a value ends at the
/// next comma. Of a repeated name the last value counts, as in players.
public struct AttributeList: Sendable {
    struct Attribute: Sendable {
        let name: Range<Int>
        /// Range of the value, including its quotes.
        let value: Range<Int>
        let isQuoted: Bool
        /// Range of the value without its quotes.
        var content: Range<Int> {
            guard isQuoted else { return value }
            return value.lowerBound + 1..<value.upperBound - 1
        }
    }

    let bytes: [UInt8]
    let attributes: [Attribute]
    /// The excess over the limit, or the first syntax error that was skipped; nil if the list is well-formed.
    let fault: PlaylistError?
    /// Index of the line in its playlist, from 0.
    let line: Int
    /// Range of the list, without attributes beyond the limit.
    let start, end: Int

    /// Parses a separate list, such as `BANDWIDTH=1280000,CODECS="mp4a.40.2"`. Errors name line 1.
    public init(_ text: [UInt8], limits: PlaylistLimits = .standard) {
        self.init(text, in: 0..<text.count, line: 0, limits: limits)
    }

    /// Parses the list in a range of a playlist's bytes. Errors name `line`, an index from 0.
    init(_ bytes: [UInt8], in range: Range<Int>, line: Int, limits: PlaylistLimits) {
        self.bytes = bytes
        self.line = line
        start = range.lowerBound

        var scanner = AttributeScanner(bytes: bytes, position: range.lowerBound, end: range.upperBound)
        var found: [Attribute] = []
        found.reserveCapacity(8)
        var end = range.upperBound
        var excess: PlaylistError?

        while let attribute = scanner.next() {
            if found.count == limits.attributes, let last = found.last {
                end = last.value.upperBound
                excess = PlaylistError(
                    .overLimit, line: line + 1, "more than \(limits.attributes) attributes: the rest is omitted",
                    excerpt: PlaylistError.excerpt(of: bytes[range]))
                break
            }
            if let earlier = found.firstIndex(where: { bytes.areEqual($0.name, attribute.name) }) {
                scanner.note(.twice(attribute.name))
                found.remove(at: earlier)
            }
            found.append(attribute)
        }

        attributes = found
        self.end = end
        fault = excess ?? scanner.fault?.asPlaylistError(bytes, range, line: line + 1)
    }

    /// The attribute names, in line order.
    public var names: [String] { attributes.map { bytes.text($0.name) } }
    /// The value without quotes, regardless of its type; nil if the attribute is absent.
    public subscript(name: String) -> String? { find(name).map { bytes.text($0.content) } }
    func find(_ name: String) -> Attribute? { attributes.first { bytes.matches($0.name, name) } }
}

/// A decimal-resolution (RFC 8216 §4.2), in pixels.
public struct Resolution: Hashable, Sendable, CustomStringConvertible {
    /// Width.
    public let width: Int
    /// Height.
    public let height: Int
    /// Creates a resolution. No picture has more than a million pixels in a line.
    public init(width: Int, height: Int) {
        self.width = min(width, 1_000_000)
        self.height = min(height, 1_000_000)
    }
    /// The playlist form, such as `1280x720`.
    public var description: String { "\(width)x\(height)" }
}

/// Typed access: nil if the attribute is absent; an error if it is not of the type.
extension AttributeList {
    /// Returns a quoted-string or enumerated-string that must be present and not empty.
    public func required(_ name: String) throws(PlaylistError) -> String {
        guard let text = self[name], !text.isEmpty else {
            throw error(.missingAttribute, "the attribute \(name) is missing")
        }
        return text
    }

    /// Returns true for `YES`. Anything else counts as NO, as RFC 8216 §4.3.4.1 defines for an absent attribute.
    public func flag(_ name: String) -> Bool {
        guard let attribute = find(name) else { return false }
        return bytes.matches(attribute.content, "YES")
    }

    /// Returns a decimal-integer. A fraction, which some packagers write, is discarded.
    public func decimalInteger(_ name: String) throws(PlaylistError) -> Int? {
        guard let range = find(name)?.content else { return nil }
        let point = bytes.firstIndex(of: UInt8(ascii: "."), in: range) ?? range.upperBound
        let fraction = min(point + 1, range.upperBound)..<range.upperBound
        guard let value = bytes.decimalInteger(range.lowerBound..<point), bytes[fraction].allSatisfy(\.isDigit) else {
            throw bad(name, "a decimal integer")
        }
        return value
    }

    /// Returns a decimal-integer of bits per second.
    func bitRate(_ name: String) throws(PlaylistError) -> BitRate? { try decimalInteger(name).map { BitRate($0) } }

    /// Returns a decimal-floating-point that is a time in seconds.
    public func duration(_ name: String) throws(PlaylistError) -> MediaDuration? {
        try decimalFloat(name).map { MediaDuration(seconds: $0) }
    }

    /// Returns a decimal-floating-point that is no time.
    func ratio(_ name: String) throws(PlaylistError) -> Ratio? { try decimalFloat(name).map { Ratio(clamping: $0) } }

    private func decimalFloat(_ name: String) throws(PlaylistError) -> Double? {
        guard let range = find(name)?.content else { return nil }
        guard let value = bytes.decimalFloat(range) else { throw bad(name, "a decimal number") }
        return value
    }

    /// Returns a signed-decimal-floating-point of seconds; nil if it is absent or not a number.
    func timeOffset(_ name: String) -> TimeOffset? {
        guard let range = find(name)?.content, !range.isEmpty else { return nil }
        let isNegative = bytes[range.lowerBound] == UInt8(ascii: "-")
        var start = range.lowerBound
        if isNegative {
            start += 1
        }
        guard let number = bytes.decimalFloat(start..<range.upperBound) else { return nil }
        let distance = MediaDuration(seconds: number)
        guard isNegative, distance > .zero else { return .afterStart(distance) }
        return .beforeEnd(distance)
    }

    /// Returns the bytes of a hexadecimal-sequence, most significant first. Accepts `0x` and `0X`, and digits of either case.
    public func hexadecimal(_ name: String) throws(PlaylistError) -> [UInt8]? {
        guard let range = find(name)?.content else { return nil }
        let digits = bytes[range].dropFirst(2)
        guard range.count > 2, bytes[range].first == 0x30, bytes[range.lowerBound + 1] | 0x20 == 0x78 else {
            throw bad(name, "a hexadecimal sequence")
        }
        var value: [UInt8] = []
        // An odd number of digits lacks a leading zero.
        var half: UInt8?
        if digits.count % 2 == 1 {
            half = 0
        }
        for digit in digits {
            guard let nibble = digit.hexadecimalValue else { throw bad(name, "a hexadecimal sequence") }
            if let high = half {
                value.append(high << 4 | nibble)
                half = nil
            } else {
                half = nibble
            }
        }
        return value
    }

    /// Returns a decimal-resolution. Accepts `X`, `*` and `×` between the numbers.
    public func resolution(_ name: String) throws(PlaylistError) -> Resolution? {
        guard let range = find(name)?.content else { return nil }
        guard let cross = bytes[range].firstIndex(where: { !$0.isDigit && !$0.isBlank }),
            let width = bytes.decimalInteger(bytes.trimmed(range.lowerBound..<cross)),
            let height = bytes.decimalInteger(bytes.trimmed(cross + crossLength(cross)..<range.upperBound))
        else { throw bad(name, "a resolution") }
        return Resolution(width: width, height: height)
    }

    /// Returns the length of the sign between width and height: `x`, `X`, `*` or `×`; 0 for anything else.
    private func crossLength(_ index: Int) -> Int {
        switch bytes[index] {
        case UInt8(ascii: "x"), UInt8(ascii: "X"), UInt8(ascii: "*"): 1
        case 0xC3 where index + 1 < bytes.count && bytes[index + 1] == 0x97: 2
        default: 0
        }
    }

    /// Returns a byte range `n[@o]`. Without an offset it begins at 0, because no segment precedes an attribute's resource.
    public func subRange(_ name: String) throws(PlaylistError) -> SubRange? {
        guard let range = find(name)?.content else { return nil }
        guard let parts = SubRange.parts(bytes, range),
            let subRange = SubRange(offset: parts.offset ?? 0, length: parts.length)
        else { throw bad(name, "a byte range") }
        return subRange
    }

    private func bad(_ name: String, _ type: String) -> PlaylistError { error(.badValue, "\(name) is not \(type)") }

    func error(_ code: PlaylistError.Code, _ reason: String) -> PlaylistError {
        let start = attributes.first?.name.lowerBound ?? 0
        let end = attributes.last?.value.upperBound ?? 0
        let excerpt = PlaylistError.excerpt(of: bytes[start..<end])
        return PlaylistError(code, line: line + 1, reason, excerpt: excerpt)
    }
}

/// Parses an attribute list, one attribute per call. Skips what is not an attribute.
struct AttributeScanner {
    /// A syntax error; ranges point into the bytes.
    enum Fault {
        case noName(Range<Int>)
        case noValue(Range<Int>)
        case openQuote(Range<Int>)
        case afterQuote(Range<Int>)
        case twice(Range<Int>)

        func asPlaylistError(_ bytes: [UInt8], _ list: Range<Int>, line: Int) -> PlaylistError {
            func name(_ range: Range<Int>) -> String { PlaylistError.excerpt(of: bytes[range]) }
            let reason =
                switch self {
                case .noName(let range): "an attribute name is expected at \"\(name(range))\""
                case .noValue(let range): "the attribute \(name(range)) has no value"
                case .openQuote(let range): "the quote of \(name(range)) is not closed"
                case .afterQuote(let range): "a comma is expected after the value of \(name(range))"
                case .twice(let range): "the attribute \(name(range)) is repeated"
                }
            return PlaylistError(
                .malformedAttributes, line: line, reason, excerpt: PlaylistError.excerpt(of: bytes[list]))
        }
    }

    let bytes: [UInt8]
    var position: Int
    let end: Int
    private(set) var fault: Fault?

    init(bytes: [UInt8], position: Int, end: Int) {
        self.bytes = bytes
        self.position = position
        self.end = end
    }

    /// Keeps the first fault.
    mutating func note(_ fault: Fault) { self.fault = self.fault ?? fault }

    /// Returns the next attribute; nil at the end.
    mutating func next() -> AttributeList.Attribute? {
        while true {
            while position < end, bytes[position].isBlank || bytes[position] == UInt8(ascii: ",") {
                position += 1
            }
            guard position < end else { return nil }
            if let attribute = scan() {
                return attribute
            }
            skipElement()
        }
    }

    private mutating func scan() -> AttributeList.Attribute? {
        let start = position
        while position < end, isName(bytes[position]) {
            position += 1
        }
        let name = start..<position
        guard !name.isEmpty else {
            note(.noName(start..<end))
            return nil
        }

        skipBlanks()
        guard position < end, bytes[position] == UInt8(ascii: "=") else {
            if isAtElementEnd {
                note(.noValue(name))
            } else {
                note(.noName(start..<end))
            }
            return nil
        }

        position += 1
        skipBlanks()
        guard position < end, bytes[position] == UInt8(ascii: "\"") else { return scanPlain(name) }
        return scanQuoted(name)
    }

    private var isAtElementEnd: Bool { position >= end || bytes[position] == UInt8(ascii: ",") }

    private mutating func scanPlain(_ name: Range<Int>) -> AttributeList.Attribute {
        let start = position
        skipElement()
        return .init(name: name, value: bytes.trimmed(start..<position), isQuoted: false)
    }

    private mutating func scanQuoted(_ name: Range<Int>) -> AttributeList.Attribute {
        let start = position
        guard let close = bytes.firstIndex(of: UInt8(ascii: "\""), in: start + 1..<end) else {
            note(.openQuote(name))
            position += 1
            return scanPlain(name)
        }
        position = close + 1
        skipBlanks()
        if !isAtElementEnd {
            note(.afterQuote(name))
            skipElement()
        }
        return .init(name: name, value: start..<close + 1, isQuoted: true)
    }

    private mutating func skipElement() {
        position = bytes.firstIndex(of: UInt8(ascii: ","), in: position..<end) ?? end
    }

    private mutating func skipBlanks() {
        while position < end, bytes[position].isBlank {
            position += 1
        }
    }

    /// RFC 8216 §4.2 allows capitals, digits and hyphens. Vendors also use lowercase letters, underscores and points.
    private func isName(_ byte: UInt8) -> Bool {
        byte.isDigit || (byte | 0x20) &- 0x61 < 26 || byte == 0x2D || byte == 0x5F || byte == 0x2E
    }
}
