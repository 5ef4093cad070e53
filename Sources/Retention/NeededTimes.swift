import Library
import Playheads

/// The media times that sessions of one asset need soon.
///
/// Pure. A session needs the time around its playhead, since players ask again for segments that they lost or want in
/// another quality, and the time after its latest request. Its player has everything between the two: mpv takes an hour
/// at once, and a cache that kept all of it would have no limit.
struct NeededTimes: Equatable {
    /// In seconds of media time; they may overlap.
    private(set) var ranges: [ClosedRange<Double>] = []
    /// True if all of the asset is needed: a session has nothing but the store.
    var isEverything = false

    /// The seconds that are needed before a position and after it.
    static let reach = (before: 10.0, behind: 30.0)

    /// Adds the time around a position, in seconds of media time.
    mutating func add(around position: Double) {
        ranges.append(position - Self.reach.before...position + Self.reach.behind)
    }

    /// True if no session needs anything. Any session needs keys and initialization sections.
    var isEmpty: Bool { ranges.isEmpty && !isEverything }

    /// True if a segment is needed.
    ///
    /// - Parameter span: the segment's time; nil if it is unknown.
    func contains(_ span: SegmentSpan?) -> Bool {
        guard !isEverything else { return true }
        guard let span else { return false }
        return ranges.contains { $0.lowerBound < span.end && span.start < $0.upperBound }
    }
}
