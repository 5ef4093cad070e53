import API
import AccessLog
import Application
import ArgumentParser

struct LogCommand: ReportingCommand {
    /// The format of the lines.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case w3c, apple, json, table

        var style: LogStyle { self == .apple ? .apple : .w3c }
    }

    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "Show the access log, the error log or indicators.",
        discussion: """
            The access log has a line for each uninterrupted period of a session, with the fields of AVPlayerItemAccessLog. The \
            last lines may be of running sessions. Values that only a player knows are inferred from its requests; JSON marks them.

            On a terminal it is a table of 80 columns, and --wide shows all fields. Other programs get all fields in the format w3c, \
            unless --format says otherwise.
            """)

    @Argument(help: "The name of an asset; all assets if left out.", completion: .assetNames)
    var name: String?
    @Flag(help: "Show the error log: requests of players that failed.")
    var errors = false
    @Flag(help: "Show key performance indicators by session and in total.")
    var kpi = false
    @Flag(help: "Follow the log until Ctrl-C.")
    var follow = false
    @Flag(help: "Show all fields, on lines longer than 80 columns.")
    var wide = false
    @Option(
        help: """
            w3c: Extended Log File Format; apple: the same with AVPlayer's dates; json: one object per line; table: the main fields in \
            80 columns.
            """)
    var format: Format?
    @Option(help: ArgumentHelp("Maximum number of events; the last ones are shown.", valueName: "n"))
    var limit = 1000
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if errors && kpi { throw ValidationError("--errors and --kpi exclude each other.") }
        if kpi && follow { throw ValidationError("--kpi and --follow exclude each other.") }
        if kpi, let format, format != .json, format != .table {
            throw ValidationError("--kpi has no log format: leave --format out, or give json.")
        }
        if wide, format == .table { throw ValidationError("--wide and --format table exclude each other.") }
        if limit < 1 || limit > 100_000 { throw ValidationError("--limit must be a number from 1 to 100000.") }
    }

    func execute() async throws {
        let client = try common.daemon().client
        let query = LogQuery(asset: name, limit: limit)
        if kpi { return try await show(client.kpis(query)) }
        if errors {
            try await show(query) { query throws(APIError) in try await client.errorLog(query) }
        } else {
            try await show(query) { query throws(APIError) in try await client.accessLog(query) }
        }
    }

    private func show<Event: LogEvent>(
        _ query: LogQuery, _ ask: @escaping @Sendable (LogQuery) async throws(APIError) -> API.Log<Event>
    ) async throws {
        let text = LogText<Event>(format ?? (wide || !Terminal.showsOutput ? .w3c : .table))
        guard follow else {
            let log = try await ask(query)
            return text.write(log.events, header: log.software)
        }
        let result = await Interruption.orEnd { await LogFollower(query, text, ask).run() }
        if let result { throw result }
    }

    private func show(_ report: API.KPIReport) throws {
        guard format == .json else {
            return Output.lines((wide ? KPIText.table(report) : KPIText.narrow(report)).lines)
        }
        for session in report.sessions { Output.record(LogText<AccessEvent>.tagged(session, "session")) }
        Output.record(LogText<AccessEvent>.tagged(report.total, "total"))
    }
}
