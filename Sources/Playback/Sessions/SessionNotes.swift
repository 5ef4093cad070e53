import AccessLog

/// The end of a reply whose bytes were not in the store when it began, as input of the meter.
struct ReplyNote: Equatable {
    /// Time of the request, in seconds since the session began.
    var since: Double
    /// True if the meter counts this reply as awaited.
    var isAwaited = true
    /// Source of the bytes.
    var source: PieceSource
    /// Bytes sent to the player.
    var bytes: Int64 = 0
    /// Bytes received from the origin meanwhile.
    var fetched: Int64 = 0
    /// True if the player received everything that it requested.
    var isWhole = false
    /// True if the reply failed, rather than being ended by the player.
    var hasFailed = false
}

/// A segment, as input of the meter.
struct SegmentNote: Equatable {
    var rendition: String
    /// True if it is an audio segment beside video.
    var isSound: Bool
    /// Media sequence number.
    var number: Int
    /// Start in media time, in seconds.
    var start: Double
    /// In seconds.
    var duration: Double
}
