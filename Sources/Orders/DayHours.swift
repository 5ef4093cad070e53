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
        start < end ? start <= minute && minute < end : start <= minute || minute < end
    }

    /// Minutes from a minute of the day to the next one at which the hours begin or end: 1...1440.
    package func minutesToChange(from minute: Int) -> Int {
        [start, end].map { ($0 - minute + 2 * 1440 - 1) % 1440 + 1 }.min() ?? 1440
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
        let two = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
        return "\(two(minute / 60)):\(two(minute % 60))"
    }
}

extension DayHours: Codable {
    package init(from decoder: any Decoder) throws {
        self = try decoder.form("a time of the day, such as 22:00-06:00")
    }

    package func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}
