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
    package static func install(level: Logger.Level, environment: [String: String]) {
        let hasTime = environment["JOURNAL_STREAM"] == nil
        LoggingSystem.bootstrap { StandardErrorLog(label: $0, level: level, hasTime: hasTime) }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes a line with one system call, so that lines of several threads do not mix.
    package func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        let text = Self.line(
            time: hasTime ? Self.clock() : nil, level: event.level, label: label, message: event.message.description,
            metadata: all)
        let bytes = Array(text.utf8)
        // A failure cannot be reported anywhere else.
        _ = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// The text of a line, on which text from a peer cannot imitate another one.
    static func line(
        time: String?, level: Logger.Level, label: String, message: String, metadata: Logger.Metadata
    ) -> String {
        let pairs = metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        let text = (time.map { "\($0) " } ?? "") + "\(level.rawValue) \(label): \(message)\(pairs)"
        return Printable.line(text) + "\n"
    }

    private static func clock() -> String {
        var now = time(nil)
        var parts = tm()
        localtime_r(&now, &parts)
        let two: (Int32) -> String = { $0 < 10 ? "0\($0)" : "\($0)" }
        return "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
    }
}
