import EventLoop
import Library

/// What one session has got of one rendition, as far as pieces of other renditions stood among its own.
///
/// A decoder that was told in-band of other pictures has to be told of its own again, or it shows garbage. So once a
/// spliced piece has gone out, all that follow are spliced, whichever the player asks for next.
@LoopActor final class Composition {
    /// How far it has come to that.
    enum Joining: Int, Comparable {
        /// All were the rendition's own.
        case apart
        /// A piece of another may be on its way: own pieces are spliced already, which does no harm. The player may ask
        /// for the next segment before it has got the one before.
        case perhaps
        /// A spliced piece of another has gone out.
        case joined

        static func < (left: Joining, right: Joining) -> Bool { left.rawValue < right.rawValue }
    }

    /// The state, which never goes back.
    private(set) var joining: Joining
    /// The renditions whose pieces stood in, by the files that they stood in for.
    private var sources: [String: String] = [:]
    private static let limit = 4096

    /// - Parameter isKnown: whether this is all of the session: of one that goes on from before a restart nobody knows
    ///   what it has got.
    init(isKnown: Bool) { joining = isKnown ? .apart : .joined }

    /// Whether own pieces go out as they are, so that no more has to be looked at.
    var isApart: Bool { joining == .apart }

    /// Takes note of what is, or may be, to come.
    func advance(to joining: Joining) { self.joining = max(self.joining, joining) }

    /// Takes note of whose piece was sent for a file; nil for its own.
    func sent(_ rendition: String?, for file: String) {
        if sources.count >= Self.limit { sources = [:] }
        sources[file] = rendition
    }

    /// Whose piece was last sent for a file, where it was not its own.
    func source(of file: String) -> String? { sources[file] }
}
