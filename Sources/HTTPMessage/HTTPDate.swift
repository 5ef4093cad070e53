/// A point in time with the resolution of HTTP, one second (RFC 9110 §5.6.7).
public struct HTTPDate: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Seconds since 1970-01-01T00:00:00Z, leap seconds not counted.
    public let secondsSinceEpoch: Int64

    /// Dates outside the years 1970–9999 are clamped, because IMF-fixdate cannot represent them here.
    public init(secondsSinceEpoch: Int64) {
        self.secondsSinceEpoch = min(max(secondsSinceEpoch, 0), 253_402_300_799)
    }

    /// Parses an IMF-fixdate, `Sun, 06 Nov 1994 08:49:37 GMT`; nil for anything else.
    ///
    /// The two obsolete formats are refused, since no current server sends them. The weekday is not checked against the date.
    public init?(_ value: some Collection<UInt8>) {
        guard let date = value.withContiguousBytes({ Self(bytes: $0) }) else { return nil }
        self = date
    }

    private init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 29, bytes[3] == ByteClass.comma, bytes[4] == ByteClass.space, bytes[7] == ByteClass.space,
            bytes[11] == ByteClass.space, bytes[16] == ByteClass.space, bytes[19] == ByteClass.colon,
            bytes[22] == ByteClass.colon, bytes[25] == ByteClass.space, Self.code(bytes[26...]) == Self.zone,
            Self.dayCodes.contains(Self.code(bytes[..<3])),
            let month = Self.monthCodes.firstIndex(of: Self.code(bytes[8..<11])),
            let day = ByteClass.number(bytes[5..<7]), let year = ByteClass.number(bytes[12..<16]),
            let hour = ByteClass.number(bytes[17..<19]), let minute = ByteClass.number(bytes[20..<22]),
            let second = ByteClass.number(bytes[23..<25]), year >= 1970, hour < 24, minute < 60, second <= 60,
            day >= 1, day <= Self.length(ofMonth: month + 1, year: year)
        else { return nil }
        let dayNumber = Self.dayNumber(year: year, month: Int64(month) + 1, day: day)
        self.init(secondsSinceEpoch: dayNumber * 86_400 + hour * 3_600 + minute * 60 + second)
    }

    /// Parses text; see the initialiser for bytes.
    public init?(_ value: some StringProtocol) { self.init(Array(value.utf8)) }

    /// Earlier dates come first.
    public static func < (left: HTTPDate, right: HTTPDate) -> Bool {
        left.secondsSinceEpoch < right.secondsSinceEpoch
    }

    /// The date as IMF-fixdate.
    public var description: String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the date as IMF-fixdate: 29 bytes.
    public func append(to bytes: inout [UInt8]) {
        let dayNumber = secondsSinceEpoch / 86_400
        let second = secondsSinceEpoch % 86_400
        let date = Self.civil(dayNumber: dayNumber)
        bytes.append(contentsOf: Self.days[Int((dayNumber + 4) % 7)].utf8)
        bytes.append(contentsOf: ", ".utf8)
        Self.append(date.day, width: 2, to: &bytes)
        bytes.append(ByteClass.space)
        bytes.append(contentsOf: Self.months[Int(date.month) - 1].utf8)
        bytes.append(ByteClass.space)
        Self.append(date.year, width: 4, to: &bytes)
        bytes.append(ByteClass.space)
        Self.append(second / 3_600, width: 2, to: &bytes)
        bytes.append(ByteClass.colon)
        Self.append(second / 60 % 60, width: 2, to: &bytes)
        bytes.append(ByteClass.colon)
        Self.append(second % 60, width: 2, to: &bytes)
        bytes.append(contentsOf: " GMT".utf8)
    }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static let dayCodes = days.map { code($0.utf8) }
    private static let monthCodes = months.map { code($0.utf8) }
    private static let zone = code("GMT".utf8)

    /// Three letters as one number, because each reply of an origin has a date or two.
    private static func code(_ letters: some Collection<UInt8>) -> UInt32 {
        letters.reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func append(_ value: Int64, width: Int, to bytes: inout [UInt8]) {
        var divisor: Int64 = 10
        if width == 4 {
            divisor = 1_000
        }
        while divisor > 0 {
            bytes.append(0x30 + UInt8(value / divisor % 10))
            divisor /= 10
        }
    }

    /// Days since the epoch. Years are counted from March, so that the leap day comes last in its year.
    private static func dayNumber(year: Int64, month: Int64, day: Int64) -> Int64 {
        var shifted = year
        var shiftedMonth = month - 3
        if shiftedMonth < 0 {
            // January and February belong to the year before.
            shifted -= 1
            shiftedMonth += 12
        }
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * shiftedMonth + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private static func civil(dayNumber: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = dayNumber + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        var year = yearOfEra + era * 400
        var month = shiftedMonth + 3
        if month > 12 {
            month -= 12
            year += 1
        }
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func length(ofMonth month: Int, year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: return 30
        case 2:
            let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            return isLeapYear ? 29 : 28
        default: return 31
        }
    }
}

/// A Retry-After field value (RFC 9110 §10.2.3).
public enum RetryAfter: Sendable, Hashable {
    /// Whole seconds from the response's arrival.
    case seconds(Int64)
    /// Not before this time by the origin's clock.
    case date(HTTPDate)

    /// Parses a field value; nil for anything but a number or a date.
    public init?(_ value: some StringProtocol) {
        if let seconds = ByteClass.number(value.utf8) {
            self = .seconds(seconds)
        } else if let date = HTTPDate(value) {
            self = .date(date)
        } else {
            return nil
        }
    }

    /// Seconds to wait from `now`; 0 for a date in the past. Pass the same response's Date as `now`.
    public func delay(from now: HTTPDate) -> Int64 {
        switch self {
        case .seconds(let seconds): seconds
        case .date(let date): max(0, date.secondsSinceEpoch - now.secondsSinceEpoch)
        }
    }
}
