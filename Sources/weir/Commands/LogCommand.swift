import AccessLog
import ArgumentParser
import Daemon
import Foundation
import WeirAPI

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

            --picture writes an SVG image of a session: quality, throughput, buffer and stalls over time, and the source of each \
            segment. It is of the last session, unless --session names another one.
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
    @Option(help: ArgumentHelp("Show one session only, by its UUID or its id in URLs.", valueName: "id"))
    var session: String?
    @Option(
        help: ArgumentHelp(
            "Write a picture of the session to a file, as SVG; - for standard output.", valueName: "file"),
        completion: .file(extensions: ["svg"]))
    var picture: String?
    @Option(help: ArgumentHelp("Maximum number of events; the last ones are shown.", valueName: "n"))
    var limit = 1000
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if errors && kpi {
            throw ValidationError("--errors and --kpi exclude each other.")
        }
        if kpi && follow {
            throw ValidationError("--kpi and --follow exclude each other.")
        }
        if kpi, let format, format != .json, format != .table {
            throw ValidationError("--kpi has no log format: leave --format out, or give json.")
        }
        if wide, format == .table {
            throw ValidationError("--wide and --format table exclude each other.")
        }
        if picture != nil, errors || kpi || follow || wide || format != nil {
            throw ValidationError("--picture excludes --errors, --kpi, --follow, --wide and --format.")
        }
        if picture?.isEmpty == true {
            throw ValidationError("--picture needs the name of a file.")
        }
        if session?.isEmpty == true {
            throw ValidationError("--session needs a session's UUID or id: see weir log.")
        }
        if limit < 1 || limit > 100_000 {
            throw ValidationError("--limit must be a number from 1 to 100000.")
        }
    }

    func execute() async throws {
        let client = try common.daemon().client
        let query = LogQuery(asset: name, session: session, limit: limit)
        if let picture {
            return try await draw(query, to: picture, client)
        }
        if kpi {
            return try await show(client.call(Endpoints.kpis, query: query.text))
        }
        if errors {
            try await show(query) { query throws(APIError) in
                try await client.call(Endpoints.errorLog, query: query.text)
            }
        } else {
            try await show(query) { query throws(APIError) in
                try await client.call(Endpoints.accessLog, query: query.text)
            }
        }
    }

    private func show<Event: LogEvent>(
        _ query: LogQuery, _ ask: @escaping @Sendable (LogQuery) async throws(APIError) -> API.Log<Event>
    ) async throws {
        let usual: Format = wide || !Terminal.showsOutput ? .w3c : .table
        let format = format ?? usual
        let text = LogText<Event>(format)
        guard follow else {
            let log = try await ask(query)
            if log.events.isEmpty, format == .table {
                return Output.error(emptiness)
            }
            return text.write(log.events, header: log.software)
        }
        let result = await Interruption.orEnd { await LogFollower(query, writing: text, asking: ask).run() }
        if let result {
            throw result
        }
    }

    private func draw(_ query: LogQuery, to file: String, _ client: APIClient) async throws {
        guard let timeline = try await client.call(Endpoints.timelines, query: query.text).events.last else {
            var subject = "a session"
            var next = "weir log"
            if let name {
                subject = "a session of \(name)"
                next = "weir play \(CommandFailure.quoted(name))"
            }
            if let session {
                subject = "the session \(session)"
            }
            throw CommandFailure(
                "the log has no picture of \(subject): nothing was played", next: next, exitCode: 66,
                code: "no-such-session")
        }

        let title = try? await client.call(Endpoints.asset, timeline.asset).title
        let picture = SessionPicture(timeline, title: title)
        if file == "-" {
            return Output.verbatim(picture.svg)
        }

        do {
            try Data(picture.svg.utf8).write(to: URL(filePath: file), options: .atomic)
        } catch {
            let reason = (error as NSError).localizedFailureReason ?? error.localizedDescription
            throw CommandFailure(
                "the picture cannot be written to \(file): \(reason)",
                next: "weir log --picture FILE in a folder that exists and can be written",
                exitCode: 73, code: "cannot-write")
        }
        Output.line("\(file): \(picture.summary)")
    }

    private var emptiness: String {
        let fact = errors ? "no request of a player has failed" : "nothing has been played"
        guard let name else { return "\(fact) yet\n" }
        return "\(fact) of \(name) yet\n"
    }

    private func show(_ report: API.KPIReport) throws {
        guard format == .json else {
            let table = wide ? KPIText.table(report) : KPIText.narrow(report)
            return Output.lines(table.lines)
        }
        for session in report.sessions {
            Output.record(LogText<AccessEvent>.tagged(session, "session"))
        }
        Output.record(LogText<AccessEvent>.tagged(report.total, "total"))
    }
}
