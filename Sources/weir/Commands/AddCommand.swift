import ArgumentParser
import Daemon
import Foundation
import Orders
import SafeText
import WeirAPI

struct AddCommand: ReportingCommand, JSONCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Queue downloads and return; take over lists of streams.",
        discussion: """
            "weir get NAME" follows a download; "weir list" lists all. What is queued or stored already is no error.

            A list (-i FILE, or - for standard input) has one URL per line, with options behind it: URL -q 720p --name film. A line \
            that begins with # is a comment. A channel list (.m3u with #EXTINF) downloads nothing: its streams go into the streams \
            file with their titles, logos, groups, guide ids and header fields, and play by name; /weir.m3u lists them for other \
            players. The URL of a channel list goes into that file itself, and Weir reads the list again twice a day.
            """)

    @Argument(
        help: ArgumentHelp("URLs of playlists, or names of known assets; - reads a list.", valueName: "url"),
        completion: .assetNames)
    var sources: [String] = []
    @Option(
        name: [.customShort("i"), .customLong("input")],
        help: ArgumentHelp("A list of URLs, or a channel list. May be repeated.", valueName: "file"))
    var inputs: [String] = []
    @OptionGroup(title: "Selection") var selection: SelectionOptions
    @OptionGroup var choice: ChoiceOptions
    @OptionGroup(title: "The download") var task: TaskOptions
    @OptionGroup var audio: AudioPlaylistOptions
    @OptionGroup(title: OriginOptions.title) var origin: OriginOptions
    @Flag(help: "Queue the downloads paused; \"weir resume\" starts them.")
    var paused = false
    @Flag(help: "Write each download, or each stream of a channel list, as one JSON object on a line.")
    var json = false
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard !sources.isEmpty || !inputs.isEmpty || origin.curl != nil else {
            throw ValidationError("Give a URL, a name, - for standard input, or -i FILE.")
        }
        try origin.paste.check(sources + inputs)
        try choice.check(task, selection, isJSON: json)
        try audio.check(task)
        if isPasted {
            return try task.check(selection)
        }
        guard (sources + inputs).count(where: { $0 == "-" }) < 2 else {
            throw ValidationError("Standard input can be read only once.")
        }
        if sources.count + inputs.count > 1 || !inputs.isEmpty || sources == ["-"] {
            if task.name != nil {
                throw ValidationError("--name is for one URL; in a list, write it behind the URL.")
            }
            if choice.choose || audio.withAudio != nil {
                throw ValidationError("--choose and --with-audio are for one URL.")
            }
        }
        try task.check(selection)
    }

    /// True if the sources, or a file, are a curl command.
    private var isPasted: Bool { CurlOrder.isMeant(by: sources) || origin.curl != nil }

    func execute() async throws {
        let daemon = try common.daemon()
        let artwork = try task.artworkFile()
        if isPasted {
            return try await queue(try await order(for: sources, in: daemon.client), with: artwork, in: daemon)
        }

        let lists = try (sources.filter { $0 == "-" } + inputs).map { try ListFile($0) }
        var failure: CommandFailure?
        for source in sources where source != "-" {
            await attempt(&failure) {
                try await add(order(for: [source], in: daemon.client), with: artwork, to: daemon)
            }
        }

        for list in lists {
            switch list.content {
            case .playlist: throw list.noList
            case .channels(let channels):
                try checkNoDownload(of: list)
                try await add(channels, of: list, to: daemon, &failure)
            case .lines(let lines):
                for (number, text) in lines {
                    await attempt(&failure, at: "\(list.name):\(number)") {
                        try await queue(try await order(of: text, in: daemon.client), with: artwork, in: daemon)
                    }
                }
            }
        }

        // The messages of all failures were written where they occurred.
        if let failure {
            throw ExitCode(failure.exitCode)
        }
    }

    private func attempt(
        _ first: inout CommandFailure?, at position: String? = nil, _ body: () async throws -> Void
    ) async {
        do {
            try await body()
        } catch {
            var failure = CommandFailure(error, state: common.state)
            if let position {
                failure.message = "\(position): \(failure.message)"
            }
            failure.report(asJSON: json)
            first = first ?? failure
        }
    }

    // MARK: Downloads

    private func order(for words: [String], in client: APIClient) async throws -> API.DownloadRequest {
        let order = try await audio.joined(try await origin.order(for: words, in: client), in: client)
        origin.route.warn()
        var request = try task.request(for: order, selection, environment: ProcessInfo.processInfo.environment)
        if paused {
            request.order.paused = true
        }
        return request
    }

    /// The request of a list's line: its own options, and for the rest those of the command.
    private func order(of line: String, in client: APIClient) async throws -> API.DownloadRequest {
        guard let words = ShellWord.split(line), let source = words.first else {
            throw CommandFailure("a quotation mark is open", next: "close it", exitCode: 65, code: "list")
        }
        var general = try await order(for: [source], in: client)
        let own: ListedOptions
        do {
            own = try ListedOptions.parse(HeaderOptions.joined(Array(words.dropFirst())))
            try own.origin.check([source])
            try own.task.check(own.selection)
        } catch {
            throw CommandFailure(
                ListedOptions.message(for: error), next: "write: URL --option value; see: weir help add", exitCode: 65,
                code: "list")
        }

        own.origin.route.warn()
        let request = try own.task.request(
            for: try await own.origin.order(for: [source], in: client), own.selection,
            environment: ProcessInfo.processInfo.environment)
        general.adopt(request)
        return general
    }

    /// Queues a download, or adds the channel list at a URL.
    private func add(
        _ request: API.DownloadRequest, with artwork: [UInt8]?, to daemon: DaemonHandle
    ) async throws {
        do {
            try await queue(request, with: artwork, in: daemon)
        } catch let error as APIError where error.code == .channelList {
            try await addList(request, to: daemon)
        }
    }

    private func queue(
        _ request: API.DownloadRequest, with artwork: [UInt8]?, in daemon: DaemonHandle
    ) async throws {
        var request = request
        try await choice.complete(&request, in: daemon.client)
        try await KnownName.confirm(request, in: daemon.client, mayAsk: !json)
        let download = try await daemon.client.start(request)
        if let artwork {
            _ = try await daemon.client.call(Endpoints.setArtwork, download.asset, body: artwork)
        }
        guard !json else { return try Output.json(download) }
        Output.line("\(ProgressReporter.headline(download))   \(download.stateWords)")
        if let sentence = download.otherContent {
            Output.error("note:  \(sentence)\n")
        }
        Output.error("follow with:  weir get \(download.asset)\n")
    }

    // MARK: Channels

    /// Throws if there are options for downloads, which the streams of a channel list are not.
    private func checkNoDownload(of list: ListFile) throws {
        let nothing = API.PresentationRequest(source: "")
        let request = try task.request(for: nothing, selection, environment: [:])
        guard request != API.DownloadRequest(source: "") || origin.areGiven || paused else { return }
        throw CommandFailure(
            "\(list.name) is a channel list, of which nothing is downloaded: options for downloads have no effect on it",
            next: "add it without them; then: weir get NAME, with the options", exitCode: 64, code: "usage")
    }

    /// Adds the channel list at a URL; its name and header fields are those of the command.
    private func addList(_ order: API.DownloadRequest, to daemon: DaemonHandle) async throws {
        var others = try task.request(for: API.PresentationRequest(source: ""), selection, environment: [:])
        others.name = nil
        guard others == API.DownloadRequest(source: ""), order.route == nil, order.cookies == nil, !paused else {
            throw CommandFailure(
                "the URL is that of a channel list, of which nothing is downloaded: only --name and --header have an effect on it",
                next: "add it without the other options; then: weir get NAME, with the options", exitCode: 64,
                code: "usage")
        }
        var request = API.ChannelListRequest(url: order.source)
        request.name = order.name
        request.headers = order.headers
        let list = try await daemon.client.call(Endpoints.addList, body: request)
        guard !json else { return try Output.json(list) }
        Output.line("\(list.name): \(list.words)")
        Output.error("find one with:  weir list --channels WORD; all:  \(daemon.urls.base)/weir.m3u\n")
    }

    /// Most streams of one request to the daemon.
    private static let portion = 4_000

    private func add(
        _ channels: [ChannelFile.Channel], of list: ListFile, to daemon: DaemonHandle, _ failure: inout CommandFailure?
    ) async throws {
        var counts: [API.StreamReport.Outcome: Int] = [:]
        for start in stride(from: 0, to: channels.count, by: Self.portion) {
            let part = channels[start..<min(start + Self.portion, channels.count)]
            let usable = part.filter { $0.refusal == nil }
            var report: ArraySlice<API.StreamReport.Entry> = []
            if !usable.isEmpty {
                report = try await daemon.client.call(
                    Endpoints.addStreams, body: API.StreamRequest(streams: usable.map(\.stream))
                ).streams[...]
            }

            for channel in part {
                let own = channel.refusal.map { API.StreamReport.Entry(.refused, reason: $0) }
                guard let entry = own ?? report.popFirst() else { break }
                counts[entry.outcome, default: 0] += 1
                if json {
                    try Output.json(entry)
                }
                guard entry.outcome == .refused else { continue }

                var subject = "the channel"
                if let title = channel.stream.title {
                    subject = "\"\(title)\""
                }
                let reason = entry.reason ?? "it is refused"
                let refusal = CommandFailure(
                    "\(list.name):\(channel.line): \(subject) is left out: \(reason)", exitCode: 65, code: "list")
                Output.error(refusal.text)
                failure = failure ?? refusal
            }
        }
        guard !json else { return }

        let words: [(API.StreamReport.Outcome, String)] = [
            (.added, "added to the streams file"), (.known, "known already"), (.refused, "left out"),
        ]
        let parts = words.compactMap { outcome, words in
            counts[outcome].map { "\(Format.count($0, "stream")) \(words)" }
        }
        if parts.isEmpty {
            Output.line("\(list.name) has no channels")
        } else {
            Output.line(parts.joined(separator: ", "))
        }
        if counts[.added] != nil {
            Output.error("play one with:  weir play NAME; all:  \(daemon.urls.base)/weir.m3u\n")
        }
    }
}

/// The options of a line in a list.
struct ListedOptions: ParsableArguments {
    @OptionGroup var selection: SelectionOptions
    @OptionGroup var task: TaskOptions
    @OptionGroup var origin: OriginOptions
}

/// A list that the user names, or standard input.
struct ListFile {
    /// For messages.
    let name: String
    let content: ChannelFile

    init(_ path: String) throws {
        let file: FileHandle?
        if path == "-" {
            name = "standard input"
            file = FileHandle.standardInput
        } else {
            name = path
            file = FileHandle(forReadingAtPath: path)
        }

        guard let data = try? file?.readToEnd(limit: ChannelFile.limit) else {
            throw CommandFailure("\(path) cannot be read", next: "give an existing file", exitCode: 66, code: "no-list")
        }
        guard data.count <= ChannelFile.limit else {
            throw CommandFailure(
                "\(name) is over \(Format.bytes(ChannelFile.limit))", next: "split it", exitCode: 65, code: "list")
        }
        content = ChannelFile([UInt8](data))
    }

    /// The failure for an HLS playlist instead of a list.
    var noList: CommandFailure {
        CommandFailure(
            "\(name) is the HLS playlist of one stream, and no list of streams",
            next: "weir get URL, with the playlist's URL; if its media is beside it: weir help import", exitCode: 65,
            code: "list")
    }
}

extension API.DownloadRequest {
    /// Takes over what another request says.
    fileprivate mutating func adopt(_ other: API.DownloadRequest) {
        order.adopt(other.order)
        name = other.name ?? name
        title = other.title ?? title
        artwork = other.artwork ?? artwork
        headers = other.headers ?? headers
        cookies = other.cookies ?? cookies
        route = other.route ?? route
    }
}
