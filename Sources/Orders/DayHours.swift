/// Times of the day from a minute to another, which may be past midnight. Pure.
package struct DayHours: Equatable, Sendable, LosslessStringConvertible {
    /// Minutes of the day: `start` in 0..<1440, `end` in 1...1440. An end before the start is on the next day.
    package let start: Int
    package let end: Int

    /// Parses `22:00-06:00`; nil for another form, and for hours that begin when they end.
    package init?(_ text: String) {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let start = Self.minute(ends[0]), let end = Self.minute(ends[1]), start < 1440,
            start != end
        else { return nil }
        // A night that ends at midnight ends at 24:00.
        self.start = start
        self.end = end == 0 ? 1440 : end
    }

    package var description: String { "\(Self.text(start))-\(Self.text(end))" }

    package func contains(_ minute: Int) -> Bool {
        guard start < end else {
            // A night: until midnight and from then on.
            return start <= minute || minute < end
        }
        return start <= minute && minute < end
    }

    /// Minutes from a minute of the day to the next one at which the hours begin or end: 1...1440.
    package func minutesToChange(from minute: Int) -> Int {
        let toStart = (start - minute + 2 * 1440 - 1) % 1440 + 1
        let toEnd = (end - minute + 2 * 1440 - 1) % 1440 + 1
        return min(toStart, toEnd)
    }

    private static func minute(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...2).contains(parts[0].utf8.count), parts[1].utf8.count == 2,
            parts.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }), let hour = Int(parts[0]),
            let minute = Int(parts[1]), minute < 60, hour < 24 || hour == 24 && minute == 0
        else { return nil }
        return hour * 60 + minute
    }

    private static func text(_ minute: Int) -> String {
        "\(twoDigits(minute / 60)):\(twoDigits(minute % 60))"
    }

    private static func twoDigits(_ number: Int) -> String {
        guard number < 10 else { return "\(number)" }
        return "0\(number)"
    }
}

extension DayHours: Codable {
    package init(from decoder: any Decoder) throws {
        self = try decoder.parsed(as: "a time of the day, such as 22:00-06:00")
    }

    package func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}
