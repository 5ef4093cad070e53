import ArgumentParser
import Foundation
import Orders
import WeirAPI

struct RecordCommand: ReportingCommand, JSONCommand {
    static let configuration = CommandConfiguration(
        commandName: "record", abstract: "Record a live stream, now or at its time.",
        discussion: """
            Without --at it begins now and returns; "weir get --record" follows a recording. With --at it is planned: the daemon \
            stays, and begins it at that time. Without anything it lists what is planned.

            The name of a planned recording with other times changes it; with --cancel it is forgotten. What is recorded stays.

            \(Self.advice)
            """)

    /// The daemon of a command ends with the user's session.
    static let advice = """
        Weir must run at the time. To have it run without you being logged in: systemctl --user enable --now weir.service, and \
        loginctl enable-linger.
        """

    @Argument(
        help: ArgumentHelp("URL of the stream, name of a channel, or of a planned recording.", valueName: "url"),
        completion: .assetNames)
    var source: String?
    @Option(
        help: ArgumentHelp("The beginning: 20:15, which is the next one, or '2026-12-24 20:15'.", valueName: "time"))
    var at: String?
    @Option(
        name: .customLong("for"), help: ArgumentHelp("The length, such as 45m or 2h.", valueName: "time"),
        transform: { try Self.seconds($0, of: "--for") })
    var length: Int64?
    @Option(help: ArgumentHelp("The end, such as 21:00.", valueName: "time"))
    var until: String?
    @Option(help: ArgumentHelp("Repeat it: day, or days such as mon,fri.", valueName: "days"))
    var every: String?
    @Option(
        help: ArgumentHelp("Begin earlier by this time, such as 2m.", valueName: "time"),
        transform: { try Self.seconds($0, of: "--pre") })
    var pre: Int64?
    @Option(
        help: ArgumentHelp("End later by this time, such as 10m.", valueName: "time"),
        transform: { try Self.seconds($0, of: "--post") })
    var post: Int64?
    @Option(
        help: ArgumentHelp(
            "Keep the latest 5 of a repeated one, or those of 30d. What was not watched stays.", valueName: "number"))
    var keep: String?
    @Flag(help: "Begin with the earliest that the origin lists, or that Weir has kept, and not with the latest minute.")
    var fromStart = false
    @Option(
        help: ArgumentHelp("Begin with what is still there of the time before, such as 10m-ago.", valueName: "time"),
        transform: { try Self.start($0) })
    var from: RecordingStart?
    @Option(help: "The title for lists.")
    var title: String?
    @Flag(help: "Forget a planned recording.")
    var cancel = false
    @OptionGroup(title: "Selection") var selection: SelectionOptions
    @OptionGroup var rules: RuleOptions
    @OptionGroup(title: OriginOptions.title) var origin: OriginOptions
    @Flag(help: "Write JSON: one object a line.")
    var json = false
    @OptionGroup var common: CommonOptions

    /// The words that name the stream; none if a curl command does.
    private var words: [String] {
        guard let source else { return [] }
        return [source]
    }

    func validate() throws {
        if source == nil, origin.curl == nil {
            guard at == nil, every == nil, !cancel else {
                throw ValidationError("Give a URL, or the name of a channel.")
            }
            return
        }
        if length != nil, until != nil {
            throw ValidationError("--for and --until exclude each other.")
        }
        if at == nil, let option = [("--every", every), ("--keep", keep)].first(where: { $0.1 != nil })?.0 {
            throw ValidationError("\(option) needs --at.")
        }
        if at == nil, pre != nil || post != nil {
            throw ValidationError("--pre and --post need --at.")
        }
        if fromStart, from != nil {
            throw ValidationError("--from and --from-start exclude each other.")
        }
        if at != nil, from != nil {
            throw ValidationError("--from is for a recording that begins now: --pre begins a planned one earlier.")
        }
        if every == nil, keep != nil {
            throw ValidationError("--keep needs --every: one recording is kept until you remove it.")
        }
        if at == nil, let until, Self.secondsUntil(until, from: Date()) == nil {
            throw ValidationError("--until \"\(until)\" is not a time such as 21:00.")
        }
        try origin.check(words)
    }

    func execute() async throws {
        let daemon = try common.daemon()
        guard source != nil || origin.curl != nil else {
            return try write(try await daemon.client.call(Endpoints.recordings).recordings)
        }
        if cancel, let source {
            let gone = try await daemon.client.call(Endpoints.cancelRecording, source)
            guard !json else { return try Output.json(gone) }
            return Output.line("\(gone.name) is no longer planned")
        }
        guard let times else { return try await recordNow(daemon) }
        let known = try await daemon.client.call(Endpoints.recordings).recordings
        if let source, known.contains(where: { $0.name == source }) {
            return try write([try await daemon.client.call(Endpoints.changeRecording, source, body: times)])
        }
        let request = API.RecordingRequest(try download(), times)
        try write([try await daemon.client.call(Endpoints.addRecording, body: request)])
        if !json {
            Output.error("note:  \(Self.advice)\n")
        }
    }

    private func recordNow(_ daemon: DaemonHandle) async throws {
        var request = try download()
        request.order.recordSeconds = length
        if length == nil, let until {
            request.order.recordSeconds = Self.secondsUntil(until, from: Date())
        }
        let download = try await daemon.client.start(request)
        guard !json else { return try Output.json(download) }
        Output.line("\(ProgressReporter.headline(download))   \(download.stateWords)")
        Output.error("follow with:  weir get \(download.asset)\n")
    }

    private func download() throws -> API.DownloadRequest {
        let order = try origin.order(for: words)
        origin.route.warn()
        var request = API.DownloadRequest(
            source: order.source, selection.selection(environment: ProcessInfo.processInfo.environment))
        request.order.record = true
        request.order.recordFrom = fromStart ? .start : from
        request.order.rules = rules.change
        request.title = title
        request.headers = order.headers
        request.cookies = order.cookies
        request.route = order.route
        return request
    }

    /// The times of a planned recording; nil for one that begins now.
    private var times: API.RecordingTimes? {
        guard let at else { return nil }
        var times = API.RecordingTimes(at: at)
        if let every {
            times.every = every.lowercased().split(separator: ",").map(String.init)
        }
        times.seconds = length
        times.until = until
        times.early = pre
        times.late = post
        times.keep = keep
        return times
    }

    private func write(_ recordings: [API.ScheduledRecording]) throws {
        guard !json else { return try recordings.forEach { try Output.json($0) } }
        guard !recordings.isEmpty else {
            return Output.error("nothing is planned\ntry: weir record URL --at 20:15 --for 45m\n")
        }
        let rows = recordings.map { [$0.name, $0.channel, $0.words] }
        Output.lines(TextTable(rows: [["NAME", "CHANNEL", "WHEN"]] + rows).lines)
    }

    // MARK: Reading

    private static func start(_ text: String) throws -> RecordingStart {
        guard let start = RecordingStart(text) else {
            throw ValidationError("--from \"\(text)\" is not a time up to 24h ago, such as 10m-ago")
        }
        return start
    }

    private static func seconds(_ text: String, of option: String) throws -> Int64 {
        guard let seconds = TimeText.span(text), seconds > 0 else {
            throw ValidationError("\(option) \"\(text)\" is not a duration such as 2h, 90m or 45s")
        }
        return Int64(seconds)
    }

    /// The seconds until clocks show a time next; nil for no time of the day.
    static func secondsUntil(_ text: String, from now: Date, calendar: Calendar = .current) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let hour = Int(parts[0]), let minute = Int(parts[1]), (0...23).contains(hour),
            (0...59).contains(minute)
        else { return nil }
        let wanted = DateComponents(hour: hour, minute: minute)
        let end = calendar.nextDate(after: now, matching: wanted, matchingPolicy: .nextTime)
        return end.map { max(1, Int64($0.timeIntervalSince(now).rounded())) }
    }
}

extension API.ScheduledRecording {
    /// When it records: `2026-11-30 20:15 to 21:00, every day`.
    var words: String { words(in: .current) }

    func words(in zone: TimeZone) -> String {
        var words: [String] = []
        if let begin {
            words.append(Self.span(from: begin, to: end, in: zone))
        }
        if let days = times.every {
            words.append("every " + (days.count == 7 ? "day" : days.joined(separator: ", ")))
        }
        if let keep = times.keep {
            words.append("keeps \(keep)")
        }
        if let problem {
            words.append(problem)
        }
        return words.joined(separator: ", ")
    }

    /// An end on the same day has no date.
    private static func span(from begin: Int, to end: Int?, in zone: TimeZone) -> String {
        let beginning = TimeText.words(begin, zone: zone)
        guard let end else { return beginning }
        var ending = TimeText.words(end, zone: zone)
        let day = beginning.prefix { $0 != " " } + " "
        if ending.hasPrefix(day) {
            ending.removeFirst(day.count)
        }
        return "\(beginning) to \(ending)"
    }
}
