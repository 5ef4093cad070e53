import ArgumentParser
import Orders

extension DownloadRules.Metered: ExpressibleByArgument {}

/// The options for when one download may run. They replace the configuration's rules for that download.
struct RuleOptions: ParsableArguments {
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Download only at this time of the day, as 22:00-06:00, or at any. May be repeated.", valueName: "hours"),
        transform: Self.hours)
    var hours: [[DayHours]] = []
    @Option(help: "On a metered network: allow or pause.")
    var metered: DownloadRules.Metered?
    @Option(
        help: ArgumentHelp(
            "On battery: allow, pause, or a charge such as 30% below which the download waits.", valueName: "choice"),
        transform: Self.battery)
    var onBattery: DownloadRules.Battery?
    @Flag(inversion: .prefixedNo, help: "Download only while nobody uses the machine.")
    var onlyIdle: Bool?
    @Flag(help: "Run now, whatever these rules and those of the configuration say.")
    var ignoreRules = false

    func validate() throws {
        if ignoreRules, given != nil {
            throw ValidationError("--ignore-rules stands alone: it sets all rules aside.")
        }
        if hours.contains(where: \.isEmpty), hours.count > 1 {
            throw ValidationError("--hours any stands alone.")
        }
    }

    /// The rules of a request; nil without the options, so that a download keeps its rules.
    var change: DownloadRules.Change? { ignoreRules ? .ignoringAll : given }

    private var given: DownloadRules.Change? {
        var rules = DownloadRules.Change()
        if !hours.isEmpty {
            rules.hours = hours.flatMap(\.self)
        }
        rules.metered = metered
        rules.onBattery = onBattery
        rules.onlyIdle = onlyIdle
        guard !rules.isEmpty else { return nil }
        return rules
    }

    /// Reads hours; none for any time.
    private static func hours(_ text: String) throws -> [DayHours] {
        if text == "any" {
            return []
        }
        guard let hours = DayHours(text) else {
            throw ValidationError("\"\(text)\" is not a time of the day, such as 22:00-06:00")
        }
        return [hours]
    }

    private static func battery(_ text: String) throws -> DownloadRules.Battery {
        guard let battery = DownloadRules.Battery(text) else {
            throw ValidationError("\"\(text)\" is not allow, pause, or a charge such as 30%")
        }
        return battery
    }
}
