/// Counts the holes of a recorded rendition, neighbours as one. Pure.
package struct RecordingHoles: Equatable, Sendable {
    /// Holes between two stored segments.
    package private(set) var count = 0
    package private(set) var seconds = 0.0
    private var isOpen = false

    package init() {}

    /// Adds the next segment, or several missed ones.
    package mutating func append(seconds: Double, isMissing: Bool) {
        if isMissing {
            self.seconds += seconds
            if !isOpen {
                count += 1
            }
        }
        isOpen = isMissing
    }

    /// `3 holes, 6 s missing`; nil if nothing is missing.
    package var words: String? {
        guard count > 0 else { return nil }
        let whole = Int(seconds.rounded())
        let time = whole < 120 ? "\(max(whole, 1)) s" : "\(whole / 60) min"
        return "\(count) \(count == 1 ? "hole" : "holes"), \(time) missing"
    }
}
