import EventLoop

/// A request for a segment or the delivery of one, and the playhead of the session after it.
public struct PlayheadEvent: Sendable {
    /// The change in what a session has of a rendition.
    public enum Change: Equatable, Sendable {
        /// The player requests the segment; true if the tracker takes the request for a seek.
        case requested(isSeek: Bool)
        /// The player has the segment to its last byte.
        case delivered
        /// The player took so many segments from the store at once that only this one, the last of them, was examined.
        case deliveredInBulk
    }

    /// The kind of event.
    public let change: Change
    /// The session's id.
    public let session: String
    /// The asset's id.
    public let asset: String
    /// The id of the segment's rendition.
    public let rendition: String
    /// The media of that rendition.
    public let kind: MediaKind
    /// The segment's place in the rendition and in time.
    public let span: SegmentSpan
    /// The session's playhead after the event.
    public let playhead: PlayheadReading

    @LoopActor init(_ change: Change, _ span: SegmentSpan, _ cursor: RenditionCursor, _ playhead: PlayheadReading) {
        self.change = change
        session = cursor.session
        asset = cursor.asset.id
        rendition = cursor.rendition.id
        kind = cursor.kind
        self.span = span
        self.playhead = playhead
    }
}

/// A session's playhead at an instant.
public struct PlayheadReading: Equatable, Sendable {
    /// In seconds of media time.
    public var position: Double
    /// End of the delivered media in seconds; nil before the first request.
    public var front: Double?
    /// True while the playhead advances in real time, up to `front`.
    public var isRunning: Bool
    /// The id of the rendition that is played; nil while that is not clear.
    public var choice: String?

    /// Makes a reading.
    public init(position: Double, front: Double?, isRunning: Bool, choice: String? = nil) {
        self.position = position
        self.front = front
        self.isRunning = isRunning
        self.choice = choice
    }
}

/// A change of the media time at which a download of an asset should continue (`PlayheadTracker.downloadStart(for:)`).
public struct PlayheadMove: Sendable {
    /// The reason for the change.
    public enum Cause: Sendable {
        /// A player seeked: continue elsewhere, at once.
        case seek
        /// A player requested one or more further segments.
        case progress
        /// The last session of the asset ended.
        case end
    }

    /// The asset's id.
    public let asset: String
    /// The reason for the change.
    public let cause: Cause
}

/// The begin or end of a session.
public enum SessionChange: Sendable {
    /// A session begins to play the asset with this id.
    case began(asset: String)
    /// A session of the asset with this id ended.
    case ended(asset: String)

    /// The asset's id.
    public var asset: String {
        switch self {
        case .began(let asset), .ended(let asset): asset
        }
    }
}
