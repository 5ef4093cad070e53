import EventLoop
import Fetching

/// The source of the bytes that answer a request for a piece. Pure.
enum SegmentSource: Equatable {
    /// The stored piece, unchanged.
    case piece
    /// The stored piece, spliced because substitutes were, or may have been, sent before.
    case splicedPiece
    /// A stored piece of another rendition; nil for the best one.
    case substitute(of: String?)
    /// A fetch of the quality that was chosen for a player that cannot adapt.
    case otherQuality
    /// A fetch of the resource, which a substitute may replace up to the given point. If `isSentComplete`, no byte is
    /// sent before the last one has arrived.
    case fetch(Fetch.Fallback, isSentComplete: Bool)
    case refuse(Refusal)

    /// The reasons for having no source.
    enum Refusal: Equatable {
        case keyExpired, unlisted, notStored
        /// The origin was asked and did not deliver.
        case failed
    }

    /// Chooses the source by what is known so far. If the source turns out to be unavailable, exclude it from the facts
    /// and choose again.
    init(_ facts: SegmentFacts) {
        if let quality = facts.quality {
            self = quality.isStored ? .substitute(of: quality.rendition) : .otherQuality
        } else if let rendition = facts.continued {
            self = .substitute(of: rendition)
        } else if let missing = facts.missing {
            self.init(missing, facts.joining)
        } else {
            self = facts.joining != .apart && facts.isSpliceable ? .splicedPiece : .piece
        }
    }

    private init(_ missing: SegmentFacts.Missing, _ joining: Composition.Joining) {
        if missing.isListed, missing.mayAsk, !missing.hasFailed {
            guard missing.hasSubstitute, missing.isPresumedAbsent else {
                self = Self.fetch(missing, joining)
                return
            }
            self = .substitute(of: nil)
        } else if missing.hasSubstitute {
            self = .substitute(of: nil)
        } else if missing.hasFailed {
            self = .refuse(.failed)
        } else if missing.isExpiredKey, !missing.mayAsk {
            self = .refuse(.keyExpired)
        } else {
            self = .refuse(missing.isListed ? .notStored : .unlisted)
        }
    }

    /// No substitution is possible once the first byte is sent. So a player that has media in its buffer gets the segment
    /// only when it is complete, which takes no longer.
    private static func fetch(_ missing: SegmentFacts.Missing, _ joining: Composition.Joining) -> Self {
        let isSpliced = joining == .joined && missing.isSplicedComplete
        guard missing.hasSubstitute else { return .fetch(.none, isSentComplete: isSpliced) }
        let isSentComplete = isSpliced || missing.hasBuffer
        return .fetch(isSentComplete ? .untilComplete : .untilBegun, isSentComplete: isSentComplete)
    }
}

/// Facts about a request for a piece that decide the answer.
struct SegmentFacts: Equatable {
    /// A quality other than the rendition's own.
    struct Quality: Equatable {
        let rendition: String
        let isStored: Bool
    }

    /// The facts that matter only if the piece is not stored or must not be used.
    struct Missing: Equatable {
        /// True if the asset names the resource.
        var isListed = true
        /// True if the origin may be asked.
        var mayAsk = true
        /// True if another rendition's piece is available.
        var hasSubstitute = false
        /// True if the origin did not answer a moment ago.
        var isPresumedAbsent = false
        /// True if the origin was asked and did not deliver.
        var hasFailed = false
        /// True if the player has media to play in the meantime.
        var hasBuffer = false
        /// True if the rendition's segments can be spliced only when they are complete.
        var isSplicedComplete = false
        /// True if the resource is a key that is stored but has expired.
        var isExpiredKey = false
    }

    /// The quality that Weir chose; nil for the rendition's own.
    var quality: Quality?
    /// The substitute whose body a range request continues.
    var continued: String?
    /// Indicates that substitutes were, or may soon be, sent in this session.
    var joining = Composition.Joining.apart
    /// False if the piece turned out not to be stored, or must be sent unchanged.
    var isSpliceable = true
    /// Nil while the piece is not known to be missing.
    var missing: Missing?

    /// Excludes a source that turned out to be unavailable. The facts after a missing piece or a failed fetch come from
    /// the caller.
    mutating func exclude(_ source: SegmentSource) {
        switch source {
        case .splicedPiece: isSpliceable = false
        case .otherQuality: quality = nil
        case .substitute:
            if quality != nil {
                quality = nil
            } else if continued != nil {
                continued = nil
            } else {
                missing?.hasSubstitute = false
            }
        case .piece, .fetch, .refuse: break
        }
    }
}

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
