/// One event of the error log: something that a player asked for and did not get; after AVPlayerItemErrorLogEvent.
public struct ErrorEvent: Codable, Equatable, Sendable {
    /// Who erred.
    public enum Domain: String, Codable, Sendable {
        /// The origin, or the way to it.
        case origin = "weir.origin"
        /// The store, or its disk.
        case store = "weir.store"
        /// What came is not what its playlist says.
        case media = "weir.media"
        /// Who asked.
        case player = "weir.player"
    }

    /// When, in seconds since 1970 in UTC.
    public var time: Double
    /// What was asked for, as the origin has it where that is known, else as Weir has it; without a query.
    public var uri: String?
    /// The session's id, as it stands in its URLs; absent where there is none yet.
    public var session: String?
    /// The session's id for the whole world.
    public var guid: String?
    /// The asset's name.
    public var asset: String?
    /// The status that the player was sent; of a body that broke off, 0.
    public var status: Int
    /// Who erred.
    public var domain: Domain
    /// A sentence for a person.
    public var comment: String

    /// An error without a session.
    public init(time: Double, uri: String?, status: Int, domain: Domain, comment: String) {
        self.time = time
        self.uri = uri
        self.status = status
        self.domain = domain
        self.comment = comment
    }
}

extension ErrorEvent {
    /// The fields of a line, in their order: AVPlayerItemErrorLog's own.
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
