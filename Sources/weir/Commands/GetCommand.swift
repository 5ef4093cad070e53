import ArgumentParser
import Daemon
import Foundation
import Orders
import WeirAPI

struct GetCommand: ReportingCommand, JSONCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Download an asset and follow it.",
        discussion: """
            The daemon downloads. Ctrl-C only detaches from the download, and the same command follows it again. Stored media is \
            not fetched again: the same command with other options adds to what is stored.

            Exits with 74 if the disk is full, and with 77 if a key is refused; the download waits, and continues by itself \
            as soon as it can. See "weir list", "weir pause", "weir cancel".
            """, aliases: ["download"])

    @Argument(
        help: ArgumentHelp("URL of the playlist, or the name of a known asset.", valueName: "url"),
        completion: .assetNames)
    var sources: [String] = []
    @OptionGroup(title: "Selection") var selection: SelectionOptions
    @OptionGroup var choice: ChoiceOptions
    @OptionGroup(title: "The download") var task: TaskOptions
    @OptionGroup var audio: AudioPlaylistOptions
    @OptionGroup(title: OriginOptions.title) var origin: OriginOptions
    @Flag(
        help:
            "With --record: wait until the live stream begins, however long; --for counts from then. Ctrl-C ends the wait."
    )
    var wait = false
    @Option(
        help: ArgumentHelp(
            """
            Then write the film to a new file, such as '~/Videos/{title}.mkv', or to a folder that exists. {title}, {name}, {date}, \
            {quality} and {ext} stand for the film's. The endings are those of "weir export".
            """, valueName: "file"), transform: { try ExportPattern($0) })
    var to: ExportPattern?
    @Flag(help: "With --to: where the media changes within the film, begin a new file: film-1.mkv, film-2.mkv.")
    var split = false
    @Flag(help: "Play the asset while the download continues.")
    var play = false
    @Option(help: ArgumentHelp("The player for --play.", valueName: "program"))
    var player: String?
    @Flag(help: "Write one JSON object per line: progress, then a result.")
    var json = false
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if play && json {
            throw ValidationError("--play and --json exclude each other.")
        }
        if wait && !task.record {
            throw ValidationError("--wait needs --record: only a live stream can begin later.")
        }
        if wait && play {
            throw ValidationError("--wait and --play exclude each other.")
        }
        if to != nil && play {
            throw ValidationError("--to and --play exclude each other: the file is written at the end of the download.")
        }
        if split && to == nil {
            throw ValidationError("--split needs --to: it says how the film is written to files.")
        }
        try origin.check(sources)
        try task.check(selection)
        try choice.check(task, selection, isJSON: json)
        try audio.check(task)
    }

    func execute() async throws {
        guard json else { return try await follow() }
        try await followAsJSON()
    }

    private func follow() async throws {
        var settings: [Configuration.Key: [String]] = [:]
        settings[.player] = player.map { [$0] }
        try checkTarget()
        let daemon = try common.daemon(with: settings)
        // Its URLs are those of the daemon.
        try await daemon.ensure()
        let follower = follower(of: daemon)
        var request = try await request(in: daemon)
        try await choice.complete(&request, in: daemon.client)
        try await KnownName.confirm(request, in: daemon.client, mayAsk: true)
        let artwork = try task.artworkFile()

        guard !play else {
            let environment = ProcessInfo.processInfo.environment
            let player = try Player.find(daemon.configuration.player, environment: environment)
            let download = try await daemon.client.start(request)
            if let artwork {
                _ = try await daemon.client.call(Endpoints.setArtwork, download.asset, body: artwork)
            }
            follower.introduce(download)
            let script = PlayerScript.find(program: DaemonStarter.program, environment: environment)
            let options = player.options(title: download.title) + player.options(script: script, state: common.state)
            return try await player.play(options + [daemon.urls.asset(named: download.asset)])
        }

        let order = request
        let outcome = await Interruption.orEnd { await follower.run(order, artwork: artwork) }
        let failure = follower.failure(outcome)
        let export = try await export(outcome.download, from: daemon)
        for line in export.map(ExportText.lines) ?? [] {
            Output.line(line)
        }
        if let failure {
            throw withPlayableURL(failure, of: request.source, daemon)
        }
        if let shortfall = export.flatMap(ExportText.failure) {
            throw shortfall
        }
    }

    /// Before a long download, and not after it.
    private func checkTarget() throws(CommandFailure) {
        guard let to else { return }
        let format = to.format
        guard !format.isMadeByFFmpeg || Program.find("ffmpeg", environment: ProcessInfo.processInfo.environment) != nil
        else {
            throw CommandFailure(
                "ffmpeg, which makes a file of \(format.rawValue), is not installed",
                next: "apt install ffmpeg; or without it: --to FILE.tar, or weir export NAME FOLDER",
                exitCode: 69,
                code: APIError.Code.noProgram.rawValue)
        }
        if let path = to.doubtfulFolder {
            let word = CommandFailure.quoted(path)
            throw CommandFailure(
                "there is no folder \(path) to write a file to",
                next: "mkdir -p \(word); or, to have the film as a folder of that name: weir export NAME \(word)",
                exitCode: 73, code: APIError.Code.badTarget.rawValue)
        }
        let folder = to.knownFolder
        guard ExportPattern.isFolder(folder) else {
            throw CommandFailure(
                "\(folder) is no folder, so that nothing can be written there",
                next: "mkdir -p \(CommandFailure.quoted(folder))", exitCode: 73, code: APIError.Code.badTarget.rawValue)
        }
    }

    /// Writes the film to the target; nil without one, and for a download that is not complete.
    private func export(_ download: API.Download?, from daemon: DaemonHandle) async throws -> API.Export? {
        guard let to, let download, download.state == .complete else { return nil }
        let film = ExportPattern.Film(
            name: download.asset, title: download.title, quality: download.selection.variants.first?.quality,
            date: TimeText.day(Int(Date().timeIntervalSince1970)))
        let path = to.path(for: film) { FileManager.default.fileExists(atPath: $0) }
        var request = API.ExportRequest(path: DiskPath.absolute(path))
        if split {
            request.split = true
        }
        return try await daemon.client.call(Endpoints.export, download.asset, body: request)
    }

    /// Prints one result as the last line in every case.
    private func followAsJSON() async throws {
        var download: API.Download?
        var failure: CommandFailure?
        var url: String?
        var path: String?
        do {
            try checkTarget()
            let daemon = try common.daemon()
            try await daemon.ensure()
            let follower = follower(of: daemon)
            let request = try await request(in: daemon)
            try await KnownName.confirm(request, in: daemon.client, mayAsk: false)
            let artwork = try task.artworkFile()
            let outcome = await Interruption.orEnd { await follower.run(request, artwork: artwork) }
            download = outcome.download
            failure = follower.failure(outcome)
            let export = try await export(download, from: daemon)
            path = export?.path
            failure = failure ?? export.flatMap(ExportText.failure)
            url = download.map { daemon.urls.asset(named: $0.asset) }
        } catch {
            failure = CommandFailure(error, state: common.state)
        }

        Output.record(DownloadRecord.result(download, url: url, path: path, failure: failure))
        if let failure {
            throw failure.inResult
        }
    }

    /// Adds a player URL to the failure of a live stream, which can be watched or recorded, but not saved.
    private func withPlayableURL(_ failure: CommandFailure, of source: String, _ daemon: DaemonHandle) -> CommandFailure
    {
        guard failure.code == APIError.Code.live.rawValue else { return failure }
        var failure = failure
        let plain = PlayerURL.withoutPassword(source)
        let word = CommandFailure.quoted(plain)
        failure.next =
            "weir get --record \(word) to record it, or mpv \(CommandFailure.quoted(daemon.urls.entry(plain)))"
        return failure
    }

    private func request(in daemon: DaemonHandle) async throws -> API.DownloadRequest {
        // Not when the words are read: an unknown option, whose value is one of them, is the better message.
        guard CurlOrder.isMeant(by: sources) || sources.count < 2 else {
            throw CommandFailure(
                "weir get follows one download, and there are \(sources.count) sources", next: manySources,
                exitCode: 64,
                code: "usage")
        }
        var order = try await origin.order(for: sources, in: daemon.client)
        try LocalFile.refuse(order.source)
        order = try await audio.joined(order, in: daemon.client)
        origin.route.warn()
        return try task.request(for: order, selection, environment: ProcessInfo.processInfo.environment)
    }

    /// The command for what several sources were probably meant as.
    private var manySources: String {
        let words = sources.map(CommandFailure.quoted).joined(separator: " ")
        guard sources.count == 2, sources.allSatisfy(PlayerURL.isURL) else { return "weir add \(words)" }
        let pair = sources.map(CommandFailure.quoted).joined(separator: " --with-audio ")
        return "weir add \(words); or, for the video and the sound of one film: weir get \(pair)"
    }

    private func follower(of daemon: DaemonHandle) -> DownloadFollower {
        let style = ProgressReporter.Style(isJSON: json)
        return DownloadFollower(
            client: daemon.client, reporter: ProgressReporter(style: style, urls: daemon.urls), state: common.state,
            waits: wait)
    }
}
