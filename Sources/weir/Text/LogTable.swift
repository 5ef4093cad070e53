import AccessLog
import Foundation

/// The events of a log in 80 columns. The widths are fixed, because followers print line by line.
enum LogTable {
    private static let accessColumns = [
        ("TIME", 11), ("ASSET", 16), ("WATCHED", 7), ("START", 5), ("STALLS", 6), ("RATE", 8), ("OBSERVED", 8),
        ("STORE", 5),
    ]
    private static let errorColumns = [("TIME", 11), ("ASSET", 16), ("STATUS", 6), ("CAUSE", 41)]

    static func heading<Event: LogEvent>(of type: Event.Type) -> String {
        let columns = type == ErrorEvent.self ? errorColumns : accessColumns
        return joined(columns.map(\.0), columns)
    }

    static func line(_ event: any LogEvent) -> String {
        switch event {
        case let event as AccessEvent: joined(cells(event), accessColumns)
        case let event as ErrorEvent:
            joined([time(event.time), event.asset ?? "–", "\(event.status)", event.comment], errorColumns)
        default: event.line(.w3c)
        }
    }

    private static func cells(_ event: AccessEvent) -> [String] {
        let startup = event.startup.map(LogNumber.seconds) ?? "–"
        let indicated = LogNumber.bandwidth(event.indicated.map(Double.init))
        let observed = LogNumber.bandwidth(event.observed.bitsPerSecond)

        let bytes = event.bytes
        var share = "–"
        if bytes.all > 0 {
            share = Format.percent(Double(bytes.store) / Double(bytes.all))
        }
        return [
            time(event.began), event.asset, Format.clock(event.watched), startup, "\(event.stalls)", indicated,
            observed, share,
        ]
    }

    /// A local time without its year: `12-24 18:00`.
    private static func time(_ seconds: Double) -> String {
        String(TimeText.words(Int(min(max(0, seconds), 1e11))).dropFirst(5))
    }

    private static func joined(_ cells: [String], _ columns: [(String, Int)]) -> String {
        var line = zip(cells, columns).map { $0.cut(to: $1.1).padded(to: $1.1) }.joined(separator: "  ")
        while line.last == " " {
            line.removeLast()
        }
        return line
    }
}
