/// The conditions under which downloads may run. Pure. Players are not affected.
package struct DownloadRules: Equatable, Sendable {
    /// Times of the day in which downloads may run, in local time; empty for always.
    package var hours: [DayHours] = []
    /// The behaviour on a metered network.
    package var metered = Metered.allow
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

    /// The behaviour of downloads on a metered network.
    package enum Metered: String, Codable, Sendable, CaseIterable {
        case allow
        case pause
    }

    /// A change of some rules, for one download. What is absent is as in the configuration.
    package struct Change: Codable, Equatable, Sendable {
        /// Times of the day in which it may run, in the daemon's local time; empty for always.
        package var hours: [DayHours]?
        package var metered: Metered?
        package var onBattery: Battery?
        /// True if it runs only while nobody uses the daemon's machine.
        package var onlyIdle: Bool?

        package init() {}
        package var isEmpty: Bool { self == Self() }

        /// Sets all rules aside.
        package static var ignoringAll: Self {
            var change = Self()
            change.hours = []
            change.metered = .allow
            change.onBattery = .allow
            change.onlyIdle = false
            return change
        }

        /// Replaces the values that another change has.
        package mutating func apply(_ other: Self) {
            hours = other.hours ?? hours
            metered = other.metered ?? metered
            onBattery = other.onBattery ?? onBattery
            onlyIdle = other.onlyIdle ?? onlyIdle
        }
    }

    package init() {}

    package func changed(by change: Change) -> Self {
        var rules = self
        rules.hours = change.hours ?? hours
        rules.metered = change.metered ?? metered
        rules.battery = change.onBattery ?? battery
        rules.onlyIdle = change.onlyIdle ?? onlyIdle
        return rules
    }
}

extension DownloadRules.Battery: Codable {
    package init(from decoder: any Decoder) throws {
        self = try decoder.parsed(as: "allow, pause, or a charge such as 30%")
    }

    package func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}
