import ArgumentParser
import Daemon
import Foundation
import Orders
import SafeText
import WeirAPI

struct PlayCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "play", abstract: "Start a player.",
        discussion: """
            Asks first if there is something to play: if not, it says why with the words and the exit code of "weir get", and \
            starts no player. Exits with 1 if the player fails.

            A film goes on where its last player left it, if that player told its position: mpv with Weir's script, the page, and \
            players that send CMCD do. --start-over begins anew.

            Without the options of a selection the player may choose among all tracks. With them it gets, and the play cache \
            keeps, only the chosen ones. Arguments after -- are for the player: weir play sintel -- --fullscreen. A curl \
            command may stand there in place of the URL: weir play -- curl URL -H 'Name: value'
            """)

    @Argument(
        help: ArgumentHelp("The name of an asset, or any HLS URL.", valueName: "name|url"), completion: .assetNames)
    var source: String?
    @Flag var view: EntryView?
    @Option(
        help: ArgumentHelp("Begin at this time: 90, 12:30 or 1:02:03.", valueName: "time"), transform: Self.startTime)
    var from: Double?
    @Flag(help: "Begin anew, and not where the film was left.")
    var startOver = false
    @Option(name: .key(.player), help: ArgumentHelp(.player))
    var player: String?
    @Argument(parsing: .postTerminator, help: ArgumentHelp("Arguments for the player.", valueName: "arguments"))
    var arguments: [String] = []
    @OptionGroup(title: "Selection") var selection: SelectionOptions
    @OptionGroup var audio: AudioPlaylistOptions
    @OptionGroup(title: OriginOptions.title) var origin: OriginOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if from != nil && startOver {
            throw ValidationError("--from and --start-over exclude each other.")
        }
        try origin.check(words.source)
        try EntryView.check(view, selection)
    }

    /// The words that name the source, and those for the player. A curl command stands where those for the player do.
    private var words: (source: [String], player: [String]) {
        if source == nil, CurlOrder.isMeant(by: arguments) {
            return (arguments, [])
        }
        return ([source].compactMap(\.self), arguments)
    }

    private static func startTime(_ text: String) throws -> Double {
        guard !text.contains("-"), let range = MediaRange(text + "-") else {
            throw ValidationError("\"\(text)\" is not a time such as 90, 12:30 or 1:02:03")
        }
        return range.start.value
    }

    func execute() async throws {
        var settings: [Configuration.Key: [String]] = [:]
        settings[.player] = player.map { [$0] }
        let daemon = try common.daemon(with: settings)
        let environment = ProcessInfo.processInfo.environment
        let player = try Player.find(daemon.configuration.player, environment: environment)
        var start: [String] = []
        if let from {
            start = try player.options(start: from)
        }

        var order = try await origin.order(for: words.source, in: daemon.client)
        order.audio = audio.withAudio
        try LocalFile.refuse(order.source)
        let source = try await origin.apply(order, in: daemon)
        let presentation = try await check(source, in: daemon)
        if from == nil, !startOver, let position = presentation.position, player.canStartLater {
            start = try Self.goOn(at: position, in: presentation, by: player)
        }

        let entry = try await Entry(source, view, choosing: selection.given, in: daemon)
        let script = PlayerScript.find(program: DaemonStarter.program, environment: environment)
        var options = player.options(title: entry.title ?? presentation.title) + start
        if case .languages(let languages)? = selection.selection(environment: [:]).subtitles {
            options += player.options(subtitles: languages)
        }
        options += player.options(script: script, state: common.state, startsOver: startOver)
        try await player.play(options + words.player + [entry.url])
    }

    /// Prints where the film was left, in seconds, and returns the player's options to go on there; none if the player fails there.
    private static func goOn(
        at position: Double, in presentation: API.Presentation, by player: Player
    ) throws -> [String] {
        let time = Format.clock(position)
        if presentation.isFragmented == true, player.failsInMiddleOfFragments {
            Output.error(
                """
                left at \(time), where \(player.name) cannot begin: it loses its place in fragmented MP4. VLC and the page go on there.

                """)
            return []
        }
        Output.error("goes on at \(time); --start-over begins anew\n")
        return try player.options(start: position)
    }

    /// Asks the daemon before a player does, because players report a refusal poorly.
    private func check(_ source: String, in daemon: DaemonHandle) async throws -> API.Presentation {
        let request = API.DownloadRequest(source: source, selection.selection(environment: [:]))
        let query = view == .offline ? API.query("offline", "1") : ""
        return try await daemon.client.call(Endpoints.playable, query: query, body: request)
    }
}
