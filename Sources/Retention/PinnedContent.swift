package import Fetching
import Library
package import Playheads

/// The content of an asset that a download keeps regardless of the play cache's limit.
///
/// The keys are kept with it, and the initialization sections of each rendition with pinned segments.
public enum PinnedContent: Equatable, Sendable {
    /// All content that is stored now or later.
    case everything
    /// Ranges of media time, by rendition id.
    case renditions([String: WantedTime])

    /// No content.
    public static let nothing = PinnedContent.renditions([:])

    /// True if a piece is pinned.
    ///
    /// - Parameters:
    ///   - folder: the id of the rendition, or of the keys or session data.
    ///   - span: the segment's media time; nil if it is not known, and for other pieces.
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

    /// True if any part of a rendition is pinned.
    package func includes(rendition: String) -> Bool {
        switch self {
        case .everything: true
        case .renditions(let wanted): wanted[rendition] != nil
        }
    }
}

/// The media time of a rendition that a download keeps.
public enum WantedTime: Equatable, Sendable {
    /// The whole rendition.
    case whole
    /// The segments that overlap any of these ranges, in seconds.
    case parts([Range<Double>])

    /// True if a segment with this start and end (seconds) overlaps the wanted time. The whole segment is then kept.
    public func touches(_ start: Double, _ end: Double) -> Bool {
        switch self {
        case .whole: true
        case .parts(let parts): parts.contains { $0.lowerBound < end && start < $0.upperBound }
        }
    }

    /// True if a whole range is wanted; nil stands for the whole length.
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
