package import FoundationEssentials

/// A text that is no schedule, with the reason as a sentence.
package struct ScheduleFault: Error, Equatable, Sendable {
    package let sentence: String
}

extension Schedule {
    /// Reads a schedule as the command line and the API have it.
    /// - Parameters:
    ///   - at: `20:15`, which is the next time that clocks show it, or `2026-12-24 20:15`.
    ///   - days: the days of the week on which it is repeated; nil for once.
    ///   - seconds: the length; nil with `until`, and for the end of the stream.
    ///   - until: the end, such as `21:00`.
    ///   - now: in seconds since 1970.
    package init(
        at text: String, days: [String]?, seconds: Int64?, until: String?, early: Int64?, late: Int64?, now: Int64,
        in zone: TimeZone
    ) throws(ScheduleFault) {
        let words = text.split(separator: " ")
        guard let clock = words.last, let time = LocalTime(clock), words.count <= 2 else {
            throw ScheduleFault(sentence: "\"\(text)\" is not a time such as 20:15 or \"2026-12-24 20:15\"")
        }
        let today = LocalDate(at: now, in: zone)
        var first = today
        if words.count == 2 {
            guard let date = LocalDate(words[0]) else {
                throw ScheduleFault(sentence: "\"\(words[0])\" is not a date such as 2026-12-24")
            }
            first = date
        } else if days == nil, today.time(at: time, in: zone) <= now {
            first = today.next
        }
        self.init(first: first, time: time)
        if let days {
            self.days = try Self.days(days)
        }
        try setEnd(seconds: seconds, until: until)
        self.early = try Self.margin(early)
        self.late = try Self.margin(late)
        let plan = self.plan(at: now, in: zone, handled: nil)
        if plan.next == nil, plan.due == nil {
            throw ScheduleFault(sentence: "\(text) is over")
        }
        // Those of earlier today are no longer meant.
        if self.days != nil, let missed = plan.missed.last {
            self.first = missed.day.next
        }
    }

    private static func days(_ words: [String]) throws(ScheduleFault) -> Set<Weekday> {
        if words == ["day"] {
            return Set(Weekday.allCases)
        }
        var days: Set<Weekday> = []
        for word in words {
            guard let day = Weekday(rawValue: word) else {
                let known = Weekday.allCases.map(\.rawValue).joined(separator: ", ")
                throw ScheduleFault(sentence: "\"\(word)\" is not one of the days \(known)")
            }
            days.insert(day)
        }
        guard !days.isEmpty else { throw ScheduleFault(sentence: "a repeated recording needs a day") }
        return days
    }

    private mutating func setEnd(seconds: Int64?, until: String?) throws(ScheduleFault) {
        if let seconds {
            guard until == nil else {
                throw ScheduleFault(sentence: "a recording has a length or an end: give one of the two")
            }
            guard (1...Self.longest).contains(seconds) else {
                throw ScheduleFault(sentence: "a recording ends after 1 second to ten years")
            }
            end = .after(seconds)
        }
        if let until {
            guard let clock = LocalTime(until) else {
                throw ScheduleFault(sentence: "\"\(until)\" is not a time such as 21:00")
            }
            end = .at(clock)
        }
    }

    private static func margin(_ seconds: Int64?) throws(ScheduleFault) -> Int64 {
        let seconds = seconds ?? 0
        guard (0...longestMargin).contains(seconds) else {
            throw ScheduleFault(sentence: "a recording begins at most 12 hours early, and ends at most 12 hours late")
        }
        return seconds
    }

    private static let longest: Int64 = 10 * 366 * 86_400
    private static let longestMargin: Int64 = 12 * 3_600
}

extension RecordingRetention: LosslessStringConvertible, Codable {
    /// Reads `5` or `30d`; nil for anything else.
    package init?(_ text: String) {
        let isDays = text.hasSuffix("d")
        let digits = isDays ? text.dropLast() : text[...]
        guard let number = Int(digits), (1...10_000).contains(number), digits.allSatisfy(\.isNumber) else { return nil }
        self = isDays ? .days(number) : .latest(number)
    }

    package var description: String {
        switch self {
        case .latest(let count): "\(count)"
        case .days(let days): "\(days)d"
        }
    }

    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let retention = Self(text) else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "no retention"))
        }
        self = retention
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
