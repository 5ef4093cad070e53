/// A point in time as playlists write it (RFC 8216 §4.3.2.6): ISO 8601 with a date, a time, and most often a fraction
/// and a zone.
public struct DateTime: Hashable, Sendable, CustomStringConvertible {
    /// Milliseconds since 1970-01-01T00:00:00Z; a finer fraction is cut off.
    public let milliseconds: Int
    /// The zone's distance from UTC in minutes, in which the time is written: 0 for `Z`, and where none is named.
    public let zone: Int

    /// A point in time of any year from 0 to 9999; nil outside of them.
    public init?(milliseconds: Int, zone: Int = 0) {
        guard (Self.earliest...Self.latest).contains(milliseconds), abs(zone) < 24 * 60 else { return nil }
        self.milliseconds = milliseconds
        self.zone = zone
    }

    /// Reads `2026-01-31T10:20:30.123Z` and its like: `.` or `,` before the fraction, `Z`, `+01:00`, `+0100` or `+01`
    /// as zone, or none; nil for anything else.
    public init?(_ text: String) {
        var scanner = DateTimeScanner(bytes: Array(text.utf8))
        guard let date = scanner.date(), scanner.skip("Tt "), let time = scanner.time(), let zone = scanner.zone(),
            scanner.isAtEnd
        else { return nil }
        self.init(milliseconds: date * 86_400_000 + time - zone * 60_000, zone: zone)
    }

    /// The point that many seconds later, to the nearest millisecond; nil outside of the years from 0 to 9999.
    public func adding(seconds: Double) -> DateTime? {
        guard abs(seconds) < 1e12 else { return nil }
        let distance = Int(seconds * 1000 + (seconds < 0 ? -0.5 : 0.5))
        return DateTime(milliseconds: milliseconds + distance, zone: zone)
    }

    /// The form in playlists, with milliseconds and zone.
    public var description: String {
        let local = milliseconds + zone * 60_000
        let days = local >= 0 ? local / 86_400_000 : (local - 86_399_999) / 86_400_000
        let time = local - days * 86_400_000
        let (year, month, day) = Self.civil(days)
        return "\(Self.digits(year, 4))-\(Self.digits(month, 2))-\(Self.digits(day, 2))T"
            + "\(Self.digits(time / 3_600_000, 2)):\(Self.digits(time / 60_000 % 60, 2)):"
            + "\(Self.digits(time / 1000 % 60, 2)).\(Self.digits(time % 1000, 3))" + zoneText
    }

    private var zoneText: String {
        if zone == 0 { return "Z" }
        return (zone < 0 ? "-" : "+") + Self.digits(abs(zone) / 60, 2) + ":" + Self.digits(abs(zone) % 60, 2)
    }

    private static func digits(_ value: Int, _ count: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
}

/// The Gregorian calendar, extended to all years.
extension DateTime {
    // A day more at either end, for the zones.
    private static let earliest = days(0, 1, 2) * 86_400_000
    private static let latest = days(9999, 12, 31) * 86_400_000 - 1

    /// Days from 1970-01-01 to a date. March is counted as the first month, so that a leap day ends its year.
    static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The date that many days after 1970-01-01.
    static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
        return (year, month < 10 ? month + 3 : month - 9, dayOfYear - (153 * month + 2) / 5 + 1)
    }
}
