/// What a session asked for or got of a segment, and what the audience takes it for.
public struct Sighting {
    /// What happened.
    public enum Event: Equatable, Sendable {
        /// The player asked for it; true if that is a seek.
        case asked(isSeek: Bool)
        /// The player has it, to the last byte.
        case delivered
        /// The player took so many from the store at once that only this one, the last of them, was looked at.
        case flooded
    }

    /// What happened.
    public let event: Event
    /// The session's id.
    public let session: String
    /// What it plays.
    public let asset: Asset
    /// The segment's rendition.
    public let rendition: Rendition
    /// Whether that is sound of its own.
    public let isSound: Bool
    /// The segment's media sequence number.
    public let number: Int
    /// Where the segment begins in media time, in seconds.
    public let start: Double
    /// In seconds.
    public let duration: Double
    /// What is known of the session's playhead hereafter.
    public let playhead: PlayheadReading

    init(_ event: Event, of span: SegmentSpan, _ seat: Seat, _ playhead: PlayheadReading) {
        self.event = event
        session = seat.session
        asset = seat.asset
        rendition = seat.rendition
        isSound = seat.kind == .audio
        number = span.number
        start = span.start
        duration = span.duration
        self.playhead = playhead
    }
}

/// A session's playhead at an instant.
public struct PlayheadReading: Equatable, Sendable {
    /// In seconds of media time.
    public var position: Double
    /// Where the delivered media ends; nil before any was asked for.
    public var front: Double?
    /// Whether it runs in real time, as far as `front`.
    public var isRunning: Bool
    /// The id of the rendition that is played; nil while that is not clear.
    public var choice: String?

    /// A reading.
    public init(position: Double, front: Double?, isRunning: Bool, choice: String? = nil) {
        self.position = position
        self.front = front
        self.isRunning = isRunning
        self.choice = choice
    }
}

extension SessionPlayhead {
    /// What is known at an instant.
    func reading(at now: ContinuousClock.Instant) -> PlayheadReading {
        PlayheadReading(position: position(at: now), front: front, isRunning: isRunning, choice: choice)
    }
}
