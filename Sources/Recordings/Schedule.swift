package import FoundationEssentials

/// The times at which a channel is recorded. Pure: it knows no clock, and the zone is given with each question.
///
/// Its times are those that clocks show. Each day is begun once, whatever the clock does: in the hour that it shows twice a
/// recording begins the first time, and one whose time is left out begins when the clock is set forward.
package struct Schedule: Codable, Equatable, Sendable {
    /// The end of a recording.
    package enum End: Codable, Equatable, Sendable {
        /// After a time in seconds.
        case after(Int64)
        /// When clocks show this time next.
        case at(LocalTime)
    }

    /// The first day on which it may begin; the only one without `days`.
    package var first: LocalDate
    package var time: LocalTime
    /// The days of the week on which it is repeated; nil for once.
    package var days: Set<Weekday>?
    /// Nil for the end of the stream; a repeated one ends at the latest when the next one begins.
    package var end: End?
    /// Seconds by which it begins earlier and ends later.
    package var early: Int64 = 0
    package var late: Int64 = 0

    package init(first: LocalDate, time: LocalTime, days: Set<Weekday>? = nil, end: End? = nil) {
        self.first = first
        self.time = time
        self.days = days
        self.end = end
    }

    /// One recording of a schedule, in seconds since 1970.
    package struct Occurrence: Equatable, Sendable {
        package let day: LocalDate
        package let begin: Int64
        /// Nil for the end of the stream.
        package let end: Int64?
    }

    /// The recordings to begin and to report at a time.
    package struct Plan: Equatable, Sendable {
        /// Recordings whose time is over, the oldest first: they did not begin, and will not.
        package var missed: [Occurrence] = []
        /// The recording whose time has come, perhaps after its beginning; nil for none.
        package var due: Occurrence?
        /// The recording that begins next; nil if there is none.
        package var next: Occurrence?
    }

    /// Returns what is to be done at a time.
    /// - Parameters:
    ///   - now: in seconds since 1970.
    ///   - handled: the last day of which a recording has begun or was missed; nil before the first.
    package func plan(at now: Int64, in zone: TimeZone, handled: LocalDate?) -> Plan {
        var plan = Plan()
        var day = first
        if let handled {
            day = max(handled.next, first)
        }
        while let occurrence = occurrence(from: day, in: zone) {
            guard occurrence.begin <= now else {
                plan.next = occurrence
                return plan
            }
            if let end = occurrence.end, end <= now {
                plan.missed.append(occurrence)
            } else if plan.due == nil {
                plan.due = occurrence
            }
            day = occurrence.day.next
        }
        return plan
    }

    /// The first recording on a day or after it.
    private func occurrence(from day: LocalDate, in zone: TimeZone) -> Occurrence? {
        guard let day = self.day(from: day) else { return nil }
        let begin = day.time(at: time, in: zone)
        var last: Int64?
        switch end {
        case .after(let seconds): last = begin + seconds
        case .at(let clock):
            let end = (clock > time ? day : day.next).time(at: clock, in: zone)
            last = max(end, begin)
        case nil: break
        }
        last = last.map { $0 + late }
        // Without an end of its own, it ends when the next one begins.
        if last == nil, days != nil, let next = self.day(from: day.next) {
            last = next.time(at: time, in: zone) - early
        }
        return Occurrence(day: day, begin: begin - early, end: last)
    }

    private func day(from day: LocalDate) -> LocalDate? {
        guard let days else { return day <= first ? first : nil }
        var day = max(day, first)
        for _ in Weekday.allCases where !days.contains(day.weekday) {
            day = day.next
        }
        return days.contains(day.weekday) ? day : nil
    }
}

/// How long the recordings of a schedule are kept. Pure.
package enum RecordingRetention: Equatable, Sendable {
    /// The latest ones.
    case latest(Int)
    /// Those of the last days.
    case days(Int)

    /// A recording of the schedule.
    package struct Candidate: Equatable, Sendable {
        package let id: String
        /// In seconds since 1970.
        package let begin: Int64
        /// True if it may be removed: it was watched, is not important, and nobody plays or records it.
        package let mayGo: Bool

        package init(id: String, begin: Int64, mayGo: Bool) {
            self.id = id
            self.begin = begin
            self.mayGo = mayGo
        }
    }

    /// Returns the recordings to remove, the oldest first.
    package func removable(of candidates: [Candidate], at now: Int64) -> [Candidate] {
        let sorted = candidates.sorted { $0.begin < $1.begin }
        let old =
            switch self {
            case .latest(let count): Array(sorted.dropLast(count))
            case .days(let days): sorted.filter { $0.begin < now - Int64(days) * 86_400 }
            }
        return old.filter(\.mayGo)
    }
}
