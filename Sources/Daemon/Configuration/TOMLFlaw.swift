/// A line that the parser cannot be given. At some errors toml++ ends the process: where a table's name begins with anything but a
/// bare key or a quote, as in `[é]`, where a list ends with `}`, and at the line ends that only Unicode has. It takes a text to end at
/// a NUL. What it says of a text without an end is of no help.
struct TOMLFlaw: Equatable {
    /// From 1.
    let line: Int
    /// A sentence without a full stop.
    let reason: String

    /// The first one in a text; nil if there is none.
    static func first(in text: String) -> TOMLFlaw? {
        var scan = TOMLScan(text)
        return scan.flaw()
    }
}

/// Reads strings, comments and brackets alone. That suffices: in front of a header that would end the process the text is
/// well-formed, or the parser stops there.
private struct TOMLScan {
    private let bytes: [UInt8]
    private var index = 0
    private var line = 1
    /// The brackets and braces that are open.
    private var open: [UInt8] = []
    /// True if nothing but blanks is in front on the line.
    private var isAtStart = true

    init(_ text: String) { bytes = Array(text.utf8) }

    mutating func flaw() -> TOMLFlaw? {
        // Also within a string or a comment.
        if let end = bytes.firstIndex(of: 0) {
            let before = bytes[..<end].count { $0 == UInt8(ascii: "\n") }
            return TOMLFlaw(line: before + 1, reason: "there is a NUL")
        }
        while index < bytes.count {
            if let reason = readNext() {
                return TOMLFlaw(line: line, reason: reason)
            }
        }
        return nil
    }

    /// Reads a byte, a comment or a string. Returns the reason why the parser cannot be given it.
    private mutating func readNext() -> String? {
        let byte = bytes[index]
        let wasAtStart = isAtStart
        // The parser also passes over the spaces of Unicode, and a byte order mark.
        isAtStart = isAtStart && (byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte >= 0x80)
        switch byte {
        case UInt8(ascii: "\n"):
            line += 1
            isAtStart = true
        case UInt8(ascii: "#"):
            index = bytes[index...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            return nil
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            return readString(of: byte)
        case UInt8(ascii: "["):
            if wasAtStart, open.isEmpty, !isHeader(at: index) {
                return "a table's name begins with a letter, a digit or a quote"
            }
            open.append(byte)
        case UInt8(ascii: "{"):
            open.append(byte)
        case UInt8(ascii: "]"), UInt8(ascii: "}"):
            let opening = open.popLast() ?? byte
            let isOther = opening == UInt8(ascii: "[") && byte == UInt8(ascii: "}")
            if isOther {
                return "a list that begins with [ ends with }"
            }
        default:
            if Self.lineEnds.contains(where: { bytes[index...].starts(with: $0) }) {
                return "there is a line end that TOML does not have"
            }
        }
        index += 1
        return nil
    }

    /// U+0085, U+2028 and U+2029.
    private static let lineEnds: [[UInt8]] = [[0xC2, 0x85], [0xE2, 0x80, 0xA8], [0xE2, 0x80, 0xA9]]

    /// True if the parser can be given the header: a name or an end follows its brackets.
    private func isHeader(at start: Int) -> Bool {
        var rest = bytes[start...].dropFirst()
        let isOfList = rest.first == UInt8(ascii: "[")
        if isOfList {
            rest = rest.dropFirst()
        }
        guard let next = rest.first(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }) else { return true }
        switch next {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "\""),
            UInt8(ascii: "'"), UInt8(ascii: "]"):
            return true
        case UInt8(ascii: "["):
            return !isOfList
        default:
            return false
        }
    }

    /// Reads a string to its end. Returns the reason if one of a single line has none.
    private mutating func readString(of quote: UInt8) -> String? {
        let opening = bytes[index...].prefix { $0 == quote }.count
        let isLong = opening >= 3
        index += min(opening, 6)
        // Two are an empty string, six an empty one of several lines.
        if opening == 2 || opening >= 6 {
            return nil
        }
        if isLong {
            // Behind three the others are text.
            index -= opening - 3
        }
        while index < bytes.count {
            let byte = bytes[index]
            if byte == quote {
                let closing = bytes[index...].prefix { $0 == quote }.count
                guard isLong else {
                    index += 1
                    return nil
                }
                index += closing
                if closing >= 3 {
                    return nil
                }
                continue
            }
            if byte == UInt8(ascii: "\n") {
                guard isLong else { return Self.openText }
                line += 1
            }
            if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
                index += 1
                if index < bytes.count, bytes[index] == UInt8(ascii: "\n") {
                    line += 1
                }
            }
            index += 1
        }
        return isLong ? nil : Self.openText
    }

    private static let openText = "a text has no quotation mark at its end"
}
