import API
import ArgumentParser

extension API.Rules.Metered: ExpressibleByArgument {}

/// The options for when one download may run. They replace the configuration's rules for that download.
struct RuleOptions: ParsableArguments {
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Download only at this time of the day, as 22:00-06:00, or at any. May be repeated.", valueName: "hours"))
    var hours: [String] = []
    @Option(help: "On a metered network: allow or pause.")
    var metered: API.Rules.Metered?
    @Option(
        help: ArgumentHelp(
            "On battery: allow, pause, or a charge such as 30% below which the download waits.", valueName: "choice"))
    var onBattery: String?
    @Flag(inversion: .prefixedNo, help: "Download only while nobody uses the machine.")
    var onlyIdle: Bool?

    func validate() throws {
        if hours.contains("any"), hours.count > 1 { throw ValidationError("--hours any stands alone.") }
    }

    /// The rules of a request; nil without the options, so that a download keeps its rules.
    var change: API.Rules? {
        var rules = API.Rules()
        if !hours.isEmpty { rules.hours = hours == ["any"] ? [] : hours }
        (rules.metered, rules.onBattery, rules.onlyIdle) = (metered, onBattery, onlyIdle)
        return rules == API.Rules() ? nil : rules
    }
}
