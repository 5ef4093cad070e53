import ArgumentParser
import Daemon
import Foundation
import WeirAPI

/// The options of a command that needs the daemon, and starts it. Their names are those of the configuration keys.
struct CommonOptions: DaemonOptions {
    @Option(name: .key(.listen), help: ArgumentHelp(.listen))
    var listen: [String] = []
    @Option(name: .key(.store), help: ArgumentHelp(.store))
    var store: String?
    @Option(name: .key(.state), help: ArgumentHelp(.state))
    var state: String?
    @Option(help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config: String?
    @Flag(name: .key(.start), help: ArgumentHelp(.start))
    var noStart = false
}

/// The options of a command that is the daemon, only looks at it, or needs none.
struct LocationOptions: DaemonOptions {
    @Option(name: .key(.listen), help: ArgumentHelp(.listen))
    var listen: [String] = []
    @Option(name: .key(.store), help: ArgumentHelp(.store))
    var store: String?
    @Option(name: .key(.state), help: ArgumentHelp(.state))
    var state: String?
    @Option(help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config: String?

    var noStart: Bool { false }
}

/// The options that say which daemon is meant.
///
/// They are no group within another one: a debug build of the parser checks such a group dozens of times, at each start.
protocol DaemonOptions: ParsableArguments {
    var listen: [String] { get }
    var store: String? { get }
    var state: String? { get }
    var config: String? { get }
    var noStart: Bool { get }
}

extension DaemonOptions {
    var settings: [Configuration.Key: [String]] {
        var settings: [Configuration.Key: [String]] = [.listen: listen]
        settings[.store] = store.map { [$0] }
        settings[.state] = state.map { [$0] }
        if noStart {
            settings[.start] = ["false"]
        }
        return settings
    }

    /// The options that a daemon needs to serve this command.
    private var serveOptions: [String] {
        let folders = [("--store", store), ("--state", state), ("--config", config)]
        var options = listen.flatMap { ["--listen", $0] }
        for (name, value) in folders {
            if let value {
                options += [name, value]
            }
        }
        return options
    }

    /// Loads the configuration, with further options of the command.
    func configuration(with more: [Configuration.Key: [String]] = [:]) throws(ConfigurationError) -> Configuration {
        try Configuration.load(
            options: settings.merging(more) { $1 }, file: config, environment: ProcessInfo.processInfo.environment)
    }

    /// The daemon of this command.
    ///
    /// - Parameters:
    ///   - starts: false for a command that only looks at the daemon. Any other starts it where none runs.
    ///   - limit: time limit of each call; nil for the usual one.
    func daemon(
        with more: [Configuration.Key: [String]] = [:], starts: Bool = true, limit: Duration? = nil
    ) throws(ConfigurationError) -> DaemonHandle {
        let configuration = try configuration(with: more)
        let environment = ProcessInfo.processInfo.environment
        let storeVariable = environment[Configuration.Key.store.variable] ?? ""
        let isStoreGiven = store != nil || !storeVariable.isEmpty
        if isStoreGiven, let other = DaemonHandle.otherStore(than: configuration) {
            guard store == nil else { throw DaemonHandle.otherStore(other, configuration) }
            Output.error("weir: the daemon has the store \(other), whatever WEIR_STORE says; to end it: weir stop\n")
        }

        var starter: DaemonStarter?
        if starts, configuration.startsDaemon {
            starter = DaemonStarter(configuration, options: serveOptions, environment: environment)
        }
        // A command with a limit of its own neither starts a daemon nor says that one hangs.
        var delegate: CommandStarter?
        if limit == nil {
            delegate = CommandStarter(starter: starter)
        }
        let daemon = DaemonHandle(
            configuration: configuration, delegate: delegate, limit: limit, isNamed: !listen.isEmpty)

        if starts, let line = DaemonHandle.age(daemon.client.state.daemon, isServed: daemon.client.state.isServed) {
            Output.error("weir: \(line)\n")
        }
        return daemon
    }
}

/// The daemon that a command talks to. It may or may not be running.
struct DaemonHandle {
    let configuration: Configuration
    let client: APIClient
    /// True if the command line gives the daemon's address.
    private let isNamed: Bool

    init(
        configuration: Configuration, delegate: (any APIClientDelegate)? = nil, limit: Duration? = nil,
        isNamed: Bool = false
    ) {
        self.configuration = configuration
        self.isNamed = isNamed
        client = APIClient(state: StateDirectory(configuration.state), delegate: delegate, limit: limit)
    }

    /// The daemon's base URL: from the command line, else of the running daemon, else from the configuration.
    var base: String {
        let configured = "http://\(configuration.listen[0])"
        if isNamed, configuration.listen[0].port != 0 {
            return configured
        }
        return client.state.daemonURL ?? configured
    }

    var urls: PlayerURL { PlayerURL(base: base) }

    /// Starts the daemon if none runs and the configuration allows it.
    func ensure() async throws(APIError) {
        if configuration.startsDaemon {
            try await client.ensureDaemon()
        }
    }

    /// The store of the running daemon, if it is known to be another one than a command's; it cannot be changed while it runs.
    static func otherStore(than configuration: Configuration) -> String? {
        let state = StateDirectory(configuration.state)
        guard let record = state.daemon, state.isServed, record.hasOtherStore(than: configuration.store) else {
            return nil
        }
        return record.store
    }

    static func otherStore(_ store: String, _ configuration: Configuration) -> ConfigurationError {
        ConfigurationError(
            source: .option("--store"),
            message: "the running daemon has the store \(store), not \(configuration.store)",
            next:
                "leave --store out; or weir stop, and repeat; or a second daemon: --state DIR --listen 127.0.0.1:0")
    }

    /// The notice about a daemon that is older than this command; nil for any other.
    static func age(_ record: DaemonRecord?, isServed: Bool) -> String? {
        guard let record, record.isOlder(than: Application.version), isServed else { return nil }
        return
            "the daemon has version \(record.version), this command \(Application.version); to end the old one: weir stop"
    }
}

/// Converts relative paths for the daemon, which has another working directory.
enum DiskPath {
    /// The absolute path without a `/` at its end. Symbolic links are kept.
    static func absolute(_ path: String) -> String {
        var full = path
        if !path.hasPrefix("/") {
            full = FileManager.default.currentDirectoryPath + "/" + path
        }
        let parts = full.split(separator: "/").filter { $0 != "." }
        return "/" + parts.joined(separator: "/")
    }
}
