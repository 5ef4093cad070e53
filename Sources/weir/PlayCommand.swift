import ArgumentParser
import Daemon
import Foundation
import WeirAPI

struct PlayCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "play", abstract: "Start a player.",
        discussion: """
            Without the options of a selection the player may choose among all tracks. With them it gets, and the play cache \
            keeps, only the chosen ones. Arguments after -- are for the player: weir play sintel -- --fullscreen
            """)

    @Argument(
        help: ArgumentHelp("The name of an asset, or any HLS URL.", valueName: "name|url"), completion: .assetNames)
    var source: String?
    @Flag(help: "Do not use the network.")
    var offline = false
    @Flag(help: "Play only complete renditions, if there are any.")
    var local = false
    @Flag(help: "Let Weir adapt the quality to the network, for a player that cannot.")
    var auto = false
    @Option(name: .key(.player), help: ArgumentHelp(.player))
    var player: String?
    @Argument(parsing: .postTerminator, help: ArgumentHelp("Arguments for the player.", valueName: "arguments"))
    var arguments: [String] = []
    @OptionGroup(title: "Selection") var selection: SelectionOptions
    @OptionGroup var audio: AudioPlaylistOptions
    @OptionGroup(title: OriginOptions.title) var origin: OriginOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        try origin.check(words)
        _ = try kind
    }

    private var words: [String] { [source].compactMap(\.self) }

    private var kind: Entry.Kind {
        get throws {
            try .init(offline: offline, local: local, auto: auto, isSelected: !selection.given.isEmpty)
        }
    }

    func execute() async throws {
        var settings: [Configuration.Key: [String]] = [:]
        settings[.player] = player.map { [$0] }
        let daemon = try common.daemon(with: settings)
        let player = try Player.find(daemon.configuration.player, environment: ProcessInfo.processInfo.environment)

        var order = try origin.order(for: words)
        order.audio = audio.withAudio
        // Checks the daemon first, because players report a missing server poorly.
        if PlayerURL.isURL(order.source), !offline {
            _ = try await daemon.client.call(Endpoints.assets, query: API.AssetQuery(limit: 1, isBrief: true).text)
        }

        let source = try await origin.apply(order, in: daemon)
        let entry = try await Entry(source, try kind, choosing: selection.given, in: daemon)
        var title = entry.title
        if title == nil, PlayerURL.isURL(source) {
            title = try? await daemon.client.call(Endpoints.asset, source).title
        }
        throw player.start(player.options(title: title) + arguments + [entry.url])
    }
}

struct Player: Equatable {
    let path: String

    static let known = ["mpv", "vlc", "ffplay"]

    /// Finds the requested player by name or path, or else the first known one in PATH.
    static func find(_ wish: String, environment: [String: String]) throws(Failure) -> Player {
        var names = [wish]
        var message = "the player \(wish) is not installed"
        if wish.isEmpty {
            names = known
            message = "no player is installed: none of \(known.joined(separator: ", "))"
        }

        for name in names {
            if let program = Program.find(name, environment: environment) {
                return Player(path: program.path)
            }
        }

        throw Failure(
            message,
            next: "apt install mpv, or name one with --player PROGRAM, or give any player what \"weir url\" prints",
            exitCode: 69, code: "no-player")
    }

    /// The options that make the player show a title; none without a title, and for an unknown player.
    func options(title: String?) -> [String] {
        guard let title else { return [] }
        return switch path.split(separator: "/").last {
        case "mpv": ["--force-media-title=\(title)"]
        case "vlc", "cvlc": ["--meta-title=\(title)"]
        case "ffplay": ["-window_title", title]
        default: []
        }
    }

    /// Replaces this process with the player. Returns only on failure.
    func start(_ arguments: [String]) -> Failure {
        PlayerEnvironment.exceptThisMachine()
        return Failure(Program(path: path).start(arguments), exitCode: 1, code: "no-player")
    }
}

/// The environment of a player.
enum PlayerEnvironment {
    /// Excepts this machine from the player's proxies: it plays from Weir, and a proxy does not reach this machine's
    /// addresses.
    static func exceptThisMachine() {
        let environment = ProcessInfo.processInfo.environment
        let given = environment["no_proxy"] ?? environment["NO_PROXY"]
        let list = exceptions(given ?? "")
        for name in ["no_proxy", "NO_PROXY"] {
            setenv(name, list, 1)
        }
    }

    /// The list with this machine's names and addresses.
    static func exceptions(_ list: String) -> String {
        let known = list.split(separator: ",").map { $0.filter { $0 != " " } }
        guard !known.contains("*") else { return list }
        let missing = ["localhost", "127.0.0.1", "::1"].filter { !known.contains($0) }
        return (known.filter { !$0.isEmpty } + missing).joined(separator: ",")
    }
}

/// A program that replaces the command's process.
struct Program: Equatable {
    let path: String

    /// Finds a program by its name in PATH or by its path; nil if there is none.
    static func find(_ name: String, environment: [String: String]) -> Program? {
        var paths = [name]
        if !name.contains("/") {
            let folders = environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
            paths = folders.split(separator: ":").map { "\($0)/\(name)" }
        }
        return paths.first(where: isProgram).map { Program(path: $0) }
    }

    private static func isProgram(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
            && FileManager.default.isExecutableFile(atPath: path)
    }

    /// Replaces this process with the program. Returns only on failure, with the reason as a sentence.
    func start(_ arguments: [String]) -> String {
        // The program must not inherit this process's open files and ignored signals.
        for descriptor in Int32(3)..<1024 {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }
        signal(SIGPIPE, SIG_DFL)
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
        words.append(nil)
        execv(path, words)
        let reason = String(cString: strerror(errno))
        for word in words {
            free(word)
        }
        return "\(path) cannot be started: \(reason)"
    }
}
