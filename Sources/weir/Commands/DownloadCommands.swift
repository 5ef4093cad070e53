import ArgumentParser
import Orders
import WeirAPI

struct PauseCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Pause downloads until they are resumed.",
        discussion: """
            Stored media stays, and plays. A restart of the daemon resumes nothing. With --reason, a paused download gets another \
            reason.
            """)

    @OptionGroup var downloads: DownloadNames
    @Option(help: ArgumentHelp("A reason that \"weir list\" shows until the download is resumed.", valueName: "text"))
    var reason: String?
    @OptionGroup var common: CommonOptions

    func execute() async throws {
        try await downloads.perform(.pause, API.ResumeRequest(reason: reason), in: common.daemon()) {
            $0.state == .queued || $0.state == .running || $0.state == .waiting
        }
    }
}

struct ResumeCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Resume downloads.",
        discussion: """
            A waiting download tries again at once. With --url, or the URL of --curl, the rest is fetched from a new URL, for a \
            link that has expired. Stored media is not fetched again.
            """)

    @OptionGroup var downloads: DownloadNames
    @Option(help: ArgumentHelp("New URL of the asset's playlist.", valueName: "url"))
    var url: String?
    @OptionGroup(title: OriginOptions.title) var origin: OriginOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if url != nil || origin.areGiven, downloads.names.count != 1 {
            throw ValidationError("--url, --header and the options for the way to the origin require exactly one name.")
        }
        if url != nil, origin.curl != nil {
            throw ValidationError("--curl has the URL: give no --url.")
        }
    }

    func execute() async throws {
        let daemon = try common.daemon()
        var request = API.ResumeRequest()
        if url != nil || origin.areGiven {
            let order: API.PresentationRequest
            if origin.curl == nil {
                order = try await origin.order(for: [url ?? downloads.names[0]], in: daemon.client)
                request.url = url
            } else {
                order = try origin.order(for: [])
                request.url = order.source
            }
            request.headers = order.headers
            request.cookies = order.cookies
            request.route = order.route
            origin.route.warn()
        }
        try await downloads.perform(.resume, request, in: daemon) {
            $0.state == .paused || $0.state == .waiting || $0.state == .failed
        }
    }
}

struct FirstCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "first", abstract: "Let downloads begin before all others that wait for their turn.",
        discussion: """
            With several names, the first of them begins first. What runs already goes on. After a restart of the daemon the order is \
            that of the requests again.
            """)

    @Argument(help: ArgumentHelp("The assets' names, or their URLs.", valueName: "name"), completion: .assetNames)
    var names: [String]
    @OptionGroup var common: CommonOptions

    func execute() async throws {
        let client = try common.daemon().client
        var lines: [String] = []
        // The last one moved is in front of all.
        for name in names.reversed() {
            let id = try await DownloadNames.id(of: name, in: client)
            let download = try await client.call(Endpoints.changeDownload(.first), id, body: API.ResumeRequest())
            lines.insert("\(download.asset)  \(download.stateWords)", at: 0)
        }
        Output.lines(lines)
    }
}

struct LimitCommand: ReportingCommand, JSONCommand {
    static let configuration = CommandConfiguration(
        commandName: "limit", abstract: "Show or change the rate of all downloads together until the daemon stops.",
        discussion:
            "Players are not limited. The key limit-rate of the configuration is in force again after a restart.")

    @Argument(
        help: ArgumentHelp("Bytes per second, such as 2M or 500K, or off.", valueName: "rate|off"), transform: Self.rate
    )
    var rate: Rate?
    @Flag(help: "Write one JSON object.")
    var json = false
    @OptionGroup var common: CommonOptions

    /// A limit, or none.
    enum Rate: Equatable, Sendable {
        case bytes(Int)
        case off
    }

    func execute() async throws {
        let client = try common.daemon().client
        let limit: API.Limit
        switch rate {
        case .bytes(let bytes)?:
            limit = try await client.call(Endpoints.setLimit, body: API.Limit(bytesPerSecond: bytes))
        case .off?: limit = try await client.call(Endpoints.setLimit, body: API.Limit(bytesPerSecond: nil))
        case nil: limit = try await client.call(Endpoints.limit)
        }
        guard !json else { return try Output.json(limit) }
        guard let bytes = limit.bytesPerSecond else { return Output.line("downloads are not limited") }
        Output.line("downloads take at most \(Format.rate(bytes)) together")
    }

    /// Reads `2M`, `2MB` or `500K` in powers of 1024, as the key limit-rate does, or `off`.
    static func rate(_ text: String) throws -> Rate {
        let word = text.uppercased()
        guard word != "OFF" else { return .off }
        let number = word.prefix { $0.isNumber || $0 == "." }
        let units = ["K": 10, "KB": 10, "M": 20, "MB": 20, "G": 30, "GB": 30]
        guard let shift = units[String(word.dropFirst(number.count))], let value = Double(number), value > 0,
            value < 1e6,
            case let bytes = Int(value * Double(1 << shift)), bytes >= 1024
        else { throw ValidationError("\"\(text)\" is not a rate such as 2M or 500K, and not off") }
        return .bytes(bytes)
    }
}

struct CancelCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Cancel downloads; keep what is stored.",
        discussion: """
            Stored media stays, and plays, until "weir remove" deletes it. "weir get" or "weir resume" continues the download. \
            "weir resume --all" skips cancelled downloads.
            """)

    @OptionGroup var downloads: DownloadNames
    @OptionGroup var common: CommonOptions

    func execute() async throws {
        try await downloads.perform(.cancel, in: common.daemon()) {
            $0.state != .complete && $0.state != .cancelled
        }
    }
}

/// The downloads that a command applies to: by their assets' names, or all.
struct DownloadNames: ParsableArguments {
    @Argument(help: ArgumentHelp("The assets' names, or their URLs.", valueName: "name"), completion: .assetNames)
    var names: [String] = []
    @Flag(help: "All downloads to which the command applies.")
    var all = false

    func validate() throws {
        if names.isEmpty != all {
            throw ValidationError("Give names, or --all.")
        }
    }

    /// Changes each download and prints its new state. Continues after a failure, and then ends with it.
    ///
    /// - Parameters:
    ///   - request: for `resume` and `pause`.
    ///   - isConcerned: selects from all downloads.
    func perform(
        _ change: API.DownloadChange, _ request: API.ResumeRequest = API.ResumeRequest(), in daemon: DaemonHandle,
        isConcerned: (API.Download) -> Bool
    ) async throws {
        var failure: (any Error)?
        let ids = try await ids(in: daemon.client, isConcerned)
        if ids.isEmpty {
            Output.error("no download to \(change.rawValue)\n")
        }

        for id in ids {
            do {
                let download = try await daemon.client.call(
                    Endpoints.changeDownload(change), try id.get(), body: request)
                var line = "\(download.asset)  \(download.stateWords)"
                if let reason = download.reasons?.first {
                    line += ": \(reason.message)"
                }
                Output.line(line)
                if download.state == .failed, change == .resume, let reason = download.error {
                    failure = failure ?? APIError(reason.code, reason.message)
                }
            } catch {
                if let failure {
                    Output.error(CommandFailure(failure).text)
                }
                failure = error
            }
        }

        if let failure {
            throw failure
        }
    }

    private func ids(
        in client: APIClient, _ isConcerned: (API.Download) -> Bool
    ) async throws -> [Result<String, any Error>] {
        guard !all else {
            return try await client.call(Endpoints.downloads).downloads.filter(isConcerned).map { .success($0.id) }
        }
        var ids: [Result<String, any Error>] = []
        for name in names {
            do {
                ids.append(.success(try await Self.id(of: name, in: client)))
            } catch let error as APIError where error.code == .noDaemon {
                throw error
            } catch {
                ids.append(.failure(error))
            }
        }
        return ids
    }

    static func id(of name: String, in client: APIClient) async throws -> String {
        let asset = try await client.call(Endpoints.asset, name)
        if let id = asset.download {
            return id
        }
        throw APIError(.noSuchDownload, "\(asset.name) has no download", next: "weir get \(asset.name)")
    }
}
