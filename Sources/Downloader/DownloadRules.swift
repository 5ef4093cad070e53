package import Orders

/// The conditions under which downloads may run. Pure. Players are not affected.
package struct DownloadRules: Equatable, Sendable {
    /// Times of the day in which downloads may run, in local time; empty for always.
    package var hours: [DayHours] = []
    /// True if downloads wait while the network is metered.
    package var pausesOnMetered = false
    /// The behaviour on battery.
    package var battery = Battery.allow
    /// True if downloads run only while nobody uses the machine.
    package var onlyIdle = false

    /// The behaviour of downloads while the machine runs on battery.
    package enum Battery: Equatable, Sendable, LosslessStringConvertible {
        case allow
        case pause
        /// Downloads wait while the charge is below this percentage.
        case pauseBelow(Int)

        /// Parses `allow`, `pause` or a percentage such as `30%`.
        package init?(_ text: String) {
            switch text {
            case "allow": self = .allow
            case "pause": self = .pause
            default:
                guard text.hasSuffix("%"), let percent = Int(text.dropLast()), (1...100).contains(percent) else {
                    return nil
                }
                self = .pauseBelow(percent)
            }
        }

        package var description: String {
            switch self {
            case .allow: "allow"
            case .pause: "pause"
            case .pauseBelow(let percent): "\(percent)%"
            }
        }
    }

    /// A change of some rules, for one download.
    package struct Change: Equatable, Sendable {
        package var hours: [DayHours]?
        package var pausesOnMetered: Bool?
        package var battery: Battery?
        package var onlyIdle: Bool?

        package init() {}
        package var isEmpty: Bool { self == Self() }

        /// Replaces the values that another change has.
        mutating func apply(_ other: Self) {
            hours = other.hours ?? hours
            pausesOnMetered = other.pausesOnMetered ?? pausesOnMetered
            battery = other.battery ?? battery
            onlyIdle = other.onlyIdle ?? onlyIdle
        }
    }

    package init() {}

    func changed(by change: Change) -> Self {
        var rules = self
        rules.hours = change.hours ?? hours
        rules.pausesOnMetered = change.pausesOnMetered ?? pausesOnMetered
        rules.battery = change.battery ?? battery
        rules.onlyIdle = change.onlyIdle ?? onlyIdle
        return rules
    }

    /// The facts on which these rules depend.
    package var facts: Set<Conditions.Fact> {
        var facts: Set<Conditions.Fact> = []
        if !hours.isEmpty { facts.insert(.time) }
        if pausesOnMetered { facts.insert(.metering) }
        if battery != .allow { facts.insert(.power) }
        if onlyIdle { facts.insert(.idleness) }
        return facts
    }

    /// True if a fact on which these rules depend has not been read yet.
    package func awaitReading(of conditions: Conditions) -> Bool { facts.contains { conditions.isUnread($0) } }

    /// The reasons why a download may not run now, in words; empty if it may. A fact that the machine does not have stops
    /// nothing.
    package func holds(under conditions: Conditions) -> [Reason] {
        [
            hoursHold(conditions.minute), meteredHold(conditions.isMetered), powerHold(conditions.power),
            idleHold(conditions.isIdle),
        ].compactMap(\.self)
    }

    private func hoursHold(_ minute: Conditions.Reading<Int>) -> Reason? {
        guard !hours.isEmpty, case .value(let minute) = minute, !hours.contains(where: { $0.contains(minute) }) else {
            return nil
        }
        return Reason(.hours, "downloads run at \(hours.map(\.description).joined(separator: " and ")) only")
    }

    private func meteredHold(_ isMetered: Conditions.Reading<Bool>) -> Reason? {
        pausesOnMetered && isMetered == .value(true) ? Reason(.metered, "the network is metered") : nil
    }

    private func powerHold(_ reading: Conditions.Reading<Conditions.Power>) -> Reason? {
        guard case .value(let power) = reading, power.isOnBattery else { return nil }
        switch battery {
        case .allow: return nil
        case .pause: return Reason(.power, "the machine runs on battery")
        case .pauseBelow(let least):
            guard let percent = power.percent, percent < least else { return nil }
            return Reason(.power, "the machine runs on battery, which is at \(percent) %, below \(least) %")
        }
    }

    private func idleHold(_ isIdle: Conditions.Reading<Bool>) -> Reason? {
        onlyIdle && isIdle == .value(false) ? Reason(.idle, "somebody uses the machine") : nil
    }
}

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
        (self.start, self.end) = (start, end == 0 ? 1440 : end)
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

/// The state of the machine, as far as rules of downloads depend on it. Pure.
package struct Conditions: Equatable, Sendable {
    package enum Fact: CaseIterable, Sendable {
        case time, metering, power, idleness
    }

    /// A fact about the machine.
    package enum Reading<Value: Equatable & Sendable>: Equatable, Sendable {
        /// Not read since rules need it.
        case unread
        /// The machine does not have it: no battery, no service that knows.
        case absent
        case value(Value)
    }

    package struct Power: Equatable, Sendable {
        package let isOnBattery: Bool
        /// The charge of the battery, or of all batteries together; nil if it is not known.
        package let percent: Int?

        package init(isOnBattery: Bool, percent: Int?) { (self.isOnBattery, self.percent) = (isOnBattery, percent) }
    }

    /// The minute of the day in local time, 0..<1440.
    package var minute = Reading<Int>.unread
    package var isMetered = Reading<Bool>.unread
    package var power = Reading<Power>.unread
    package var isIdle = Reading<Bool>.unread

    package init() {}

    func isUnread(_ fact: Fact) -> Bool {
        switch fact {
        case .time: minute == .unread
        case .metering: isMetered == .unread
        case .power: power == .unread
        case .idleness: isIdle == .unread
        }
    }
}
