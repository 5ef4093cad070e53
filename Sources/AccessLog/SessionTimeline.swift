/// The deliveries and stalls of one session, which `SessionPicture` draws. Logged when the session ends.
///
/// Times without another unit are seconds since `began`. The JSON keys are the property names; a property without a
/// value is left out.
public struct SessionTimeline: Codable, Equatable, Sendable {
    /// The session's id in its URLs.
    package var session: String
    /// The session's UUID (RFC 9562).
    package var guid: String
    package var asset: String
    package var client: String?
    /// Start of the session, in seconds since 1970 in UTC.
    package var began: Double
    /// End of the session, as `began`; absent while it is active.
    package var ended: Double?
    /// Time from the start to the end, or until now.
    package var length: Double
    /// The renditions that `segments` refer to by index.
    package var renditions: [TimelineRendition] = []
    /// In order of delivery.
    package var segments: [TimelineSegment] = []
    /// Number of segments before the first one of `segments` that were dropped because the session is long.
    package var omitted = 0
    /// In order of time.
    package var stalls: [TimelineStall] = []

    package init(session: String, guid: String, asset: String, client: String?, began: Double, length: Double) {
        self.session = session
        self.guid = guid
        self.asset = asset
        self.client = client
        self.began = began
        self.length = length
    }
}

/// A rendition of a timeline.
package struct TimelineRendition: Codable, Equatable, Sendable {
    /// The rendition's id in the store.
    package var id: String
    /// True for audio beside video.
    package var isAudio: Bool
    /// Height of the variant's video in pixels.
    package var height: Int?
    /// BANDWIDTH of the variant, in bits per second.
    package var bandwidth: Int?

    package init(id: String, isAudio: Bool, height: Int? = nil, bandwidth: Int? = nil) {
        self.id = id
        self.isAudio = isAudio
        self.height = height
        self.bandwidth = bandwidth
    }
}

/// A delivered segment of a timeline; in a long session, two or more of the same rendition and source.
package struct TimelineSegment: Codable, Equatable, Sendable {
    /// Time at which the player had the last byte.
    package var time: Double
    /// Number of segments that this entry represents.
    package var count = 1
    /// Index of the requested rendition.
    package var rendition: Int
    /// Index of the rendition whose piece was sent instead; absent for the rendition's own piece.
    package var substitute: Int?
    /// Media sequence number.
    package var number: Int
    package var source: PieceSource
    /// Start in media time, in seconds.
    package var start: Double
    /// Duration of the media, in seconds.
    package var duration: Double
    /// Bytes sent to the player. Of segments from the store that were delivered in one moment, the last one has them all.
    package var bytes: Int64 = 0
    /// Time from the request to the last byte, if the player waited for the origin.
    package var wait: Double?
    /// Mean rate at which bytes arrived from the origin during `wait`, in bits per second.
    package var rate: Double?
    /// Delivered media ahead of the playhead, in seconds, just before the delivery.
    package var bufferBefore: Double
    /// As `bufferBefore`, just after the delivery.
    package var buffer: Double
    /// The playhead at the delivery, in seconds of media time.
    package var playhead: Double

    package init(
        _ number: Int, of rendition: Int, substitute: Int? = nil, from source: PieceSource, media: Range<Double>,
        at time: Double
    ) {
        self.number = number
        self.rendition = rendition
        self.substitute = substitute
        self.source = source
        start = media.lowerBound
        duration = media.upperBound - media.lowerBound
        self.time = time
        bufferBefore = 0
        buffer = 0
        playhead = media.lowerBound
    }
}

/// A period in which the player stood still for lack of media.
package struct TimelineStall: Codable, Equatable, Sendable {
    package var since: Double
    package var until: Double

    package init(since: Double, until: Double) {
        self.since = since
        self.until = until
    }
}

extension SessionTimeline {
    /// Number of delivered segments.
    package var count: Int { omitted + segments.reduce(0) { $0 + $1.count } }

    /// The total length of the stalls, in seconds.
    package var stallTime: Double { stalls.reduce(0) { $0 + $1.until - $1.since } }

    /// The fields of a line, by the naming rules of the Extended Log File Format.
    package static let fields = "date time cs-guid c-duration sc-count c-stalls c-stall-time"

    package func line(_ style: LogStyle) -> String {
        var line = LogLine(style)
        line.add(date: began)
        line.add(word: guid)
        line.add(fixed: length)
        line.add(count)
        line.add(stalls.count)
        line.add(fixed: stallTime)
        return line.text
    }
}

extension SessionTimeline: LogEvent {
    package static let fileName = "sessions"
    package var assetName: String? { asset }
    package var sessionNames: [String?] { [session, guid] }
    package var written: Double? { ended }
}
