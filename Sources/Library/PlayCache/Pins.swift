import Fetching
import Playheads

/// What of an asset is kept whatever the play cache's limit is: what a download wants.
///
/// Keys, and the initialization sections of a rendition of which anything is wanted, are kept with it.
public enum Pins: Equatable, Sendable {
    /// All that there is, and all that comes.
    case everything
    /// So much of renditions, by their ids.
    case renditions([String: WantedTime])

    /// Nothing.
    public static let nothing = Pins.renditions([:])

    /// Whether a piece is kept.
    ///
    /// - Parameters:
    ///   - folder: the rendition's id, or that of the keys or session data.
    ///   - span: when a segment plays; nil where that is not known, or for what is no segment.
    func hold(_ role: PieceName.Role, of folder: String, _ span: SegmentSpan?) -> Bool {
        guard case .renditions(let wanted) = self else { return true }
        switch role {
        case .key, .data: return !wanted.isEmpty
        case .initialization, .passing: return wanted[folder] != nil
        case .segment:
            guard let wanted = wanted[folder] else { return false }
            return span.map { wanted.touches($0.start, $0.end) } ?? true
        }
    }
}
