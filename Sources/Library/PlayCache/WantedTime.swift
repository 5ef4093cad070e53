/// How much of a rendition is wanted.
public enum WantedTime: Equatable, Sendable {
    /// From its start to its end.
    case whole
    /// What is within one of these, in seconds.
    case parts([Range<Double>])

    /// Whether a segment that lasts from one instant to another is wanted: all of it is, if any of it is in a part.
    public func touches(_ start: Double, _ end: Double) -> Bool {
        switch self {
        case .whole: true
        case .parts(let parts): parts.contains { $0.lowerBound < end && start < $0.upperBound }
        }
    }

    /// Whether all of a range is wanted; nil stands for the whole length.
    public func contains(_ range: Range<Double>?) -> Bool {
        switch self {
        case .whole: true
        case .parts(let parts):
            range.map { range in
                parts.contains { $0.lowerBound <= range.lowerBound && range.upperBound <= $0.upperBound }
            } ?? false
        }
    }
}
