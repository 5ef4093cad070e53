/// How log lines are written.
public enum LogStyle: String, Sendable, CaseIterable {
    /// The W3C's Extended Log File Format (WD-logfile-960323).
    case w3c
    /// As AVPlayerItemAccessLog's `extendedLogData()` has it: slashes in dates, the rest alike.
    case apple
}

/// One line of a log, field by field. Pure.
///
/// Fields stand between blanks; one without a value is `-`; text stands between quotes, quotes in it twice.
struct LogLine {
    private let style: LogStyle
    private(set) var text = ""

    init(_ style: LogStyle) { self.style = style }

    private mutating func append(_ field: String) {
        if !text.isEmpty { text += " " }
        text += field
    }

    /// A number without fraction.
    mutating func add(_ value: Int?) { append(value.map { String($0) } ?? "-") }
    /// To the thousandth.
    mutating func add(fixed value: Double?) { append(value.map(Self.fixed) ?? "-") }
    /// Something that only a player knows.
    mutating func addUnknown() { append("-") }

    /// A URI, an address or a word: what would end the field is percent-encoded.
    mutating func add(word: String?) {
        guard let word, !word.isEmpty else { return append("-") }
        append(String(decoding: word.utf8.flatMap(Self.plain), as: UTF8.self))
    }

    /// Text for people.
    mutating func add(text value: String) {
        let safe = value.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : String($0) }.joined()
        append("\"" + safe.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\"")
    }

    /// Date and time, two fields, of so many seconds since 1970 in UTC.
    mutating func add(date seconds: Double) {
        let date = LogDate(seconds)
        append(style == .apple ? date.day.map { $0 == "-" ? "/" : String($0) }.joined() : date.day)
        append(date.time)
    }

    private static func plain(_ byte: UInt8) -> [UInt8] {
        guard byte <= 0x20 || byte == 0x7F || byte == UInt8(ascii: "\"") else { return [byte] }
        let digits = Array("0123456789ABCDEF".utf8)
        return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }

    /// Three digits behind the point. What is no number, or beyond reason, is the nearest one that is.
    static func fixed(_ value: Double) -> String {
        let thousandths = value.isFinite ? Int64((min(max(value, 0), 1e15) * 1000).rounded()) : 0
        let rest = String(thousandths % 1000)
        return "\(thousandths / 1000)." + String(repeating: "0", count: 3 - rest.utf8.count) + rest
    }
}
