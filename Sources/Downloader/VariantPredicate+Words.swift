extension VariantPredicate: CustomStringConvertible {
    /// The condition as text after "is": `at most 720p`, `avc1`, `at least 2.0 Mb/s`.
    public var description: String {
        switch self {
        case .peakBitRate(let bound): bound.words(BitRate.words)
        case .averageBitRate(let bound): bound.words { BitRate.words($0) + " on average" }
        case .width(let bound): bound.words { "\($0) pixels wide" }
        case .height(let bound): bound.words { "\($0)p" }
        case .frameRate(let bound): bound.words { "\($0) frames a second" }
        case .channels(.atLeast(3)): "multichannel"
        case .channels(let bound): bound.words { "\($0) channels" }
        case .videoRange(let ranges): ranges.joined(separator: " or ")
        case .codec(let family): family
        case .all(let parts): parts.map(\.description).joined(separator: " and ")
        case .any(let parts): parts.map(\.description).joined(separator: " or ")
        case .not(let part): "not \(part)"
        }
    }
}

extension VariantPredicate.Bound {
    fileprivate func words(_ value: (Value) -> String) -> String {
        switch self {
        case .atLeast(let least): "at least " + value(least)
        case .atMost(let most): "at most " + value(most)
        case .exactly(let wanted): value(wanted)
        }
    }
}

/// Formats bit rates.
enum BitRate {
    /// Returns text such as `0.17 Mb/s`, rounded down to hundredths.
    static func words(_ bitsPerSecond: Int) -> String { "\(Double(bitsPerSecond / 10_000) / 100) Mb/s" }
}
