import ArgumentParser
import Daemon
import Foundation
import WeirAPI

struct GetCommand: AsyncParsableCommand {
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
    @OptionGroup(title: "The download") var task: TaskOptions
    @OptionGroup(title: OriginOptions.title) var origin: OriginOptions
    @Flag(
        help:
            "With --record: wait until the live stream begins, however long; --for counts from then. Ctrl-C ends the wait."
    )
    var wait = false
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
        try origin.check(sources)
        try task.check(selection)
    }

    func run() async throws {
        guard json else { return try await reporting(common) { try await follow() } }
        try await reportingAsJSON()
    }

    private func follow() async throws {
        var settings: [Configuration.Key: [String]] = [:]
        settings[.player] = player.map { [$0] }
        let daemon = try common.daemon(with: settings)
        // Its URLs are those of the daemon.
        try await daemon.ensure()
        let follower = follower(of: daemon)
        let request = try request
        let artwork = try task.artworkFile()

        guard !play else {
            let player = try Player.find(daemon.configuration.player, environment: ProcessInfo.processInfo.environment)
            let download = try await daemon.client.start(request)
            if let artwork {
                _ = try await daemon.client.call(Endpoints.setArtwork, download.asset, body: artwork)
            }
            follower.introduce(download)
            throw player.start(
                player.options(title: download.title) + [daemon.urls.asset(named: download.asset)])
        }

        let outcome = await Interruption.orEnd { await follower.run(request, artwork: artwork) }
        if let failure = follower.failure(outcome) {
            throw withPlayableURL(failure, of: request.source, daemon)
        }
    }

    /// Prints one result as the last line in every case.
    private func reportingAsJSON() async throws {
        var download: API.Download?
        var failure: Failure?
        var url: String?
        do {
            let daemon = try common.daemon()
            try await daemon.ensure()
            let follower = follower(of: daemon)
            let request = try request
            let artwork = try task.artworkFile()
            let outcome = await Interruption.orEnd { await follower.run(request, artwork: artwork) }
            download = outcome.download
            failure = follower.failure(outcome)
            url = download.map { daemon.urls.asset(named: $0.asset) }
        } catch {
            failure = Failure(error)
        }

        Output.record(DownloadRecord.result(download, url: url, failure: failure))
        guard let failure else { return }
        Output.error(failure.text)
        throw ExitCode(failure.exitCode)
    }

    /// Adds a player URL to the failure of a live stream, which can be watched or recorded, but not saved.
    private func withPlayableURL(_ failure: Failure, of source: String, _ daemon: DaemonHandle) -> Failure {
        guard failure.code == APIError.Code.live.rawValue else { return failure }
        var failure = failure
        let plain = PlayerURL.withoutPassword(source)
        let word = Failure.quoted(plain)
        failure.next =
            "weir get --record \(word) to record it, or mpv \(Failure.quoted(daemon.urls.entry(plain)))"
        return failure
    }

    private var request: API.DownloadRequest {
        get throws {
            // Not when the words are read: an unknown option, whose value is one of them, is the better message.
            guard CurlOrder.isMeant(by: sources) || sources.count < 2 else {
                throw Failure(
                    "weir get follows one download, and there are \(sources.count) sources", next: "weir add URL URL",
                    exitCode: 64, code: "usage")
            }
            let order = try origin.order(for: sources)
            origin.route.warn()
            return try task.request(for: order, selection, environment: ProcessInfo.processInfo.environment)
        }
    }

    private func follower(of daemon: DaemonHandle) -> DownloadFollower {
        let style = ProgressReporter.Style(isJSON: json)
        return DownloadFollower(
            client: daemon.client, reporter: ProgressReporter(style: style, urls: daemon.urls), state: common.state,
            waits: wait)
    }
}
