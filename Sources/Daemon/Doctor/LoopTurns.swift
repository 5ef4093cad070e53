/// The lengths of the loop's turns, from a daemon's metrics.
struct LoopTurns {
    /// Longer waits of one request in a hundred are worth a look, in seconds.
    static let largest = 0.05
    /// The bound that 99 of 100 turns keep, in seconds; nil if they exceed the last bound.
    let usual: Double?
    /// In seconds.
    let longest: Double

    /// Reads the text of `/metrics`; nil if it has no turns.
    init?(_ text: String) {
        var buckets: [(bound: Double, count: Double)] = []
        var count: Double?
        var longest: Double?
        for line in text.split(separator: "\n") where line.hasPrefix("weir_loop_") {
            let words = line.split(separator: " ")
            guard words.count == 2, let value = Double(words[1]) else { continue }
            switch words[0] {
            case "weir_loop_turn_seconds_count": count = value
            case "weir_loop_longest_turn_seconds": longest = value
            default:
                if let bound = Self.bound(ofBucket: words[0]) {
                    buckets.append((bound, value))
                }
            }
        }

        guard let count, count > 0, let longest else { return nil }
        usual = buckets.first { $0.count >= count * 0.99 }?.bound
        self.longest = longest
    }

    /// The upper bound in the name of a histogram's bucket; nil for other names, and for the last bucket, which has +Inf.
    private static func bound(ofBucket name: Substring) -> Double? {
        let parts = name.split(separator: "\"")
        guard name.hasPrefix("weir_loop_turn_seconds_bucket{le="), parts.count > 1, let bound = Double(parts[1]),
            bound < 1e6
        else { return nil }
        return bound
    }

    var longestWords: String {
        guard longest >= 1 else { return "\(Int(longest * 1000)) ms" }
        return "\(Int(min(longest, 1e9))) s"
    }
}
