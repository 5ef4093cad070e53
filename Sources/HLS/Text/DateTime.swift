/// A date and time in playlists (RFC 8216 §4.3.2.6): ISO 8601, usually with a fraction and a time zone.
public struct DateTime: Hashable, Sendable, CustomStringConvertible {
    /// Milliseconds since 1970-01-01T00:00:00Z. Finer fractions are discarded.
    public let milliseconds: Int
    /// Time zone as minutes east of UTC; 0 for `Z` and for text without a zone.
    public let zone: Int

    /// Creates a point in time; nil outside of the years 0 to 9999.
    public init?(milliseconds: Int, zone: Int = 0) {
        guard (Self.earliest...Self.latest).contains(milliseconds), abs(zone) < 24 * 60 else { return nil }
        self.milliseconds = milliseconds
        self.zone = zone
    }

    /// Parses text such as `2026-01-31T10:20:30.123Z`; nil for anything else. The fraction may follow `.` or `,`; the
    /// zone may be `Z`, `+01:00`, `+0100`, `+01` or absent.
    public init?(_ text: String) {
        var scanner = DateTimeScanner(bytes: Array(text.utf8))
        guard let date = scanner.date(), scanner.skip("Tt "), let time = scanner.time(), let zone = scanner.zone(),
            scanner.isAtEnd
        else { return nil }
        self.init(milliseconds: date * 86_400_000 + time - zone * 60_000, zone: zone)
    }

    /// Returns the point `seconds` later, to the nearest millisecond; nil outside of the years 0 to 9999.
    public func adding(seconds: Double) -> DateTime? {
        guard abs(seconds) < 1e12 else { return nil }
        let half = seconds < 0 ? -0.5 : 0.5
        let distance = Int(seconds * 1000 + half)
        return DateTime(milliseconds: milliseconds + distance, zone: zone)
    }

    /// The playlist form, with milliseconds and zone.
    public var description: String {
        let local = milliseconds + zone * 60_000
        let days = Self.floored(local, by: 86_400_000)
        let time = local - days * 86_400_000
        let (year, month, day) = Self.civil(days)
        return "\(Self.digits(year, 4))-\(Self.digits(month, 2))-\(Self.digits(day, 2))T"
            + "\(Self.digits(time / 3_600_000, 2)):\(Self.digits(time / 60_000 % 60, 2)):"
            + "\(Self.digits(time / 1000 % 60, 2)).\(Self.digits(time % 1000, 3))" + zoneText
    }

    private var zoneText: String {
        if zone == 0 {
            return "Z"
        }
        let sign = zone < 0 ? "-" : "+"
        return sign + Self.digits(abs(zone) / 60, 2) + ":" + Self.digits(abs(zone) % 60, 2)
    }

    private static func digits(_ value: Int, _ count: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
}

/// The proleptic Gregorian calendar.
extension DateTime {
    // One day of margin at each end for time zones.
    private static let earliest = days(year: 0, month: 1, day: 2) * 86_400_000
    private static let latest = days(year: 9999, month: 12, day: 31) * 86_400_000 - 1

    /// Divides and rounds down, below zero too.
    private static func floored(_ dividend: Int, by divisor: Int) -> Int {
        guard dividend < 0 else { return dividend / divisor }
        return (dividend - divisor + 1) / divisor
    }

    /// Returns the days from 1970-01-01 to a date. The computation starts years in March, so that the leap day is the last day.
    static func days(year: Int, month: Int, day: Int) -> Int {
        var shifted = year
        if month <= 2 {
            shifted -= 1
        }
        let era = floored(shifted, by: 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Returns the date `days` after 1970-01-01.
    static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = floored(shifted, by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        var year = yearOfEra + era * 400
        var month = shiftedMonth + 3
        if month > 12 {
            year += 1
            month -= 12
        }
        return (year, month, day)
    }
}

struct DateTimeScanner {
    let bytes: [UInt8]
    private var position = 0
    init(bytes: [UInt8]) { self.bytes = bytes }
    var isAtEnd: Bool { position == bytes.count }

    mutating func skip(_ bytes: String) -> Bool {
        guard position < self.bytes.count, bytes.utf8.contains(self.bytes[position]) else { return false }
        position += 1
        return true
    }

    /// Parses `2026-01-31` and returns days since 1970-01-01.
    mutating func date() -> Int? {
        guard let year = number(4), skip("-"), let month = number(2), skip("-"), let day = number(2),
            (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        let days = DateTime.days(year: year, month: month, day: day)
        guard DateTime.civil(days) == (year, month, day) else { return nil }
        return days
    }

    /// Parses `10:20:30.123` and returns milliseconds. A leap second counts as the next second.
    mutating func time() -> Int? {
        guard let hours = number(2), skip(":"), let minutes = number(2), skip(":"), let seconds = number(2),
            hours < 24, minutes < 60, seconds <= 60
        else { return nil }
        let milliseconds = ((hours * 60 + minutes) * 60 + seconds) * 1000
        guard skip(".,") else { return milliseconds }
        return fraction().map { milliseconds + $0 }
    }

    /// Parses `Z`, `+01:00`, `-0130`, `+01` or nothing, and returns minutes.
    mutating func zone() -> Int? {
        if isAtEnd || skip("Zz") {
            return 0
        }
        let isWest = position < bytes.count && bytes[position] == UInt8(ascii: "-")
        let direction = isWest ? -1 : 1
        guard skip("+-"), let hours = number(2), hours < 24 else { return nil }
        if isAtEnd {
            return direction * 60 * hours
        }
        _ = skip(":")
        guard let minutes = number(2), minutes < 60 else { return nil }
        return direction * (hours * 60 + minutes)
    }

    private mutating func number(_ digits: Int) -> Int? {
        guard position + digits <= bytes.count else { return nil }
        defer { position += digits }
        return bytes.decimalInteger(position..<position + digits)
    }

    /// Parses a fraction of at least one digit and returns milliseconds.
    private mutating func fraction() -> Int? {
        var value = 0
        var unit = 100
        var count = 0
        while position < bytes.count, bytes[position].isDigit {
            value += Int(bytes[position] - 0x30) * unit
            unit /= 10
            count += 1
            position += 1
        }
        guard count > 0 else { return nil }
        return value
    }
}
