/// The format of log lines.
public enum LogStyle: String, Sendable, CaseIterable {
    /// The W3C's Extended Log File Format (WD-logfile-960323).
    case w3c
    /// The format of AVPlayerItemAccessLog's `extendedLogData()`: as `w3c`, with slashes in dates.
    case apple
}

/// A line of a log, built field by field. Pure.
///
/// Blanks separate the fields. A field without a value is `-`. Text is quoted, with its quotes doubled.
struct LogLine {
    private let style: LogStyle
    private(set) var text = ""

    init(_ style: LogStyle) { self.style = style }

    private mutating func append(_ field: String) {
        if !text.isEmpty { text += " " }
        text += field
    }

    /// Adds an integer.
    mutating func add(_ value: Int?) { append(value.map { String($0) } ?? "-") }
    /// Adds a number with three decimals.
    mutating func add(fixed value: Double?) { append(value.map(Self.fixed) ?? "-") }
    /// Adds the dash of a field that only a player knows.
    mutating func addUnknown() { append("-") }

    /// Adds a URI, an address or a word; characters that would end the field are percent-encoded.
    mutating func add(word: String?) {
        guard let word, !word.isEmpty else { return append("-") }
        append(String(decoding: word.utf8.flatMap(Self.plain), as: UTF8.self))
    }

    /// Adds quoted text.
    mutating func add(text value: String) {
        let safe = value.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : String($0) }.joined()
        append("\"" + safe.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\"")
    }

    /// Adds date and time, two fields, from seconds since 1970 in UTC.
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

    /// A number with three decimals, clamped to 0...1e15; 0 for NaN and infinity.
    static func fixed(_ value: Double) -> String {
        let thousandths = value.isFinite ? Int64((min(max(value, 0), 1e15) * 1000).rounded()) : 0
        let rest = String(thousandths % 1000)
        return "\(thousandths / 1000)." + String(repeating: "0", count: 3 - rest.utf8.count) + rest
    }
}
