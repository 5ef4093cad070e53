package import Fetching
import Library
package import Playheads

/// The content of an asset that a download keeps, whatever the limit of the play cache.
///
/// Keys are kept with it, and the initialization sections of each rendition of which a part is pinned.
public enum PinnedContent: Equatable, Sendable {
    /// All that is stored, and all that will be.
    case everything
    /// Times of renditions, by their ids.
    case renditions([String: WantedTime])

    /// No content.
    public static let nothing = PinnedContent.renditions([:])

    /// True if a piece is pinned.
    ///
    /// - Parameters:
    ///   - folder: the rendition's id, or that of the keys or session data.
    ///   - span: a segment's time; nil if it is unknown, and for other pieces.
    package func contains(_ role: PieceName.Role, of folder: String, _ span: SegmentSpan?) -> Bool {
        guard case .renditions(let wanted) = self else { return true }
        switch role {
        case .key, .data: return !wanted.isEmpty
        case .initialization, .passing: return wanted[folder] != nil
        case .segment:
            guard let wanted = wanted[folder] else { return false }
            return span.map { wanted.touches($0.start, $0.end) } ?? true
        }
    }

    /// True if any of a rendition is pinned.
    package func includes(rendition: String) -> Bool {
        switch self {
        case .everything: true
        case .renditions(let wanted): wanted[rendition] != nil
        }
    }
}

/// The times of a rendition that a download keeps.
public enum WantedTime: Equatable, Sendable {
    /// From its start to its end.
    case whole
    /// The time within any of these, in seconds.
    case parts([Range<Double>])

    /// True if any part of a segment with this start and end, in seconds, is wanted: all of the segment is then.
    public func touches(_ start: Double, _ end: Double) -> Bool {
        switch self {
        case .whole: true
        case .parts(let parts): parts.contains { $0.lowerBound < end && start < $0.upperBound }
        }
    }

    /// True if all of a range is wanted; nil stands for the whole length.
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
