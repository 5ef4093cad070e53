import API
import Application
import ArgumentParser
import Foundation

/// `weir play`
struct PlayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play", abstract: "Start a player.",
        discussion: "What follows -- goes to the player: weir play sintel -- --fullscreen")

    @Argument(help: ArgumentHelp("The name of an asset, or any HLS URL.", valueName: "name|url"))
    var source: String

    @Flag(help: "Do not touch the network.")
    var offline = false

    @Flag(help: "Play what is stored whole, where there is such; what is not goes on to come from the network.")
    var local = false

    @Flag(help: "Let the quality follow the network, in a player that cannot do so itself.")
    var auto = false

    @Option(help: ArgumentHelp("The player; mpv, vlc or ffplay otherwise.", valueName: "program"))
    var player: String?

    @Argument(parsing: .postTerminator, help: ArgumentHelp("For the player.", valueName: "arguments"))
    var arguments: [String] = []

    @OptionGroup var common: CommonOptions

    func validate() throws { _ = try manner }

    private var manner: Entry.Manner { get throws { try .init(offline: offline, local: local, auto: auto) } }

    func run() async throws {
        try await reporting(common) {
            let daemon = try common.daemon(with: player.map { [.player: [$0]] } ?? [:])
            let player = try Player.find(daemon.configuration.player, environment: ProcessInfo.processInfo.environment)
            // Checks the daemon first, because players report a missing server poorly.
            if PlayerURL.isURL(source), !offline { _ = try await daemon.client.list(.init(limit: 1, isBrief: true)) }
            let entry = try await Entry(source, try manner, in: daemon)
            throw player.start(arguments + [entry.url])
        }
    }
}

struct Player: Equatable {
    let path: String

    /// The supported players, best first.
    static let known = ["mpv", "vlc", "ffplay"]

    /// Finds the requested player by name or path, or else the first known one in PATH.
    static func find(_ wish: String, environment: [String: String]) throws(Failure) -> Player {
        for name in wish.isEmpty ? known : [wish] {
            if let program = Program.find(name, environment: environment) { return Player(path: program.path) }
        }
        let wanted = wish.isEmpty ? known.joined(separator: ", ") : wish
        throw Failure(
            "there is no player (\(wanted))", next: "name one with --player or WEIR_PLAYER, or see: weir url",
            exitCode: 69, code: "no-player")
    }

    /// Replaces this process with the player. Returns only on failure.
    func start(_ arguments: [String]) -> Failure {
        Failure(Program(path: path).start(arguments), exitCode: 1, code: "no-player")
    }
}
