package import SafeText

/// An event of the access log or the error log.
package protocol LogEvent: Codable, Equatable, Sendable {
    /// Names of a line's fields in the Extended Log File Format, separated by blanks.
    static var fields: String { get }
    static var fileName: String { get }
    /// The asset's name; nil if it is not known.
    var assetName: String? { get }
    /// The session's id and UUID, if the event is of one.
    var sessionNames: [String?] { get }
    /// Time at which the event was written, in seconds since 1970; events are in this order. Nil while the event is open.
    var written: Double? { get }
    /// The event as one line of a log, without the line's end.
    func line(_ style: LogStyle) -> String
}

extension AccessEvent: LogEvent {
    package static let fileName = "access"
    package var assetName: String? { asset }
    package var sessionNames: [String?] { [session, guid] }
    package var written: Double? { logged ?? ended }
}

extension ErrorEvent: LogEvent {
    package static let fileName = "errors"
    package var assetName: String? { asset }
    package var sessionNames: [String?] { [session, guid] }
    package var written: Double? { time }
}

extension LogEvent {
    /// The header lines of a log. `software` is such as `Weir/0.1.0`; `seconds` is the time since 1970 in UTC.
    package static func header(_ style: LogStyle, software: String, at seconds: Double) -> [String] {
        var date = LogLine(style)
        date.add(date: seconds)
        return ["#Version: 1.0", "#Software: \(software)", "#Date: \(date.text)", "#Fields: \(fields)"]
    }
}

/// A filter for events of a log.
public struct LogQuery: Equatable, Sendable {
    /// The asset's name; nil for all assets.
    package var asset: String?
    /// The session's id or UUID; nil for all sessions.
    package var session: String?
    /// Earliest time of writing, in seconds since 1970; an open event counts as written now.
    package var since: Moment?
    /// Maximum number of events; the last ones are returned.
    package var limit: Int

    /// Creates a query; without arguments, for the last 1000 events.
    package init(asset: String? = nil, session: String? = nil, since: Moment? = nil, limit: Int = 1000) {
        self.asset = asset
        self.session = session
        self.since = since
        self.limit = limit
    }

    package func matches(_ event: some LogEvent) -> Bool {
        if let asset, event.assetName != asset {
            return false
        }
        if let session, !event.sessionNames.contains(session) {
            return false
        }
        guard let since, let written = event.written else { return true }
        return written >= since.value
    }
}
