internal import Downloads
internal import Glibc

/// Reads the state of the machine on which rules of downloads depend.
struct MachineSensors: Sendable {
    private let power: String
    private let environment: [String: String]

    /// - Parameter power: the folder of power supplies.
    init(environment: [String: String], power: String = PowerSupplies.systemFolder) {
        self.environment = environment
        self.power = power
    }

    /// Reads these facts, and leaves the others unread. Waits for services of the system bus, so not for the loop.
    func read(_ facts: Set<Conditions.Fact>) -> Conditions {
        let bus = SystemBus(environment: environment)
        var conditions = Conditions()
        if facts.contains(.time) {
            conditions.minute = .value(LocalTime.second(at: Int64(time(nil))) / 60)
        }
        if facts.contains(.power) {
            conditions.power = PowerSupplies(folder: power).read()
        }
        if facts.contains(.metering) {
            conditions.isMetered = bus.isMetered()
        }
        if facts.contains(.idleness) {
            conditions.isIdle = bus.isIdle()
        }
        return conditions
    }
}
