internal import Downloads
internal import FoundationEssentials
internal import Glibc
internal import SafeText

/// The machine's power supplies, as the kernel shows them: Documentation/ABI/testing/sysfs-class-power.
struct PowerSupplies {
    /// The folder with one folder for each supply.
    let folder: String

    static let systemFolder = "/sys/class/power_supply"

    /// Reads the state. Absent without a battery of the machine itself: a desktop, or a server.
    func read() -> Conditions.Reading<Conditions.Power> {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        var isPowered = false
        var isDischarging = false
        var hasBattery = false
        var charges: [(now: Double, full: Double)] = []
        var percentages: [Int] = []
        // A mouse or a headset has a battery as well: its scope is Device.
        for name in names.sorted() where value("scope", of: name) != "Device" {
            switch value("type", of: name) {
            case "Mains", "USB", "Wireless": isPowered = isPowered || value("online", of: name) == "1"
            case "Battery":
                guard value("present", of: name) != "0" else { continue }
                hasBattery = true
                isDischarging = isDischarging || value("status", of: name) == "Discharging"
                if let charge = charge(of: name) {
                    charges.append(charge)
                }
                if let percent = value("capacity", of: name).flatMap({ Int($0) }) {
                    percentages.append(percent)
                }
            default: continue
            }
        }
        guard hasBattery else { return .absent }
        // A supply that is too weak does not stop the discharge, and some machines show no supply at all.
        return .value(
            .init(isOnBattery: isDischarging || !isPowered && !isFull(names), percent: percent(charges, percentages)))
    }

    /// True if a battery says that it is charged, or is charging: then there is a supply, shown or not.
    private func isFull(_ names: [String]) -> Bool {
        names.contains { name in
            value("type", of: name) == "Battery" && value("scope", of: name) != "Device"
                && ["Full", "Charging", "Not charging"].contains(value("status", of: name))
        }
    }

    /// Two batteries of different size count by their charge. Without that, the fuller one counts, which is used last.
    private func percent(_ charges: [(now: Double, full: Double)], _ percentages: [Int]) -> Int? {
        guard charges.count == percentages.count, charges.count > 1 else { return percentages.max() }
        let full = charges.reduce(0) { $0 + $1.full }
        guard full > 0 else { return percentages.max() }
        let now = charges.reduce(0) { $0 + $1.now }
        return Int(now / full * 100)
    }

    private func charge(of name: String) -> (now: Double, full: Double)? {
        for unit in ["energy", "charge"] {
            guard let now = value("\(unit)_now", of: name).flatMap({ Ratio(decimal: $0) }),
                let full = value("\(unit)_full", of: name).flatMap({ Ratio(decimal: $0) }), full > 0
            else { continue }
            return (min(now, full).value, full.value)
        }
        return nil
    }

    private func value(_ key: String, of supply: String) -> String? {
        let file = open("\(folder)/\(supply)/\(key)", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = Glibc.read(file, &bytes, bytes.count)
        guard count > 0 else { return nil }
        return String(decoding: bytes[..<count], as: UTF8.self).split(whereSeparator: \.isNewline).first.map(
            String.init)
    }
}
