import API
import Application
import ArgumentParser
import Foundation

/// The options of every command: what they are called is what the configuration calls them.
struct CommonOptions: ParsableArguments {
    @Option(
        help: "Address that the daemon listens on, such as 127.0.0.1:8216; port 0 takes a free port. May be repeated.")
    var listen: [String] = []

    @Option(help: ArgumentHelp("Folder of the store.", valueName: "dir"))
    var store: String?

    @Option(help: ArgumentHelp("Folder of the daemon's token; commands find the daemon by it.", valueName: "dir"))
    var state: String?

    @Option(help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config: String?

    /// The options as settings of the configuration.
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
        Daemon(configuration: try configuration(with: more), isNamed: !listen.isEmpty)
    }
}

/// A daemon to talk to, which may or may not run.
struct Daemon {
    let configuration: Configuration
    let client: APIClient
    /// True if the command line says where it listens.
    private let isNamed: Bool

    init(configuration: Configuration, isNamed: Bool = false) {
        self.configuration = configuration
        self.isNamed = isNamed
        client = APIClient(state: StateDirectory(configuration.state))
    }

    /// Where it listens: where the command line says, else the daemon that runs, else where one would.
    var base: String {
        let configured = "http://\(configuration.listen[0])"
        return isNamed && configuration.listen[0].port != 0 ? configured : client.state.daemonURL ?? configured
    }

    /// The URLs for players.
    var urls: PlayerURL { PlayerURL(base: base) }
}

/// Paths as a person writes them, for a daemon that is somewhere else.
enum DiskPath {
    /// The path from the root, without a `/` at its end. Links stay as they are.
    static func absolute(_ path: String) -> String {
        let whole = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        let parts = whole.split(separator: "/").filter { $0 != "." }
        return "/" + parts.joined(separator: "/")
    }
}
