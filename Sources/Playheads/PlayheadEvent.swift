import EventLoop

/// A request for a segment or the delivery of one, and the playhead of the session after it.
public struct PlayheadEvent: Sendable {
    /// The change in what a session has of a rendition.
    public enum Change: Equatable, Sendable {
        /// The player requests the segment; true if the tracker takes the request for a seek.
        case requested(isSeek: Bool)
        /// The player has the segment to its last byte.
        case delivered
        /// The player has more of the segment than before.
        case progressed
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
    /// The segment's position in the rendition and in time.
    public let span: SegmentSpan
    /// The session's playhead after the event.
    public let playhead: PlayheadReading
    /// The time of the event, by the tracker's clock.
    public let time: ContinuousClock.Instant

    @LoopActor init(
        _ change: Change, of span: SegmentSpan, seenBy cursor: RenditionCursor, playhead: PlayheadReading,
        at time: ContinuousClock.Instant
    ) {
        self.change = change
        session = cursor.session
        asset = cursor.asset.id
        rendition = cursor.rendition.id
        kind = cursor.kind
        self.span = span
        self.playhead = playhead
        self.time = time
    }
}

/// A session's playhead at an instant.
public struct PlayheadReading: Equatable, Sendable {
    /// In seconds of media time.
    public var position: Double
    /// End of the delivered media in seconds; nil before the first request.
    public var front: Double?
    /// True while the playhead advances, up to `front`.
    public var isRunning: Bool
    /// The id of the rendition that is played; nil while that is not clear.
    public var choice: String?
    /// True while the player opens one rendition after another, and plays none yet.
    public internal(set) var isOpening = false
    /// The media ahead of the playhead, in seconds. Zero while the player opens renditions: it cannot begin before it has opened all
    /// of them.
    public var buffer: Double {
        guard !isOpening else { return 0 }
        let end = front ?? position
        return max(0, end - position)
    }
    /// Speed of the playhead while it advances: 1 is real time.
    public private(set) var rate = 1.0
    /// Start of the current range of media: the playhead was placed there at the start or by a seek.
    var start: Double
    /// True if the player reported that it stands still until more arrives.
    var isHeld = false
    /// True if the player ran dry and gathers media before it plays on.
    public internal(set) var isStarved = false
    /// Position beyond which the player would have requested more; nil if it is unknown how far it reads ahead.
    public internal(set) var limit: Double?

    /// Makes a reading at normal speed, at the start of its range of media.
    public init(position: Double, front: Double?, isRunning: Bool, choice: String? = nil) {
        self.position = position
        start = position
        self.front = front
        self.isRunning = isRunning
        self.choice = choice
    }

    /// The position some seconds later, if nothing else happens.
    public func position(after seconds: Double) -> Double {
        guard isRunning, let front else { return position }
        return max(position, min(front, limit ?? front, position + seconds * rate))
    }

    /// Applies data of the player about itself.
    public mutating func apply(_ correction: PlayheadCorrection) {
        switch correction {
        case .client(let buffer, let rate, let isUrgent):
            if let rate {
                self.rate = rate
            }
            // After a seek, `front` may still be that of the other kind of media.
            if let buffer, let front, isRunning {
                position = max(start, front - buffer)
            }
            if isUrgent {
                isRunning = false
                isHeld = true
            }
        case .report(let position, let rate):
            isRunning = true
            isHeld = false
            self.rate = rate
            isStarved = false
            limit = nil
            if let position {
                self.position = position
            }
        }
    }
}

/// Data of a player about its own playback, which is more precise than an inferred playhead.
public enum PlayheadCorrection: Sendable {
    /// Sent with a request (CMCD): buffer in seconds and speed, if known; true if the player starves.
    case client(buffer: Double?, rate: Double?, isUrgent: Bool)
    /// A report: media time in seconds, nil if the player counts from another origin; and speed.
    case report(position: Double?, rate: Double)
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
