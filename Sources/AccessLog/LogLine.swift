internal import Glibc
internal import SafeText

/// The format of log lines.
package enum LogStyle: String, Sendable, CaseIterable {
    /// The W3C's Extended Log File Format (WD-logfile-960323).
    case w3c
    /// The format of AVPlayerItemAccessLog's `extendedLogData()`: as `w3c`, with slashes in dates.
    case apple
}

/// A line of a log, built field by field. A field without a value is `-`. Text is quoted, with its quotes doubled.
/// Pure.
struct LogLine {
    private let style: LogStyle
    private(set) var text = ""

    init(_ style: LogStyle) { self.style = style }

    private mutating func append(_ field: String) {
        if !text.isEmpty {
            text += " "
        }
        text += field
    }

    mutating func add(_ value: Int?) {
        guard let value else { return addUnknown() }
        append(String(value))
    }

    mutating func add(fixed value: Double?) {
        guard let value else { return addUnknown() }
        append(Self.fixed(value))
    }

    /// Adds the dash of a value that is unknown.
    mutating func addUnknown() { append("-") }

    /// Adds a URI, an address or a word; characters that would end the field are percent-encoded.
    mutating func add(word: String?) {
        guard let word, !word.isEmpty else { return append("-") }
        // Nearly all are plain ASCII.
        if word.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") }) {
            return append(word)
        }
        append(String(decoding: word.unicodeScalars.flatMap(Self.plain), as: UTF8.self))
    }

    mutating func add(text value: String) {
        append(
            "\""
                + Printable.line(value).split(separator: "\"", omittingEmptySubsequences: false).joined(
                    separator: "\"\"") + "\"")
    }

    /// Adds date and time, two fields, from seconds since 1970 in UTC.
    mutating func add(date seconds: Double) {
        let date = LogDate(seconds)
        var day = date.day
        if style == .apple {
            day = day.split(separator: "-").joined(separator: "/")
        }
        append(day)
        append(date.time)
    }

    private static func plain(_ scalar: Unicode.Scalar) -> [UInt8] {
        let bytes = Array(String(scalar).utf8)
        guard scalar == " " || scalar == "\"" || Printable.isUnsafe(scalar) else { return bytes }
        let digits = Array("0123456789ABCDEF".utf8)
        return bytes.flatMap { [UInt8(ascii: "%"), digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }

    /// A number with three decimals, clamped to 0...1e15; 0 for NaN and infinity.
    static func fixed(_ value: Double) -> String {
        guard value.isFinite else { return "0.000" }
        let thousandths = Int64((min(max(value, 0), 1e15) * 1000).rounded())
        let rest = String(thousandths % 1000)
        return "\(thousandths / 1000)." + String(repeating: "0", count: 3 - rest.utf8.count) + rest
    }
}

/// Date and time of an instant in UTC, as logs write them. Pure.
struct LogDate: Equatable {
    /// `2026-11-21`.
    let day: String
    /// `19:53:39.250`.
    let time: String

    /// - Parameter seconds: since 1970; clamped to the years 1970–9999.
    init(_ seconds: Double) {
        var all: Int64 = 0
        if seconds.isFinite {
            all = Int64(min(max(seconds * 1000, 0), 253_402_300_799_999))
        }
        let second = all / 1000
        let rest = all % 1000
        day = Self.civil(second / 86_400)
        let clock = second % 86_400
        time =
            [clock / 3600, clock / 60 % 60, clock % 60].map { Self.digits($0, 2) }.joined(separator: ":")
            + "." + Self.digits(rest, 3)
    }

    /// The Gregorian date of a day counted from 1970-01-01: eras of 400 years that begin in March, so that a leap day
    /// comes last in its year.
    private static func civil(_ day: Int64) -> String {
        let era = (day + 719_468) / 146_097
        let inEra = (day + 719_468) % 146_097
        let year = (inEra - inEra / 1460 + inEra / 36_524 - inEra / 146_096) / 365
        let inYear = inEra - (365 * year + year / 4 - year / 100)
        let month = (5 * inYear + 2) / 153
        let date = inYear - (153 * month + 2) / 5 + 1
        // The year that is counted began in March.
        var yearNumber = year + era * 400
        var number = month + 3
        if number > 12 {
            yearNumber += 1
            number -= 12
        }
        return "\(digits(yearNumber, 4))-\(digits(number, 2))-\(digits(date, 2))"
    }

    private static func digits(_ value: Int64, _ width: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }
}

/// The system's time of day.
package enum WallClock {
    /// Seconds since 1970-01-01T00:00:00Z without leap seconds.
    package static var seconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
