import Library
import Playheads

/// The media times that the sessions of one asset will need soon.
///
/// Pure. A session needs the time around its playhead, because players request segments again that they dropped or need
/// in another quality, and the time after its latest request. Its player already has everything between the two. mpv
/// loads an hour at once; a cache that kept all of it would exceed any limit.
struct NeededTimes: Equatable {
    /// Ranges in seconds of media time; they may overlap.
    private(set) var ranges: [ClosedRange<Double>] = []
    /// True if the whole asset is needed, because a session plays from the store alone.
    var isEverything = false

    /// Seconds that are needed before and after a position.
    static let reach = (before: 10.0, behind: 30.0)

    /// Adds the time around a position in seconds of media time.
    mutating func add(around position: Double) {
        ranges.append(position - Self.reach.before...position + Self.reach.behind)
    }

    /// True if no session needs anything. Every session needs keys and initialization sections.
    var isEmpty: Bool { ranges.isEmpty && !isEverything }

    /// True if a segment is needed.
    ///
    /// - Parameter span: the segment's media time; nil if it is not known.
    func contains(_ span: SegmentSpan?) -> Bool {
        guard !isEverything else { return true }
        guard let span else { return false }
        return ranges.contains { $0.lowerBound < span.end && span.start < $0.upperBound }
    }
}
