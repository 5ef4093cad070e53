/// Parses durations as users write them: `30d`, `48h`, `90m`.
package enum TimeSpan {
    private static let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]

    /// The text of a duration in the largest unit that divides it; `never` for nil.
    package static func text(_ seconds: Int64?) -> String {
        guard let seconds else { return "never" }
        let unit = units.filter { seconds >= $0.value && seconds % Int64($0.value) == 0 }.max { $0.value < $1.value }
        guard let unit else { return "\(seconds)s" }
        return "\(seconds / Int64(unit.value))\(unit.key)"
    }

    /// The duration in seconds; nil for invalid text, and for more than a hundred years.
    package static func seconds(_ text: String) -> Int? {
        guard let last = text.last, let unit = units[last], text.count < 12,
            text.dropLast().allSatisfy({ $0.isASCII && $0.isNumber }), let count = Int(text.dropLast()), count > 0,
            count <= 100 * 31_557_600 / unit
        else { return nil }
        return count * unit
    }
}
