/// An event of the error log: a player's request that failed; modelled on AVPlayerItemErrorLogEvent.
public struct ErrorEvent: Codable, Equatable, Sendable {
    /// The party at fault.
    package enum Domain: String, Codable, Sendable {
        /// The origin, or the network in front of it.
        case origin = "weir.origin"
        case store = "weir.store"
        case media = "weir.media"
        case player = "weir.player"
    }

    /// Time of the error, in seconds since 1970 in UTC.
    package var time: Double
    /// URL of the request at the origin if it is known, else at Weir; without its query.
    package var uri: String?
    /// The session's id in its URLs; absent before there is a session.
    package var session: String?
    package var guid: String?
    package var asset: String?
    /// The HTTP status that the player received; 0 for a body that broke off.
    package var status: Int
    package var domain: Domain
    /// A sentence for a person.
    package var comment: String

    package init(time: Double, uri: String?, status: Int, domain: Domain, comment: String) {
        self.time = time
        self.uri = uri
        self.status = status
        self.domain = domain
        self.comment = comment
    }
}

extension ErrorEvent {
    /// The fields of a line, in the order of AVPlayerItemErrorLog.
    package static let fields = "date time uri cs-guid s-ip status domain comment"

    package func line(_ style: LogStyle) -> String {
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
