import EventLoop
import Library

/// Tracks the substitutions that one session has received in one rendition.
///
/// A decoder that was given other parameter sets in-band must be given its own again, or it shows garbage. So once a
/// spliced piece was sent, every following piece is spliced, whichever one the player requests next.
@LoopActor final class Composition {
    /// Progress towards splicing every piece.
    enum Joining: Int, Comparable {
        /// All pieces sent were the rendition's own.
        case apart
        /// A substitute may be on its way. The rendition's own pieces are spliced already, which does no harm: the
        /// player may request the next segment before it has received the previous one.
        case perhaps
        /// A spliced substitute was sent.
        case joined

        static func < (left: Joining, right: Joining) -> Bool { left.rawValue < right.rawValue }
    }

    /// The state; it never goes back.
    private(set) var joining: Joining
    /// The substitute renditions, by the file name that the player requested.
    private var sources: [String: String] = [:]
    private static let limit = 4096

    /// - Parameter isKnown: false for a session that continues after a restart, because the pieces that it received
    ///   before are unknown.
    init(isKnown: Bool) { joining = isKnown ? .apart : .joined }

    /// True if own pieces are sent unchanged, so that no further check is needed.
    var isApart: Bool { joining == .apart }

    /// Records a substitute that is, or may be, on its way.
    func advance(to joining: Joining) { self.joining = max(self.joining, joining) }

    /// Records the rendition whose piece was sent for a file; nil for the file's own.
    func sent(_ rendition: String?, for file: String) {
        if sources.count >= Self.limit { sources = [:] }
        sources[file] = rendition
    }

    /// Returns the substitute rendition that was last sent for a file; nil if it was the file's own.
    func source(of file: String) -> String? { sources[file] }
}
