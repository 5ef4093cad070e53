/// Says why a text of timed cues cannot be used.
public struct SubtitleError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The line number, from 1; nil if the fault concerns the whole text.
    public let line: Int?
    /// The fault, as a sentence.
    public let reason: String

    /// Makes an error of its fields.
    public init(_ reason: String, line: Int? = nil) {
        self.reason = reason
        self.line = line
    }

    /// The work was given up, because nobody waits for it any more.
    public static let givenUp = SubtitleError("it was given up")

    /// The line and the fault.
    public var description: String {
        guard let line else { return reason }
        return "line \(line): \(reason)"
    }
}

/// A text file, decoded.
public struct DecodedText: Equatable, Sendable {
    /// The encodings of subtitle files.
    public enum Encoding: String, Sendable {
        case utf8 = "UTF-8"
        case utf16 = "UTF-16"
        /// Windows-1252, which includes ISO 8859-1: assumed for bytes that are no UTF-8 and have no byte order mark.
        case latin1 = "Latin-1"
    }

    /// The encoding that the bytes were read in.
    public let encoding: Encoding
    /// The text without a byte order mark.
    public let text: String

    /// Throws for bytes that are no text: a text has no NUL.
    public init(_ bytes: [UInt8]) throws(SubtitleError) {
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            text = try Self.utf16(bytes.dropFirst(2), isBigEndian: bytes[0] == 0xFE)
            encoding = .utf16
            return
        }
        var body = bytes[...]
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            body = bytes.dropFirst(3)
        }
        guard !body.contains(0) else { throw SubtitleError("the file is no text") }
        if let text = String(validating: body, as: UTF8.self) {
            self.text = text
            encoding = .utf8
        } else {
            text = String(String.UnicodeScalarView(body.map(Self.scalar)))
            encoding = .latin1
        }
    }

    private static func utf16(_ bytes: ArraySlice<UInt8>, isBigEndian: Bool) throws(SubtitleError) -> String {
        var units: [UInt16] = []
        var rest = bytes
        while rest.count >= 2 {
            let first = UInt16(rest.removeFirst())
            let second = UInt16(rest.removeFirst())
            if isBigEndian {
                units.append(first << 8 | second)
            } else {
                units.append(second << 8 | first)
            }
        }
        guard rest.isEmpty, let text = String(validating: units, as: UTF16.self), !units.contains(0) else {
            throw SubtitleError("the file begins as UTF-16, and is not")
        }
        return text
    }

    /// The characters of Windows-1252 from 0x80 on, where it differs from ISO 8859-1.
    private static let windows: [UInt16] = [
        0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,
        0x017D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
        0x0153, 0x9D, 0x017E, 0x0178,
    ]

    private static func scalar(_ byte: UInt8) -> Unicode.Scalar {
        guard (0x80..<0xA0).contains(byte) else { return Unicode.Scalar(byte) }
        return Unicode.Scalar(windows[Int(byte) - 0x80]) ?? Unicode.Scalar(byte)
    }

    /// The lines, which end in LF, CRLF or CR.
    var lines: [Substring] { text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) }
}
