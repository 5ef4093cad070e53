/// Parses sizes as users write them: `2GB`, `1.5 GB`, `500M`, `0`.
enum ByteSize {
    /// Powers of 1024, as in the command line's output.
    private static let units: [(names: Set<String>, factor: Double)] = [
        (["", "b"], 1), (["k", "kb", "kib"], 0x1p10), (["m", "mb", "mib"], 0x1p20), (["g", "gb", "gib"], 0x1p30),
        (["t", "tb", "tib"], 0x1p40),
    ]

    /// The size in bytes; nil for invalid text, and for sizes beyond any disk.
    static func bytes(_ text: String) -> Int64? {
        let number = text.prefix { $0.isASCII && $0.isNumber || $0 == "." }
        let unit = text.dropFirst(number.count).drop { $0 == " " }.lowercased()
        guard let factor = units.first(where: { $0.names.contains(unit) })?.factor, let first = number.first,
            first != ".", number.last != ".", let value = Double(number), value * factor < 0x1p60
        else { return nil }
        return Int64(value * factor)
    }
}

/// Parses durations as users write them: `30d`, `48h`, `90m`.
public enum TimeSpan {
    private static let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]

    /// The duration in seconds; nil for invalid text, and for more than a hundred years.
    public static func seconds(_ text: String) -> Int? {
        guard let last = text.last, let unit = units[last], text.count < 12,
            text.dropLast().allSatisfy({ $0.isASCII && $0.isNumber }), let count = Int(text.dropLast()), count > 0,
            count <= 100 * 31_557_600 / unit
        else { return nil }
        return count * unit
    }
}
