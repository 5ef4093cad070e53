import Daemon
import Foundation
import Glibc

/// A player that is installed on this machine.
struct Player: Equatable {
    let path: String

    static let known = ["mpv", "vlc", "ffplay"]

    /// Finds the requested player by name or path, or else the first known one in PATH.
    static func find(_ wish: String, environment: [String: String]) throws(CommandFailure) -> Player {
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

        throw CommandFailure(
            message,
            next: "apt install mpv, or name one with --player PROGRAM, or give any player what \"weir url\" prints",
            exitCode: 69, code: "no-player")
    }

    /// The players whose options Weir knows.
    private enum Kind {
        case mpv
        case vlc
        case ffplay
    }

    var name: String { path.split(separator: "/").last.map(String.init) ?? path }

    private var kind: Kind? {
        switch name {
        case "mpv": .mpv
        case "vlc", "cvlc": .vlc
        case "ffplay": .ffplay
        default: nil
        }
    }

    /// The options that make the player show a title; none without a title, and for an unknown player.
    func options(title: String?) -> [String] {
        guard let title else { return [] }
        return switch kind {
        case .mpv: ["--force-media-title=\(title)"]
        case .vlc: ["--meta-title=\(title)"]
        case .ffplay: ["-window_title", title]
        case nil: []
        }
    }

    /// The options that make the player show subtitles in one of some languages, the best first; none for a player without such an
    /// option.
    func options(subtitles languages: [String]) -> [String] {
        guard !languages.isEmpty else { return [] }
        let list = languages.joined(separator: ",")
        return switch kind {
        case .mpv: ["--slang=\(list)"]
        case .vlc: ["--sub-language=\(list)"]
        case .ffplay, nil: []
        }
    }

    /// True if Weir knows the player's options for it.
    var canStartLater: Bool { kind != nil }

    /// True if the player shows nothing when it begins a presentation of fragmented MP4 later than at its start: the HLS reader of
    /// libavformat (5.1 to 7.1) reads fragments at wrong offsets after a seek.
    var failsInMiddleOfFragments: Bool {
        switch kind {
        case .mpv, .ffplay: true
        case .vlc, nil: false
        }
    }

    /// The options that make the player begin at a time, in seconds. Throws for an unknown player.
    func options(start: Double) throws(CommandFailure) -> [String] {
        switch kind {
        case .mpv: return ["--start=\(start)"]
        case .vlc: return ["--start-time=\(start)"]
        case .ffplay: return ["-ss", "\(start)"]
        case nil:
            throw CommandFailure(
                "Weir does not know how \(name) begins at a time", next: "give the player's own option behind --",
                exitCode: 64, code: "usage")
        }
    }

    /// The options that make mpv run Weir's script, which adds the subtitles and reports to the log; none for other players,
    /// without the script, and where mpv runs it anyway.
    /// - Parameters:
    ///   - state: the state folder from the command line; nil for the usual one.
    ///   - startsOver: true if the film is to begin anew, also by the script among mpv's own.
    func options(script: PlayerScript?, state: String?, startsOver: Bool = false) -> [String] {
        guard kind == .mpv else { return [] }
        var options: [String] = []
        if startsOver {
            options.append("--script-opts-append=weir-resume=no")
        }
        guard let script else { return options }
        options += ["--script=\(script.path)", "--script-opts-append=weir-program=\(script.program)"]
        // The daemon has just answered: a slow machine does not lose the subtitles.
        options.append("--script-opts-append=weir-patience=5")
        if let state {
            options.append("--script-opts-append=weir-state=\(state)")
        }
        return options
    }

    /// Runs the player to its end. Throws unless it ended well: its own exit codes have other meanings than Weir's.
    func play(_ arguments: [String]) async throws {
        PlayerEnvironment.exceptThisMachine()
        switch await ForegroundProgram.run(path, arguments) {
        case .code(0): return
        case .failure(let code):
            let reason = String(cString: strerror(code))
            throw CommandFailure("\(path) cannot be started: \(reason)", exitCode: 1, code: "no-player")
        case .code(let code):
            throw CommandFailure("\(name) ended with the exit code \(code)", exitCode: 1, code: "player-failed")
        case .signal(let signal):
            throw CommandFailure(
                "\(name) was ended by the signal \(signal)", exitCode: 128 + signal, code: "player-ended")
        }
    }
}

/// Weir's script for mpv, as the package installs it beside the program.
struct PlayerScript: Equatable {
    let path: String
    /// The path of Weir's program, which the script runs.
    let program: String

    /// Finds the script of a program at `PREFIX/bin/weir` in `PREFIX/share/weir`; nil if it is not there, and if the user has put
    /// it among mpv's own scripts.
    static func find(program: String, environment: [String: String]) -> PlayerScript? {
        let prefix = URL(fileURLWithPath: program).deletingLastPathComponent().deletingLastPathComponent()
        let path = prefix.appendingPathComponent("share/weir/weir.lua").path
        let files = FileManager.default
        guard files.fileExists(atPath: path) else { return nil }

        let home = environment["HOME"] ?? ""
        let settings = environment["XDG_CONFIG_HOME"] ?? home + "/.config"
        let own = environment["MPV_HOME"] ?? settings + "/mpv"
        let isInstalled = [own, home + "/.mpv", "/etc/mpv"].contains { folder in
            files.fileExists(atPath: folder + "/scripts/weir.lua")
        }
        return isInstalled ? nil : PlayerScript(path: path, program: program)
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
