internal import Glibc
package import Logging
internal import SafeText

/// Writes log lines to standard error: `12:34:56 warning origin: the message key=value`. Under systemd the time is left
/// out, because the journal has its own.
package struct StandardErrorLog: LogHandler {
    package var logLevel: Logger.Level
    package var metadata: Logger.Metadata = [:]
    private let label: String
    private let hasTime: Bool

    package init(label: String, level: Logger.Level, hasTime: Bool) {
        self.label = label
        logLevel = level
        self.hasTime = hasTime
    }

    /// Installs this as the program's log. Call it once, before the first logger is created.
    /// - Parameter file: the path of the log of a daemon in the background, which is kept small; nil for none.
    package static func install(level: Logger.Level, environment: [String: String], file: String? = nil) {
        let hasTime = environment["JOURNAL_STREAM"] == nil
        if let file {
            ErrorOutput.shared.follow(file)
        }
        LoggingSystem.bootstrap { StandardErrorLog(label: $0, level: level, hasTime: hasTime) }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes a line. Equal warnings and errors are counted.
    package func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        let line = Self.line(level: event.level, label: label, message: event.message.description, metadata: all)
        ErrorOutput.shared.write(line, prefix: Self.prefix(hasTime: hasTime), isCounted: event.level >= .warning)
    }

    /// Writes what was only counted so far, at the end of the process.
    package static func end(environment: [String: String]) {
        ErrorOutput.shared.end(prefix: prefix(hasTime: environment["JOURNAL_STREAM"] == nil))
    }

    private static func prefix(hasTime: Bool) -> String {
        guard hasTime else { return "" }
        return "\(clock()) "
    }

    /// The text of a line, on which text from a peer cannot imitate another one.
    static func line(
        level: Logger.Level, label: String, message: String, metadata: Logger.Metadata
    ) -> String {
        let pairs = metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        return Printable.line("\(level.rawValue) \(label): \(message)\(pairs)")
    }

    private static func clock() -> String {
        var now = time(nil)
        var parts = tm()
        localtime_r(&now, &parts)
        return "\(twoDigits(parts.tm_hour)):\(twoDigits(parts.tm_min)):\(twoDigits(parts.tm_sec))"
    }

    private static func twoDigits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
