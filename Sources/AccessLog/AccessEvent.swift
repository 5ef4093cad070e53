// The room AccessLog.
//
// Duty: log text in the W3C format, its files, its indicators and pictures.
// Entrance: `AccessEvent` and `ErrorEvent` to write, `LogFiles` to read.
// Does not enter: how a session is measured (`Sessions`), and who may read a log (`Control`).

/// An event of the access log: a period of one session without a seek or change of variant; modelled on
/// AVPlayerItemAccessLogEvent.
///
/// A change of variant begins an event with the first request for the new variant. Watched time and stalls belong to
/// the event whose variant is on the screen: until the playhead reaches the new variant, both events are open. Times
/// are seconds, rates are bits per second. The JSON keys are the property names; a property without a value is left
/// out.
public struct AccessEvent: Codable, Equatable, Sendable {
    /// Type of playback, as in `s-playback-type`.
    package enum PlaybackType: String, Codable, Sendable {
        case vod = "VOD"
        case live = "LIVE"
        /// Media from the store only.
        case file = "FILE"
    }

    /// The session's id in its URLs.
    package var session: String
    /// The session's UUID (RFC 9562).
    package var guid: String
    /// The event's number in its session, from 0.
    package var number: Int
    package var asset: String
    package var client: String?
    /// Start of the event, in seconds since 1970 in UTC.
    package var began: Double
    /// End of the event, as `began`; absent while the event is open.
    package var ended: Double?
    /// Time at which the event was logged, as `began`; absent while it is open. Later than `ended` for an idle session, and
    /// for a variant that stays on the screen long after another one is loaded.
    package var logged: Double?
    /// The origin URL of the media playlist that was played, without its query.
    package var uri: String?
    /// Address of the origin that delivered last; absent if the store delivered everything.
    package var serverAddress: String?
    package var serverAddressChanges = 0
    package var playbackType = PlaybackType.vod
    package var requests = 0
    /// Duration of the delivered media, in media time.
    package var downloaded = 0.0
    /// Position in media time at which the event began.
    package var startOffset = 0.0
    /// Duration of the media that was played, in media time.
    package var watched = 0.0
    /// Bytes of the bodies sent to the player: segments, initialization sections, keys and subtitles.
    package var bytes = SourceBytes()
    package var observed = ObservedRate()
    /// BANDWIDTH of the variant.
    package var indicated: Int?
    /// Number of times the player ran out of media while it waited for more.
    package var stalls = 0
    package var stallTime = 0.0
    /// Number of pictures that the player did not show in time; absent if the player has not reported it.
    package var framesDropped: Int?
    /// Time from the event's beginning to the first delivered segment, or in the first event to the first picture if
    /// the player reported it. Absent after a change of variant, because players do not wait for it.
    package var startup: Double?
    /// Number of segments that took longer to arrive than they last.
    package var overdue = 0
    /// The keys that are inferred from the requests, because only a player knows them for certain and did not send them.
    package var inferred = Self.inferable

    /// The keys that are inferred unless the player sends them.
    package static let inferable = ["stallTime", "stalls", "startOffset", "startup", "uri", "watched"]

    package init(session: String, guid: String, number: Int, asset: String, client: String?, began: Double) {
        self.session = session
        self.guid = guid
        self.number = number
        self.asset = asset
        self.client = client
        self.began = began
    }
}

extension AccessEvent {
    /// The fields of a line, in the order of AVPlayerItemAccessLog.
    package static let fields = """
        date time uri cs-guid s-ip s-ip-changes sc-count c-duration-downloaded c-start-time c-duration-watched bytes \
        c-observed-bitrate sc-indicated-bitrate c-stalls c-frames-dropped c-startup-time c-overdue c-reason \
        c-observed-min-bitrate c-observed-max-bitrate c-observed-bitrate-sd s-playback-type sc-wwan-count c-switch-bitrate
        """

    package func line(_ style: LogStyle) -> String {
        var line = LogLine(style)

        line.add(date: began)
        line.add(word: uri)
        line.add(word: guid)
        line.add(word: serverAddress)
        if serverAddress == nil {
            line.addUnknown()
        } else {
            line.add(serverAddressChanges)
        }
        line.add(requests)
        line.add(fixed: downloaded)
        line.add(fixed: startOffset)
        line.add(fixed: watched)
        line.add(Int(bytes.all))
        line.add(fixed: observed.bitsPerSecond)
        line.add(indicated)
        line.add(stalls)
        line.add(framesDropped)
        line.add(fixed: startup)
        line.add(overdue)
        line.addUnknown()  // c-reason
        line.add(fixed: observed.slowest)
        line.add(fixed: observed.fastest)
        line.add(fixed: observed.deviation)
        line.add(word: playbackType.rawValue)
        line.addUnknown()  // sc-wwan-count
        line.addUnknown()  // c-switch-bitrate

        return line.text
    }
}
