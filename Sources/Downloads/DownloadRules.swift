package import Orders

extension DownloadRules {
    /// The facts on which these rules depend.
    package var facts: Set<Conditions.Fact> {
        var facts: Set<Conditions.Fact> = []
        if !hours.isEmpty {
            facts.insert(.time)
        }
        if metered == .pause {
            facts.insert(.metering)
        }
        if battery != .allow {
            facts.insert(.power)
        }
        if onlyIdle {
            facts.insert(.idleness)
        }
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
        metered == .pause && isMetered == .value(true) ? Reason(.metered, "the network is metered") : nil
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

        package init(isOnBattery: Bool, percent: Int?) {
            self.isOnBattery = isOnBattery
            self.percent = percent
        }
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
