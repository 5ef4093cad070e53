/// A session as it stands, or stood at its end. Times are seconds.
public struct SessionSummary: Codable, Equatable, Sendable {
    /// As it stands in its URLs.
    public var id: String
    /// As it stands in the logs.
    public var guid: String
    /// The asset's name.
    public var asset: String
    /// The player, as its User-Agent says.
    public var client: String?
    /// When the entry playlist was loaded, since 1970 in UTC.
    public var began: Double
    /// When it ended by idleness; absent while it goes on.
    public var ended: Double?
    /// Where its player is, in media time.
    public var playhead: Double
    /// Whether it stands for want of media; absent after the end.
    public var isStalled: Bool?
    /// The media playlist that is played, as the origin has it, without a query.
    public var uri: String?
    /// From the entry playlist to the first segment delivered, or as its player reported it; absent before that, and where
    /// the session was known no earlier than by a segment.
    public var startup: Double?
    /// How often it stood still for want of media.
    public var stalls: Int
    /// For how long, altogether.
    public var stallTime: Double
    /// How many pictures its player did not show in time; absent where it has not reported that.
    public var framesDropped: Int?
    /// How often the variant changed.
    public var switches: Int
    /// The media that was played, in media time.
    public var watched: Double
    /// The bytes that the player was sent, by where they came from.
    public var bytes: SourceBytes
    /// Where each segment came from, in the order in which they came.
    public var pieces: [PieceRun]
    /// The keys here that are inferred: those that the player has told neither by CMCD nor in a report.
    public var inferred: [String]

    /// A session of which nothing was asked for yet.
    public init(id: String, guid: String, asset: String, client: String? = nil, began: Double) {
        (self.id, self.guid, self.asset, self.client, self.began) = (id, guid, asset, client, began)
        (playhead, watched, stallTime) = (0, 0, 0)
        (stalls, switches) = (0, 0)
        bytes = SourceBytes()
        (pieces, inferred) = ([], [])
    }
}

/// Some segments in sequence that came from one source.
public struct PieceRun: Codable, Equatable, Sendable {
    /// The rendition's id.
    public var rendition: String
    /// The first one's media sequence number.
    public var first: Int
    /// The last one's.
    public var last: Int
    /// Where they came from.
    public var source: PieceSource
    /// The id of the rendition whose pieces stood in for its own; absent where they were its own.
    public var standIn: String?

    /// A run of segments.
    public init(rendition: String, first: Int, last: Int, source: PieceSource, standIn: String? = nil) {
        (self.rendition, self.first, self.last) = (rendition, first, last)
        (self.source, self.standIn) = (source, standIn)
    }
}
