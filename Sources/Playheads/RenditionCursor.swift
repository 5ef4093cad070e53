public import EventLoop

/// Reports to the tracker what one session requests and receives of one rendition.
///
/// A request for a stored piece passes through here too, so `served(_:)` only appends to an array.
@LoopActor public final class RenditionCursor {
    let session: String
    let asset: any PlayedAsset
    let rendition: any PlayedRendition
    let kind: MediaKind
    private weak var tracker: PlayheadTracker?

    init(
        of session: String, in asset: any PlayedAsset, rendition: any PlayedRendition, kind: MediaKind,
        tracker: PlayheadTracker
    ) {
        self.session = session
        self.asset = asset
        self.rendition = rendition
        self.kind = kind
        self.tracker = tracker
    }

    /// The player gets a stored piece, by file name. The tracker examines it a moment later, together with others.
    public func served(_ file: String) { tracker?.record(file, self) }
    /// The player begins to wait for a piece from the origin. `endWait(for:bytes:isComplete:hasArrived:)` ends the wait.
    /// - Parameter delivery: the reply, whose progress is looked at while it lasts; not retained.
    public func beginWait(for file: String, _ delivery: (any PieceDelivery)? = nil) {
        tracker?.beginWait(for: file, self, delivery)
    }

    /// Every byte of the piece has arrived from the origin, and the player has not read all of them yet: it may be paused.
    /// `endWait(for:bytes:isComplete:hasArrived:)` follows when it has.
    public func pieceArrived() { tracker?.pieceArrived(self) }

    /// The reply for which the player waited has ended, with the last byte or early: the player left, or the origin
    /// failed.
    /// - Parameters:
    ///   - bytes: the length of the body that the player got; 0 if that is unknown.
    ///   - isComplete: true if that was all of the piece.
    ///   - hasArrived: true after `pieceArrived()`.
    public func endWait(for file: String, bytes: Int64 = 0, isComplete: Bool, hasArrived: Bool = false) {
        tracker?.endWait(for: file, self, bytes: bytes, isComplete: isComplete, hasArrived: hasArrived)
    }
}

/// A reply with a piece that the player waits for.
@LoopActor public protocol PieceDelivery: AnyObject {
    /// The part of the piece that the player has, from 0 to 1; nil if that is unknown.
    var deliveredShare: Double? { get }
    /// True once the player gets the head of the reply.
    var isAnswered: Bool { get }
}

/// An asset that sessions play, as far as the tracker needs it.
@LoopActor public protocol PlayedAsset: AnyObject {
    /// Identifies the asset.
    var id: String { get }
    /// The length of the media in seconds; nil while that is unknown, and for live streams.
    var duration: Double? { get }
    /// True once the asset is deleted: another asset may have the same id then, and sessions that still play this one
    /// do not count for it.
    var isRemoved: Bool { get }

    /// A folder's rendition and media; nil without a playhead: keys, subtitles, images, trick play.
    func playedRendition(in folder: String) -> (rendition: any PlayedRendition, kind: MediaKind)?
}

/// A rendition that sessions play, as far as the tracker needs it.
@LoopActor public protocol PlayedRendition: AnyObject {
    /// Identifies the rendition within its asset.
    var id: String { get }

    /// True if segments are encrypted as a whole: libavformat opens such a segment only once it has read the one before.
    var isEncrypted: Bool { get }

    /// The segment in a file; nil for an initialization section, and for a segment that the playlist does not list now.
    func span(ofFile file: String) -> SegmentSpan?
}

/// The media of a rendition as the playhead needs it. Subtitles do not move a playhead.
public enum MediaKind: Sendable {
    /// Video, with or without muxed audio, or the only audio.
    case main
    /// A separate audio rendition.
    case audio
}
