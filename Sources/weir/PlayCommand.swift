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
            // A player says little about a server that is not there.
            if PlayerURL.isURL(source), !offline { _ = try await daemon.client.list(.init(limit: 1, isBrief: true)) }
            let entry = try await Entry(source, try manner, in: daemon)
            throw player.start(arguments + [entry.url])
        }
    }
}
