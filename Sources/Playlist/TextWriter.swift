/// Copies a text and replaces ranges of it on the way; everything else comes out byte for byte.
///
/// Replacements must come in the order of the text and must not overlap.
struct TextWriter {
    private let text: PlaylistText
    private(set) var output: [UInt8] = []
    private var position: Int
    private let end: Int
    /// Where a number goes that is known only at the end, and the whole line's start where there was none.
    private var late: [(place: Int, line: String?)] = []

    /// Starts after the byte order mark, which no view has.
    init(_ text: PlaylistText) {
        self.init(text, from: (text.hasByteOrderMark ? 3 : 0)..<text.bytes.count)
        output.reserveCapacity(text.bytes.count)
    }

    /// Copies a range alone.
    init(_ text: PlaylistText, from range: Range<Int>) {
        self.text = text
        position = range.lowerBound
        end = range.upperBound
    }

    /// Puts a string in place of a range.
    mutating func replace(_ range: Range<Int>, with replacement: String) {
        output.append(contentsOf: text.bytes[position..<range.lowerBound])
        output.append(contentsOf: replacement.utf8)
        position = range.upperBound
    }

    /// Puts bytes of a playlist in place of a range.
    mutating func replace(_ range: Range<Int>, with replacement: [UInt8]) {
        replace(range, with: "")
        output.append(contentsOf: replacement)
    }

    /// Leaves out a line together with its terminator.
    mutating func drop(line: Int) { replace(text.extent(line), with: "") }

    /// Puts a name in place of a URI line's whole content, stray blanks included.
    mutating func replaceURI(line: Int, with name: String) throws(PlaylistError) {
        replace(text.lines[line].content, with: try Self.checked(name))
    }

    /// Writes lines, each with the terminator that the playlist's first line has.
    mutating func insert(_ lines: [String], beforeLine line: Int) {
        let place = line < text.lines.count ? text.extent(line).lowerBound : text.bytes.count
        replace(place..<place, with: "")
        for line in lines {
            if let last = output.last, last != 0x0A { output.append(contentsOf: terminator) }
            output.append(contentsOf: line.utf8)
            output.append(contentsOf: terminator)
        }
    }

    /// Puts the number that `finished(late:)` brings in place of a range.
    mutating func replaceLate(_ range: Range<Int>) {
        replace(range, with: "")
        late.append((output.count, nil))
    }

    /// Writes a line, of this start and the number that `finished(late:)` brings, unless that is 1.
    mutating func insertLate(_ start: String, beforeLine line: Int) {
        insert([], beforeLine: line)
        late.append((output.count, start))
    }

    /// Copies the rest and gives the whole, with the number where it was left out.
    consuming func finished(late number: Int = 1) -> [UInt8] {
        output.append(contentsOf: text.bytes[position..<end])
        for (place, line) in late.reversed() {
            guard let line else {
                output.replaceSubrange(place..<place, with: String(number).utf8)
                continue
            }
            guard number > 1 else { continue }
            output.replaceSubrange(place..<place, with: Array("\(line)\(number)".utf8) + terminator)
        }
        return output
    }

    private var terminator: ArraySlice<UInt8> {
        let first = text.bytes[text.lines[0].content.upperBound..<text.extent(0).upperBound]
        return first.isEmpty ? [0x0A] : first
    }

    /// A name that may stand on a line or in quotes: not empty, no quote, no control character, no other line
    /// separator, no blank at its ends, and no `#` in front.
    static func checked(_ name: String) throws(PlaylistError) -> String {
        let (first, last) = (name.utf8.first, name.utf8.last)
        if !isSafe(name) || first == nil || first == UInt8(ascii: "#") || first == 0x20 || last == 0x20 {
            let excerpt = PlaylistError.excerpt(of: name)
            throw PlaylistError(.unsafeName, "a name that cannot stand in a playlist", excerpt: excerpt)
        }
        return name
    }

    /// Most names are ASCII: only others are worth to be taken apart into scalars.
    private static func isSafe(_ name: String) -> Bool {
        let isPlain = name.utf8.withContiguousStorageIfAvailable { bytes in
            bytes.allSatisfy { $0 &- 0x20 < 0x5F && $0 != UInt8(ascii: "\"") }
        }
        return isPlain == true || name.unicodeScalars.allSatisfy(\.isSafeInPlaylist)
    }

    /// A name that leads somewhere from the playlist's own folder: no scheme, no host, no path from a root.
    static func checkedRelative(_ name: String) throws(PlaylistError) -> String {
        let first = name.utf8.prefix { $0 != UInt8(ascii: "/") }
        if first.isEmpty || first.contains(UInt8(ascii: ":")) {
            throw PlaylistError(
                .unsafeName, "a name that is not relative", excerpt: PlaylistError.excerpt(of: name))
        }
        return name
    }
}
