// The room SafeText.
//
// Duty: text from outside, escaped for terminals, logs and errors; and numbers from outside, bounded.
// Entrance: `Printable.line(_:limit:)` for one line, `Printable.lines(_:)` for a text of several; `BoundedNumber` for a
//     number.
// Does not enter: anything that knows where the text is from or where it goes: HTTP, playlists, files. Pure: no I/O, no
//     clock.

/// Makes text from origins, players and playlists safe to be shown: in a terminal, in a log, in an error. Pure.
///
/// Control characters could move a terminal's cursor, change its title or answer for the user; bidirectional controls show a
/// text in another order than it has. Both are written as an escape that names the character, such as `\u{1B}`.
public enum Printable {
    /// Longest line, in Unicode scalars.
    public static let limit = 8_192

    /// A line of text. Line ends are escaped too. A line that is too long is cut, and ends with the number of scalars left out.
    public static func line(_ text: String, limit: Int = Self.limit) -> String {
        guard text.utf8.count > limit || mayNeedEscapes(text.utf8) else { return text }
        let scalars = text.unicodeScalars
        var line = String.UnicodeScalarView()
        for scalar in scalars.prefix(limit) {
            if isUnsafe(scalar) {
                line.append(contentsOf: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars)
            } else {
                line.append(scalar)
            }
        }
        let rest = scalars.count - limit
        guard rest > 0 else { return String(line) }
        return String(line) + "… (\(rest) more)"
    }

    /// A text of several lines, each as `line` makes it.
    public static func lines(_ text: String) -> String {
        // Not by characters: a carriage return and a line feed are one.
        text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { line(String($0)) }
            .joined(separator: "\n")
    }

    /// JSON without unsafe characters, and otherwise the same: they can only be within strings, where `\u` escapes them.
    public static func json(_ text: [UInt8]) -> [UInt8] {
        guard mayNeedEscapes(text) else { return text }
        var safe: [UInt8] = []
        safe.reserveCapacity(text.count)
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
            guard isUnsafe(scalar) else {
                safe.append(contentsOf: String(scalar).utf8)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                safe.append(contentsOf: "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
            }
        }
        return safe
    }

    /// True for controls (C0, DEL, C1), line and paragraph separators, bidirectional controls, and characters that hide text.
    public static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF, 0xFFF9...0xFFFB,
            0xE0000...0xE007F:
            true
        default: false
        }
    }

    /// False for nearly every text: no byte is one with which an unsafe character begins in UTF-8.
    private static func mayNeedEscapes(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.contains { $0 < 0x20 || $0 == 0x7F || $0 == 0xC2 || $0 == 0xD8 || $0 == 0xE2 || $0 == 0xEF || $0 == 0xF3 }
    }
}
