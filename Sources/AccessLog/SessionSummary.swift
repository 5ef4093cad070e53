/// The state of a session, now or at its end. Times are seconds.
public struct SessionSummary: Codable, Equatable, Sendable {
    /// The session's id in its URLs.
    public var id: String
    /// The session's UUID in the logs.
    public var guid: String
    /// The asset's name.
    public var asset: String
    /// The player's User-Agent.
    public var client: String?
    /// Time at which the entry playlist was loaded, since 1970 in UTC.
    public var began: Double
    /// Time at which the idle session ended; absent while it is active.
    public var ended: Double?
    /// Position in media time.
    public var playhead: Double
    /// True if playback waits for media; absent after the end.
    public var isStalled: Bool?
    /// The origin URL of the media playlist, without its query.
    public var uri: String?
    /// Time from the entry playlist to the first delivered segment, or as the player reported it; absent before that.
    public var startup: Double?
    /// Number of stalls.
    public var stalls: Int
    /// Total duration of the stalls.
    public var stallTime: Double
    /// Number of pictures that were not shown in time; absent if the player has not reported it.
    public var framesDropped: Int?
    /// Number of changes of variant.
    public var switches: Int
    /// Duration of the media that was played, in media time.
    public var watched: Double
    /// Bytes sent to the player, by source.
    public var bytes: SourceBytes
    /// Source of each segment, in order of delivery.
    public var pieces: [PieceRun]
    /// The inferred keys: those that the player sent neither by CMCD nor in a report.
    public var inferred: [String]

    /// Creates a session without any requests.
    public init(id: String, guid: String, asset: String, client: String? = nil, began: Double) {
        (self.id, self.guid, self.asset, self.client, self.began) = (id, guid, asset, client, began)
        (playhead, watched, stallTime) = (0, 0, 0)
        (stalls, switches) = (0, 0)
        bytes = SourceBytes()
        (pieces, inferred) = ([], [])
    }
}

/// Consecutive segments from one source.
public struct PieceRun: Codable, Equatable, Sendable {
    /// The rendition's id.
    public var rendition: String
    /// Media sequence number of the first segment.
    public var first: Int
    /// Media sequence number of the last segment.
    public var last: Int
    /// Source of the segments.
    public var source: PieceSource
    /// Id of the rendition whose pieces were substituted; absent for the rendition's own pieces.
    public var substitute: String?

    /// Creates a run.
    public init(rendition: String, first: Int, last: Int, source: PieceSource, substitute: String? = nil) {
        (self.rendition, self.first, self.last) = (rendition, first, last)
        (self.source, self.substitute) = (source, substitute)
    }
}

/// Source of a piece that a player received.
public enum PieceSource: String, Codable, Sendable {
    case store
    /// The piece was fetched for this player.
    case origin
    /// The fetch was in progress already, for a download or another player.
    case joined
}

/// Bytes by source.
public struct SourceBytes: Codable, Equatable, Sendable {
    /// Bytes from the store.
    public var store: Int64 = 0
    /// Bytes fetched from the origin for this player.
    public var origin: Int64 = 0
    /// Bytes from the origin by a fetch that was in progress already.
    public var joined: Int64 = 0

    /// Creates counters of 0.
    public init() {}

    /// Sum of all sources.
    public var all: Int64 { store + origin + joined }

    /// Adds bytes of one source.
    public mutating func add(_ bytes: Int64, from source: PieceSource) {
        switch source {
        case .store: store += bytes
        case .origin: origin += bytes
        case .joined: joined += bytes
        }
    }

    /// The sum, source by source.
    public static func + (left: SourceBytes, right: SourceBytes) -> SourceBytes {
        var sum = left
        sum.store += right.store
        sum.origin += right.origin
        sum.joined += right.joined
        return sum
    }
}
