import Playheads

/// The media times that sessions of one asset are about to need.
///
/// Pure. A session needs what lies around its playhead, since players ask again for what they lost or want in another
/// quality, and what lies behind that which it has asked for. What is between the two its player has: mpv takes an hour
/// of it at once, and a cache that kept all that would have no limit.
struct NeedWindows: Equatable {
    /// In seconds of media time; they may overlap.
    private(set) var ranges: [ClosedRange<Double>] = []
    /// Whether all of the asset is needed: a session has nothing but the store.
    var isEverything = false

    /// So many seconds before a place are needed, and behind it.
    static let reach = (before: 10.0, behind: 30.0)

    /// What lies around a place is needed, in seconds of media time.
    mutating func add(around place: Double) {
        ranges.append(place - Self.reach.before...place + Self.reach.behind)
    }

    /// Whether anybody is there at all: who is needs keys and initialization sections.
    var isEmpty: Bool { ranges.isEmpty && !isEverything }

    /// Whether a segment is needed.
    ///
    /// - Parameter span: when it plays; nil where that is not known.
    func hold(_ span: SegmentSpan?) -> Bool {
        guard !isEverything else { return true }
        guard let span else { return false }
        return ranges.contains { $0.lowerBound < span.end && span.start < $0.upperBound }
    }
}
