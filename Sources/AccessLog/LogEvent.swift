/// What a log's event has in common with that of the other.
public protocol LogEvent: Codable, Equatable, Sendable {
    /// The fields of a line, by their names in the Extended Log File Format, between blanks.
    static var fields: String { get }
    /// What the names of its files begin with.
    static var fileName: String { get }
    /// The name of the asset; nil where none is known.
    var assetName: String? { get }
    /// When it was written, or would be now, in seconds since 1970; events come in this order. Nil while it goes on.
    var written: Double? { get }
    /// The event as one line of a log, without the line's end.
    func line(_ style: LogStyle) -> String
}

extension AccessEvent: LogEvent {
    /// See `LogEvent`.
    public static let fileName = "access"
    /// See `LogEvent`.
    public var assetName: String? { asset }
    /// See `LogEvent`.
    public var written: Double? { logged ?? ended }
}

extension ErrorEvent: LogEvent {
    /// See `LogEvent`.
    public static let fileName = "errors"
    /// See `LogEvent`.
    public var assetName: String? { asset }
    /// See `LogEvent`.
    public var written: Double? { time }
}

extension LogEvent {
    /// What stands above a log's lines.
    ///
    /// - Parameters:
    ///   - software: who writes it, such as `Weir/0.1.0`.
    ///   - seconds: when, since 1970 in UTC.
    public static func header(_ style: LogStyle, software: String, at seconds: Double) -> [String] {
        var date = LogLine(style)
        date.add(date: seconds)
        return ["#Version: 1.0", "#Software: \(software)", "#Date: \(date.text)", "#Fields: \(fields)"]
    }
}
