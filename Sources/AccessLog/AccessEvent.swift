/// One event of the access log: an uninterrupted period of one session, ended by a seek, by a change of variant, or
/// with the session; after AVPlayerItemAccessLogEvent.
///
/// A change of variant begins an event with the first request for the new one. What is watched, and stalls, belong to
/// the one whose variant is on the screen: until the playhead gets to the new one, both go on.
///
/// Counters begin at nothing with each event, and never fall. Times are seconds, rates bits a second. The keys in JSON
/// are those here; one without a value is left out.
public struct AccessEvent: Codable, Equatable, Sendable {
    /// What the media is to its player, as `s-playback-type` has it.
    public enum PlaybackType: String, Codable, Sendable {
        /// It has an end.
        case vod = "VOD"
        /// It goes on.
        case live = "LIVE"
        /// From the store alone.
        case file = "FILE"
    }

    /// The session's id, as it stands in its URLs.
    public var session: String
    /// The session's id for the whole world (RFC 9562).
    public var guid: String
    /// Counts the session's events from 0.
    public var number: Int
    /// The asset's name.
    public var asset: String
    /// The player, as its User-Agent says.
    public var client: String?
    /// When it began, since 1970 in UTC.
    public var began: Double
    /// When it ended, as `began`; absent while it goes on.
    public var ended: Double?
    /// When it was written to the log, as `began`: of an idle session, and of a variant that is on the screen for long
    /// after another is loaded, that is later than its end. Absent while it goes on.
    public var logged: Double?
    /// The media playlist that was played, as the origin has it, without a query.
    public var uri: String?
    /// The origin's address that delivered last; absent where the store delivered all.
    public var serverAddress: String?
    /// How often that changed.
    public var serverAddressChanges = 0
    /// How the media is played.
    public var playbackType = PlaybackType.vod
    /// How many segments were asked for.
    public var requests = 0
    /// The media that was delivered, in media time.
    public var downloaded = 0.0
    /// Where in media time it began.
    public var startOffset = 0.0
    /// The media that was played, in media time.
    public var watched = 0.0
    /// The bytes of bodies that the player was sent, of segments, initialization sections, keys and subtitles.
    public var bytes = SourceBytes()
    /// What the origin gave.
    public var observed = ObservedRate()
    /// BANDWIDTH of the variant.
    public var indicated: Int?
    /// How often the player had nothing left to play while it waited for more.
    public var stalls = 0
    /// For how long, altogether.
    public var stallTime = 0.0
    /// How many pictures the player did not show in time; absent where it has not reported that.
    public var framesDropped: Int?
    /// From its beginning (the entry playlist, a seek) to the first segment delivered, or of the first one as the player
    /// reported it, to the first picture; absent before that, and where a
    /// variant changed, which nobody waits for.
    public var startup: Double?
    /// How many segments took longer to come than they last.
    public var overdue = 0
    /// The keys here that are inferred from what was asked for and when: all that only a player knows for certain, but
    /// for those that it told by CMCD or reported.
    public var inferred = Self.inferable

    /// The keys that are inferred where no player tells them.
    public static let inferable = ["stallTime", "stalls", "startOffset", "startup", "uri", "watched"]

    /// An event that has just begun.
    public init(session: String, guid: String, number: Int, asset: String, client: String?, began: Double) {
        self.session = session
        self.guid = guid
        self.number = number
        self.asset = asset
        self.client = client
        self.began = began
    }
}

extension AccessEvent {
    /// The fields of a line, in their order: AVPlayerItemAccessLog's own.
    public static let fields = """
        date time uri cs-guid s-ip s-ip-changes sc-count c-duration-downloaded c-start-time c-duration-watched bytes \
        c-observed-bitrate sc-indicated-bitrate c-stalls c-frames-dropped c-startup-time c-overdue c-reason \
        c-observed-min-bitrate c-observed-max-bitrate c-observed-bitrate-sd s-playback-type sc-wwan-count c-switch-bitrate
        """

    /// The event as one line of a log.
    public func line(_ style: LogStyle) -> String {
        var line = LogLine(style)
        line.add(date: began)
        line.add(word: uri)
        line.add(word: guid)
        line.add(word: serverAddress)
        line.add(serverAddress == nil ? nil : serverAddressChanges)
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
        line.add(fixed: observed.count > 0 ? observed.minimum : nil)
        line.add(fixed: observed.count > 0 ? observed.maximum : nil)
        line.add(fixed: observed.deviation)
        line.add(word: playbackType.rawValue)
        line.addUnknown()  // sc-wwan-count
        line.addUnknown()  // c-switch-bitrate
        return line.text
    }
}
