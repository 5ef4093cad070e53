/// A length of time as a person writes it: `30d`, `48h`, `90m`.
public enum TimeSpan {
    private static let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]

    /// The seconds of `30d`; nil for what is no span, or longer than a hundred years.
    public static func seconds(_ text: String) -> Int? {
        guard let last = text.last, let unit = units[last], text.count < 12,
            text.dropLast().allSatisfy({ $0.isASCII && $0.isNumber }), let count = Int(text.dropLast()), count > 0,
            count <= 100 * 31_557_600 / unit
        else { return nil }
        return count * unit
    }
}
