import AccessLog
import Foundation
import SafeText
import WeirAPI

/// Writes a log's events to standard output.
struct LogText<Event: LogEvent>: Sendable {
    private let format: LogCommand.Format

    init(_ format: LogCommand.Format) { self.format = format }

    /// Writes events, after a header if `header` is not nil.
    func write(_ events: [Event], header software: String? = nil) {
        if let software, format != .json, format != .table {
            let now = Date().timeIntervalSince1970
            for line in Event.header(format.style, software: software, at: now) {
                Output.line(line)
            }
        }
        if software != nil, format == .table, !events.isEmpty {
            Output.line(LogTable.heading(of: Event.self))
        }
        Output.records(events.map(line))
    }

    func line(_ event: Event) -> String {
        switch format {
        case .json: Self.tagged(event, Event.fileName)
        case .table: LogTable.line(event)
        case .w3c, .apple: event.line(format.style)
        }
    }

    /// A JSON object with its version and kind as first keys.
    static func tagged(_ value: some Encodable, _ kind: String) -> String {
        // Strings and finite numbers can always be encoded.
        let encoded = (try? API.encode(value)) ?? Array("{}".utf8)
        let json = String(decoding: encoded, as: UTF8.self)
        let separator = json == "{}" ? "" : ","
        return "{\"v\":1,\"t\":\"\(kind)\"" + separator + json.dropFirst()
    }
}

/// Prints events as they are added to a log: each event once, after its end.
struct LogFollower<Event: LogEvent>: Sendable {
    private let query: LogQuery
    private let text: LogText<Event>
    private let ask: @Sendable (LogQuery) async throws(APIError) -> API.Log<Event>

    /// Interval between polls. The daemon is on this machine, and a poll costs it little.
    private static var pause: Duration { .milliseconds(500) }

    init(
        _ query: LogQuery, writing text: LogText<Event>,
        asking ask: @escaping @Sendable (LogQuery) async throws(APIError) -> API.Log<Event>
    ) {
        self.query = query
        self.text = text
        self.ask = ask
    }

    /// Runs until the task is cancelled or the daemon stops answering; returns the error.
    func run() async -> APIError? {
        var query = query
        var last: [Event] = []
        var isFirst = true
        while !Task.isCancelled {
            do throws(APIError) {
                let log = try await ask(query)
                let written = log.events.filter { $0.written != nil }
                let header = isFirst ? log.software : nil
                text.write(written.filter { !last.contains($0) }, header: header)
                if let end = written.compactMap(\.written).max() {
                    last = written.filter { $0.written == end }
                    query.since = Moment(clamping: end)
                }
                isFirst = false
            } catch {
                return error
            }
            // The API has no event for the log, so this polls.
            try? await Task.sleep(for: Self.pause)
        }
        return nil
    }
}

/// Formats key performance indicators for users.
enum KPIText {
    /// One row per session, and one for all.
    static func table(_ report: API.KPIReport) -> TextTable {
        let heading = [
            "ASSET", "CLIENT", "WATCHED", "START", "STALLS", "STALLED", "DROPPED", "INDICATED", "OBSERVED", "LOWEST",
            "HIGHEST",
            "DEVIATION", "STORED", "SIZE",
        ]
        let sessions = report.sessions.map { row(of: $0.asset, in: client($0.client), $0.kpis) }
        let total = row(of: "all", in: Format.count(report.total.sessions, "session"), report.total)
        return TextTable(rows: [heading] + sessions + [total])
    }

    /// The main columns, in at most 80 characters.
    static func narrow(_ report: API.KPIReport) -> TextTable {
        let heading = ["ASSET", "CLIENT", "WATCHED", "START", "STALLS", "STALLED", "OBSERVED", "STORED"]
        let sessions = report.sessions.map { narrowRow(of: $0.asset, in: client($0.client).cut(to: 10), $0.kpis) }
        let total = narrowRow(of: "all", in: Format.count(report.total.sessions, "session"), report.total)
        return TextTable(rows: [heading] + sessions + [total])
    }

    private static func narrowRow(of asset: String, in client: String, _ kpis: KPIs) -> [String] {
        let cells = row(of: asset, in: client, kpis)
        let startup = kpis.startup.map(LogNumber.seconds) ?? "–"
        return [asset.cut(to: 14), client, cells[2], startup, cells[4], cells[5], cells[8], cells[12]]
    }

    private static func row(of asset: String, in client: String, _ kpis: KPIs) -> [String] {
        var startup = "–"
        if let seconds = kpis.startup {
            startup = "\(LogNumber.tenths(seconds)) s"
        }
        let stallRatio = kpis.stallRatio.map(Format.percent) ?? "–"
        let framesDropped = kpis.framesDropped.map(\.description) ?? "–"
        let bandwidths = [
            kpis.indicated, kpis.observed, kpis.observedMinimum, kpis.observedMaximum, kpis.observedDeviation,
        ]
        let storeShare = kpis.storeShare.map(Format.percent) ?? "–"
        return [asset, client, Format.clock(kpis.watched), startup, "\(kpis.stalls)", stallRatio, framesDropped]
            + bandwidths.map(LogNumber.bandwidth) + [storeShare, Format.bytes(Int(kpis.bytes))]
    }

    /// The first word of the player's User-Agent, cut to fit a column.
    private static func client(_ name: String?) -> String { String((name ?? "–").prefix { $0 != " " }.prefix(20)) }
}

/// Formats numbers in tables of the log.
enum LogNumber {
    /// Seconds with tenths below a hundred: `0.8 s`, `1234 s`.
    static func seconds(_ value: Double) -> String {
        if value < 99.95 {
            return "\(tenths(value)) s"
        }
        return "\(Int(min(value, 1e6).rounded())) s"
    }

    /// A bandwidth as of `Format`, whatever the number; `–` if it is not known.
    static func bandwidth(_ bitsPerSecond: Double?) -> String {
        guard let bitsPerSecond else { return "–" }
        return Format.bandwidth(Int(min(bitsPerSecond, 1e15).rounded()))
    }

    static func tenths(_ value: Double) -> String {
        let tenths = Int((min(max(0, value), 1e9) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
