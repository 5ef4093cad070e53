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
        _ session: String, in asset: any PlayedAsset, _ rendition: any PlayedRendition, _ kind: MediaKind,
        _ tracker: PlayheadTracker
    ) {
        self.session = session
        self.asset = asset
        self.rendition = rendition
        self.kind = kind
        self.tracker = tracker
    }

    /// The player gets a piece from the store, by the name of its file. The tracker examines it a moment later, together
    /// with others.
    public func served(_ file: String) { tracker?.record(file, self) }

    /// The player begins to wait for a piece from the origin. `endWait(for:bytes:isComplete:)` ends the wait.
    public func beginWait(for file: String) { tracker?.beginWait(for: file, self) }

    /// The reply for which the player waited has ended, with the last byte or early: the player left, or the origin
    /// failed.
    ///
    /// - Parameters:
    ///   - bytes: the length of the body that the player got; 0 if that is unknown.
    ///   - isComplete: true if that was all of the piece.
    public func endWait(for file: String, bytes: Int64 = 0, isComplete: Bool) {
        tracker?.endWait(for: file, self, bytes: bytes, isComplete: isComplete)
    }
}
