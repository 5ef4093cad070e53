/// An attribute list (RFC 8216 §4.2) as spans of its line: order, blanks and quoting stay what they were.
///
/// Tolerated, because the field writes it: blanks around names, values and commas, empty elements, a last comma, names
/// that no text defines, and values with or without quotes whatever their type. Refused: a name without `=`, a quote
/// that is not closed, text after a closing quote, a name that stands twice.
public struct AttributeList: Sendable {
    /// One attribute's places in the bytes.
    struct Attribute: Sendable {
        /// The name.
        let name: Range<Int>
        /// The value as written, its quotes included.
        let value: Range<Int>
        /// Whether the value stands in quotes.
        let isQuoted: Bool

        /// The value without its quotes.
        var content: Range<Int> { isQuoted ? value.lowerBound + 1..<value.upperBound - 1 : value }
    }

    /// The text that the spans point into.
    let bytes: [UInt8]
    /// The attributes in the order of the line.
    let attributes: [Attribute]
    /// The line's index in its playlist, from 0.
    let line: Int

    /// Reads a list that stands alone, such as `BANDWIDTH=1280000,CODECS="mp4a.40.2"`; errors name line 1.
    public init(_ text: [UInt8], limits: PlaylistLimits = .standard) throws(PlaylistError) {
        try self.init(text, 0..<text.count, line: 0, limits)
    }

    /// Reads the list in a range of a playlist's bytes; `line` is the index, from 0, that errors name.
    init(_ bytes: [UInt8], _ range: Range<Int>, line: Int, _ limits: PlaylistLimits) throws(PlaylistError) {
        self.bytes = bytes
        self.line = line
        var scanner = AttributeScanner(bytes: bytes, position: range.lowerBound, end: range.upperBound)
        var found: [Attribute] = []
        found.reserveCapacity(8)
        do throws(AttributeScanner.Fault) {
            while let attribute = try scanner.next() {
                if found.count == limits.attributes { throw .tooMany(limits.attributes) }
                if found.contains(where: { bytes.areEqual($0.name, attribute.name) }) { throw .twice(attribute.name) }
                found.append(attribute)
            }
        } catch {
            throw error.asPlaylistError(bytes, range, line: line + 1)
        }
        attributes = found
    }

    /// A list without attributes.
    init(empty bytes: [UInt8], line: Int) {
        self.bytes = bytes
        self.line = line
        attributes = []
    }

    /// The names in order.
    public var names: [String] { attributes.map { bytes.text($0.name) } }

    /// The value's text without quotes, whatever its type; nil where the attribute is absent.
    public subscript(name: String) -> String? { find(name).map { bytes.text($0.content) } }

    /// The attribute of that name; names are case-sensitive.
    func find(_ name: String) -> Attribute? {
        attributes.first { bytes.matches($0.name, name) }
    }
}
