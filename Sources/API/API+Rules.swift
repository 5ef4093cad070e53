extension API {
    /// Rules for when one download may run. What is absent is as in the configuration.
    package struct Rules: Codable, Equatable, Sendable {
        package enum Metered: String, Codable, Sendable, CaseIterable {
            case allow
            case pause
        }

        /// Times of the day such as `22:00-06:00`, in the daemon's local time; empty for always.
        package var hours: [String]?
        /// The behaviour on a metered network.
        package var metered: Metered?
        /// The behaviour on battery: `allow`, `pause`, or a percentage such as `30%` below which the download waits.
        package var onBattery: String?
        /// True if the download runs only while nobody uses the daemon's machine.
        package var onlyIdle: Bool?
        package init() {}
    }
}
