/// Replaces bytes that no player reads as text: NUL and single carriage returns, which players take for line ends, and bytes
/// that are not UTF-8.
struct TextRepair {
    /// The repaired bytes; nil if nothing needs repair.
    private(set) var bytes: [UInt8]?
    /// One error for each kind of byte and line.
    private(set) var mends: [PlaylistError] = []

    init(_ source: [UInt8], from start: Int) {
        repairLineEnds(source, from: start)
        repairEncoding(bytes ?? source)
    }

    // MARK: Line ends

    private mutating func repairLineEnds(_ source: [UInt8], from start: Int) {
        guard let first = Self.firstFault(source, from: start) else { return }

        var output = source
        var line = 1 + source[..<first].count { $0 == 0x0A }
        var position = first
        var endsLinesInReturn = false

        while position < source.count {
            switch source[position] {
            case 0x0A: line += 1
            case 0:
                output[position] = 0x0A
                note(.controlCharacter, line: line, reason: "the line contains a NUL byte: players end the line there")
                line += 1
            case 0x0D:
                let end = Self.endOfReturns(source, position)
                // Returns before LF belong to the line's end. So do those at the end of the text, unless other lines end in CR alone.
                var isAlone = endsLinesInReturn
                if end < source.count {
                    isAlone = source[end] != 0x0A
                }
                if isAlone {
                    endsLinesInReturn = true
                    for returnPosition in position..<end {
                        output[returnPosition] = 0x0A
                    }
                    note(.controlCharacter, line: line, reason: "a carriage return without a line feed ends the line")
                    line += end - position
                }
                position = end - 1
            default: break
            }
            position += 1
        }

        bytes = output
    }

    /// Returns the index of the first NUL or single carriage return; nil without one.
    private static func firstFault(_ source: [UInt8], from start: Int) -> Int? {
        source.withUnsafeBufferPointer { bytes in
            var position = start
            while position < bytes.count {
                let byte = bytes[position]
                if byte == 0 {
                    return position
                }
                if byte == 0x0D, position + 1 < bytes.count, bytes[position + 1] != 0x0A {
                    return position
                }
                position += 1
            }
            return nil
        }
    }

    private static func endOfReturns(_ source: [UInt8], _ start: Int) -> Int {
        var end = start
        while end < source.count, source[end] == 0x0D {
            end += 1
        }
        return end
    }

    // MARK: Encoding

    /// Reads bytes that are not UTF-8 as Latin-1. In a URI they become percent-encoded: the origin gets the same bytes.
    private mutating func repairEncoding(_ source: [UInt8]) {
        do {
            _ = try UTF8Span(validating: source.span)
        } catch {
            var output: [UInt8] = []
            output.reserveCapacity(source.count + 64)
            var line = 1
            var lineStart = 0
            var position = 0
            var reader = URIRanges()
            while position < source.count {
                let length = Self.scalarLength(source, position)
                if length > 0 {
                    output.append(contentsOf: source[position..<position + length])
                    reader.read(source[position], at: position, in: source)
                    if source[position] == 0x0A {
                        line = line + 1
                        lineStart = position + 1
                    }
                    position += length
                    continue
                }
                note(
                    .notUTF8, line: line, reason: "byte \(position) is not UTF-8", content: source[lineStart..<position]
                )
                output.append(contentsOf: Self.replacement(source[position], isInURI: reader.isInURI))
                reader.read(source[position], at: position, in: source)
                position += 1
            }
            bytes = output
        }
    }

    /// Returns the length of the UTF-8 sequence at an index; 0 if there is none.
    private static func scalarLength(_ bytes: [UInt8], _ index: Int) -> Int {
        let first = bytes[index]
        if first < 0x80 {
            return 1
        }
        let length =
            switch first {
            case 0xF0...: 4
            case 0xE0...: 3
            default: 2
            }
        guard index + length <= bytes.count else { return 0 }
        guard String(validating: bytes[index..<index + length], as: UTF8.self) != nil else { return 0 }
        return length
    }

    private static func replacement(_ byte: UInt8, isInURI: Bool) -> [UInt8] {
        if isInURI {
            return Array("%\(String(byte, radix: 16, uppercase: true))".utf8)
        }
        // 0x80 to 0x9F are control characters in Latin-1.
        guard byte >= 0xA0 else { return Array("\u{FFFD}".utf8) }
        return Array(String(Character(Unicode.Scalar(byte))).utf8)
    }

    /// Knows if a byte of a text is in a URI: in a line of a URI, or behind `URI="`. It is told each byte once, so that a line of
    /// a megabyte takes no longer than as many short ones.
    private struct URIRanges {
        private var isTagLine = false
        private var isAtStart = true
        private var isQuotedURI = false

        /// True if the next byte is in a URI.
        var isInURI: Bool { !isTagLine || isQuotedURI }

        mutating func read(_ byte: UInt8, at position: Int, in source: [UInt8]) {
            switch byte {
            case 0x0A: self = URIRanges()
            case UInt8(ascii: "\""): isQuotedURI = source[..<position].suffix(4).elementsEqual("URI=".utf8)
            default: break
            }
            guard isAtStart, byte != 0x0A, !byte.isBlank else { return }
            isAtStart = false
            isTagLine = byte == UInt8(ascii: "#")
        }
    }

    private mutating func note(
        _ code: PlaylistError.Code, line: Int, reason: String, content: ArraySlice<UInt8> = []
    ) {
        guard mends.count < PlaylistText.maximumMends, mends.last?.line != line || mends.last?.code != code else {
            return
        }
        mends.append(PlaylistError(code, line: line, reason, excerpt: PlaylistError.excerpt(of: content)))
    }
}
