/// An event of the error log: a player's request that failed; modelled on AVPlayerItemErrorLogEvent.
public struct ErrorEvent: Codable, Equatable, Sendable {
    /// The party at fault.
    public enum Domain: String, Codable, Sendable {
        /// The origin, or the network in front of it.
        case origin = "weir.origin"
        case store = "weir.store"
        case media = "weir.media"
        case player = "weir.player"
    }

    /// Time of the error, in seconds since 1970 in UTC.
    public var time: Double
    /// URL of the request at the origin if it is known, else at Weir; without its query.
    public var uri: String?
    /// The session's id in its URLs; absent before there is a session.
    public var session: String?
    /// The session's UUID.
    public var guid: String?
    /// The asset's name.
    public var asset: String?
    /// The HTTP status that the player received; 0 for a body that broke off.
    public var status: Int
    /// The party at fault.
    public var domain: Domain
    /// A sentence for a person.
    public var comment: String

    /// Creates an error without a session.
    public init(time: Double, uri: String?, status: Int, domain: Domain, comment: String) {
        (self.time, self.uri, self.status, self.domain, self.comment) = (time, uri, status, domain, comment)
    }
}

extension ErrorEvent {
    /// The fields of a line, in the order of AVPlayerItemErrorLog.
    public static let fields = "date time uri cs-guid s-ip status domain comment"

    /// The event as one line of a log.
    public func line(_ style: LogStyle) -> String {
        var line = LogLine(style)
        line.add(date: time)
        line.add(word: uri)
        line.add(word: guid)
        line.addUnknown()  // s-ip
        line.add(status)
        line.add(text: domain.rawValue)
        line.add(text: comment)
        return line.text
    }
}
