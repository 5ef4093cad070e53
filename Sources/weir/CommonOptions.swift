import API
import Application
import ArgumentParser
import Foundation

/// The options of every command. Their names are those of the configuration keys.
struct CommonOptions: ParsableArguments {
    @Option(
        help: "Address of the daemon, such as 127.0.0.1:8216; port 0 for a free port. May be repeated.")
    var listen: [String] = []
    @Option(help: ArgumentHelp("Folder of the store.", valueName: "dir"))
    var store: String?
    @Option(help: ArgumentHelp("Folder of the daemon's token, by which commands find the daemon.", valueName: "dir"))
    var state: String?
    @Option(help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config: String?

    var settings: [ConfigurationKey: [String]] {
        var settings: [ConfigurationKey: [String]] = [.listen: listen]
        settings[.store] = store.map { [$0] }
        settings[.state] = state.map { [$0] }
        return settings
    }

    /// Loads the configuration, with further options of the command.
    func configuration(with more: [ConfigurationKey: [String]] = [:]) throws(ConfigurationError) -> Configuration {
        try Configuration.load(
            options: settings.merging(more) { $1 }, file: config, environment: ProcessInfo.processInfo.environment)
    }

    func daemon(with more: [ConfigurationKey: [String]] = [:]) throws(ConfigurationError) -> Daemon {
        Daemon(configuration: try configuration(with: more), isNamed: !listen.isEmpty)
    }
}

/// The daemon that a command talks to. It may or may not be running.
struct Daemon {
    let configuration: Configuration
    let client: APIClient
    /// True if the command line gives the daemon's address.
    private let isNamed: Bool

    init(configuration: Configuration, isNamed: Bool = false) {
        (self.configuration, self.isNamed) = (configuration, isNamed)
        client = APIClient(state: StateDirectory(configuration.state))
    }

    /// The daemon's base URL: from the command line, else of the running daemon, else from the configuration.
    var base: String {
        let configured = "http://\(configuration.listen[0])"
        return isNamed && configuration.listen[0].port != 0 ? configured : client.state.daemonURL ?? configured
    }

    var urls: PlayerURL { PlayerURL(base: base) }
}

/// Converts relative paths for the daemon, which has another working directory.
enum DiskPath {
    /// The absolute path without a `/` at its end. Symbolic links are kept.
    static func absolute(_ path: String) -> String {
        let full = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        let parts = full.split(separator: "/").filter { $0 != "." }
        return "/" + parts.joined(separator: "/")
    }
}
