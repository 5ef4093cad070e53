package import FoundationEssentials

/// A time of the day as clocks show it. Pure.
package struct LocalTime: Equatable, Comparable, Hashable, Sendable, Codable {
    package let hour: Int
    package let minute: Int

    /// Nil unless it is from 00:00 to 23:59.
    package init?(hour: Int, minute: Int) {
        guard (0...23).contains(hour), (0...59).contains(minute) else { return nil }
        self.hour = hour
        self.minute = minute
    }

    /// Reads `20:15`; nil for anything else.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...2).contains(parts[0].count), parts[1].count == 2, let hour = Int(parts[0]),
            let minute = Int(parts[1])
        else { return nil }
        self.init(hour: hour, minute: minute)
    }

    /// The time that clocks show at a time, in seconds since 1970.
    package init(at time: Int64, in zone: TimeZone) {
        let local = time + zone.offset(at: time)
        let minutes = Int((local % 86_400 + 86_400) % 86_400 / 60)
        hour = minutes / 60
        minute = minutes % 60
    }

    /// Seconds since midnight, on a day without a change of the clock.
    var seconds: Int64 { Int64(hour * 3_600 + minute * 60) }

    package static func < (left: Self, right: Self) -> Bool { left.seconds < right.seconds }

    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let time = Self(text) else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "no time"))
        }
        self = time
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension LocalTime: CustomStringConvertible {
    package var description: String { "\(twoDigits(hour)):\(twoDigits(minute))" }
}

/// A day of the calendar that clocks show. Pure.
package struct LocalDate: Equatable, Comparable, Hashable, Sendable, Codable {
    /// Days since 1970-01-01.
    package let number: Int

    package init(number: Int) { self.number = number }

    /// Nil unless there is such a day.
    package init?(year: Int, month: Int, day: Int) {
        guard (1970...9999).contains(year), (1...12).contains(month), (1...31).contains(day) else { return nil }
        // Years begin with March, so that a leap day is the last one: see "days from civil" by Howard Hinnant.
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted % 400
        let monthFromMarch = (month + 9) % 12
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        number = era * 146_097 + dayOfEra - 719_468
        guard civil == (year, month, day) else { return nil }
    }

    /// Reads `2026-12-24`; nil for anything else.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.count) == [4, 2, 2], let year = Int(parts[0]), let month = Int(parts[1]),
            let day = Int(parts[2])
        else { return nil }
        self.init(year: year, month: month, day: day)
    }

    /// The day that clocks show at a time, in seconds since 1970.
    package init(at time: Int64, in zone: TimeZone) {
        let local = time + zone.offset(at: time)
        number = Int((Double(local) / 86_400).rounded(.down))
    }

    private var civil: (Int, Int, Int) {
        let days = number + 719_468
        let era = days / 146_097
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400
        return (month <= 2 ? year + 1 : year, month, day)
    }

    package var next: LocalDate { LocalDate(number: number + 1) }

    package var weekday: Weekday {
        // 1970-01-01 was a Thursday.
        Weekday.allCases[(number + 3) % 7]
    }

    package static func < (left: Self, right: Self) -> Bool { left.number < right.number }

    /// Returns the first time, in seconds since 1970, at which clocks show a time of this day or, in the night in which they are set
    /// forward past it, the time at which they are.
    package func time(at clock: LocalTime, in zone: TimeZone) -> Int64 {
        let shown = Int64(number) * 86_400 + clock.seconds
        let before = shown - zone.offset(at: shown - 86_400)
        let after = shown - zone.offset(at: shown + 86_400)
        let fitting = [before, after].filter { $0 + zone.offset(at: $0) == shown }
        if let first = fitting.min() {
            return first
        }
        // Between the two the clock is set forward.
        var range = min(before, after)...max(before, after)
        let old = zone.offset(at: range.lowerBound)
        while range.lowerBound < range.upperBound {
            let middle = range.lowerBound + (range.upperBound - range.lowerBound) / 2
            range = zone.offset(at: middle) == old ? middle + 1...range.upperBound : range.lowerBound...middle
        }
        return range.lowerBound
    }

    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let date = Self(text) else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "no date"))
        }
        self = date
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension LocalDate: CustomStringConvertible {
    package var description: String {
        let (year, month, day) = civil
        return "\(year)-\(twoDigits(month))-\(twoDigits(day))"
    }
}

/// A day of the week. The raw values are in the API, in files and on the command line.
package enum Weekday: String, Codable, CaseIterable, Sendable {
    case monday = "mon"
    case tuesday = "tue"
    case wednesday = "wed"
    case thursday = "thu"
    case friday = "fri"
    case saturday = "sat"
    case sunday = "sun"
}

extension TimeZone {
    /// Seconds to add to a time for the time that clocks show.
    fileprivate func offset(at time: Int64) -> Int64 {
        Int64(secondsFromGMT(for: Date(timeIntervalSince1970: Double(time))))
    }
}

func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
