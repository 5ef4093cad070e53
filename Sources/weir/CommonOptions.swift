import Application
import ArgumentParser
import Control
import Foundation

/// The options of every command: what they are called is what the configuration calls them.
struct CommonOptions: ParsableArguments {
    @Option(help: "Where the daemon listens, such as 127.0.0.1:8216; port 0 takes a free one. May be repeated.")
    var listen: [String] = []

    @Option(help: ArgumentHelp("Where media is kept.", valueName: "dir"))
    var store: String?

    @Option(help: ArgumentHelp("Where the daemon keeps its token; commands find it by this.", valueName: "dir"))
    var state: String?

    @Option(help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config: String?

    /// What these options say, as the configuration takes it.
    var settings: [ConfigurationKey: [String]] {
        var settings: [ConfigurationKey: [String]] = [.listen: listen]
        settings[.store] = store.map { [$0] }
        settings[.state] = state.map { [$0] }
        return settings
    }

    /// The configuration of a command with further options of its own.
    func configuration(with more: [ConfigurationKey: [String]] = [:]) throws(ConfigurationError) -> Configuration {
        try Configuration.load(
            options: settings.merging(more) { $1 }, file: config, environment: ProcessInfo.processInfo.environment)
    }

    /// The daemon, as the configuration has it.
    func daemon(with more: [ConfigurationKey: [String]] = [:]) throws(ConfigurationError) -> Daemon {
        Daemon(configuration: try configuration(with: more))
    }
}

/// A daemon to talk to, which may or may not run.
struct Daemon {
    let configuration: Configuration
    let client: ControlClient

    init(configuration: Configuration) {
        self.configuration = configuration
        client = ControlClient(state: StateDirectory(configuration.state))
    }

    /// The URLs for players: of the daemon that runs, else of where one would listen.
    var urls: PlayerURL {
        PlayerURL(base: client.state.daemonURL ?? "http://\(configuration.listen[0])")
    }
}
