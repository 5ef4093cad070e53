/// The state of a session, now or at its end. Times are seconds.
public struct SessionSummary: Codable, Equatable, Sendable {
    /// The session's id in its URLs.
    package var id: String
    /// The session's UUID in the logs.
    package var guid: String
    package var asset: String
    package var client: String?
    /// Time at which the entry playlist was loaded, since 1970 in UTC.
    package var began: Double
    /// Time at which the idle session ended; absent while it is active.
    package var ended: Double?
    /// Position in media time.
    package var playhead = 0.0
    /// True if playback waits for media; absent after the end.
    package var isStalled: Bool?
    /// The origin URL of the media playlist, without its query.
    package var uri: String?
    /// A short label of the variant whose segments came last: `720p`, `audio`; absent if it is not known, and after the end.
    package var quality: String?
    /// The variant's bandwidth in bits per second; absent as `quality` is.
    package var bandwidth: Int?
    /// Time from the entry playlist to the first delivered segment, or as the player reported it; absent before that.
    package var startup: Double?
    package var stalls = 0
    package var stallTime = 0.0
    /// Number of pictures that were not shown in time; absent if the player has not reported it.
    package var framesDropped: Int?
    package var switches = 0
    /// Duration of the media that was played, in media time.
    package var watched = 0.0
    /// Bytes sent to the player, by source.
    package var bytes = SourceBytes()
    /// Source of each segment, in order of delivery.
    package var pieces: [PieceRun] = []
    /// The inferred keys: those that the player sent neither by CMCD nor in a report.
    package var inferred: [String] = []

    package init(id: String, guid: String, asset: String, client: String? = nil, began: Double) {
        self.id = id
        self.guid = guid
        self.asset = asset
        self.client = client
        self.began = began
    }
}

/// Consecutive segments from one source.
package struct PieceRun: Codable, Equatable, Sendable {
    package var rendition: String
    /// Media sequence number of the first segment.
    package var first: Int
    /// Media sequence number of the last segment.
    package var last: Int
    package var source: PieceSource
    /// Id of the rendition whose pieces were substituted; absent for the rendition's own pieces.
    package var substitute: String?

    package init(rendition: String, first: Int, last: Int, source: PieceSource, substitute: String? = nil) {
        self.rendition = rendition
        self.first = first
        self.last = last
        self.source = source
        self.substitute = substitute
    }
}

/// Source of a piece that a player received.
package enum PieceSource: String, Codable, Sendable {
    case store
    /// The piece was fetched for this player.
    case origin
    /// The fetch was in progress already, for a download or another player.
    case joined
}

/// Bytes by source.
public struct SourceBytes: Codable, Equatable, Sendable {
    package var store: Int64 = 0
    /// Bytes fetched from the origin for this player.
    package var origin: Int64 = 0
    /// Bytes from the origin by a fetch that was in progress already.
    package var joined: Int64 = 0

    package init() {}

    package var all: Int64 { store + origin + joined }

    package mutating func add(_ bytes: Int64, from source: PieceSource) {
        switch source {
        case .store: store += bytes
        case .origin: origin += bytes
        case .joined: joined += bytes
        }
    }

    package static func + (left: SourceBytes, right: SourceBytes) -> SourceBytes {
        var sum = left
        sum.store += right.store
        sum.origin += right.origin
        sum.joined += right.joined
        return sum
    }
}
