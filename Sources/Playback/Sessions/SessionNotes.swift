import AccessLog

/// The end of a reply whose bytes did not lie in the store when it began, as the meter is told of it.
struct ReplyNote: Equatable {
    /// When it was asked for, in seconds since the session began.
    var since: Double
    /// Whether the meter was told that it was awaited.
    var isAwaited = true
    /// Where the bytes came from.
    var source: PieceSource
    /// The bytes that were sent.
    var bytes: Int64 = 0
    /// The bytes that came from the origin meanwhile.
    var fetched: Int64 = 0
    /// Whether the player has got all that it asked for.
    var isWhole = false
    /// Whether it has not by no choice of its own.
    var hasFailed = false
}

/// A segment as the meter is told of it.
struct SegmentNote: Equatable {
    /// The rendition's id.
    var rendition: String
    /// Whether it is sound beside pictures.
    var isSound: Bool
    /// The media sequence number.
    var number: Int
    /// Where it begins in media time, in seconds.
    var start: Double
    /// In seconds.
    var duration: Double
}
