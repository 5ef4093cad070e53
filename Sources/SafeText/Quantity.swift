/// Sizes and rates in words, with one rounding for all messages, tables and pages. Pure.
public enum Quantity {
    /// A size in powers of 1024 with at least two digits: `151 MB`.
    public static func bytes(_ count: Int) -> String {
        let units = ["KB", "MB", "GB", "TB"]
        guard count >= 1024 else { return "\(max(0, count)) B" }
        var value = Double(count) / 1024
        var unit = 0
        while value >= 1023.5, unit < units.count - 1 {
            value /= 1024
            unit += 1
        }
        return "\(short(value)) \(units[unit])"
    }

    /// A bit rate in powers of 1000, as usual for networks: `2.1 Mb/s`.
    public static func bandwidth(_ bitsPerSecond: Int) -> String {
        switch bitsPerSecond {
        case ..<1000: "\(max(0, bitsPerSecond)) b/s"
        case ..<999_500: "\(short(Double(bitsPerSecond) / 1000)) kb/s"
        default: "\(short(Double(bitsPerSecond) / 1_000_000)) Mb/s"
        }
    }

    private static func short(_ value: Double) -> String {
        guard value < 9.95 else { return "\(Int(value.rounded()))" }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
