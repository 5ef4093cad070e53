internal import Glibc

/// Date and time of an instant in UTC, as logs write them. Pure.
struct LogDate: Equatable {
    /// `2026-11-21`.
    let day: String
    /// `19:53:39.250`.
    let time: String

    /// - Parameter seconds: since 1970; clamped to the years 1970–9999.
    init(_ seconds: Double) {
        let all = seconds.isFinite ? Int64(min(max(seconds * 1000, 0), 253_402_300_799_999)) : 0
        let (second, rest) = (all / 1000, all % 1000)
        day = Self.civil(second / 86_400)
        let clock = second % 86_400
        time =
            [clock / 3600, clock / 60 % 60, clock % 60].map { Self.digits($0, 2) }.joined(separator: ":")
            + "." + Self.digits(rest, 3)
    }

    /// The Gregorian date of a day counted from 1970-01-01: eras of 400 years that begin in March, so that a leap day
    /// comes last in its year.
    private static func civil(_ day: Int64) -> String {
        let (era, inEra) = ((day + 719_468) / 146_097, (day + 719_468) % 146_097)
        let year = (inEra - inEra / 1460 + inEra / 36_524 - inEra / 146_096) / 365
        let inYear = inEra - (365 * year + year / 4 - year / 100)
        let month = (5 * inYear + 2) / 153
        let date = inYear - (153 * month + 2) / 5 + 1
        let number = month < 10 ? month + 3 : month - 9
        return "\(digits(year + era * 400 + (number <= 2 ? 1 : 0), 4))-\(digits(number, 2))-\(digits(date, 2))"
    }

    private static func digits(_ value: Int64, _ width: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }
}

/// The system's time of day.
public enum WallClock {
    /// Seconds since 1970-01-01T00:00:00Z without leap seconds.
    public static var seconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
