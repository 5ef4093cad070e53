/// A program that plays URLs.
struct Player: Equatable {
    /// Its path.
    let path: String

    /// The players that are looked for, best first.
    static let known = ["mpv", "vlc", "ffplay"]

    /// Finds a player: the one that is wished for, by name or path, else the first known one in PATH.
    static func find(_ wish: String, environment: [String: String]) throws(Failure) -> Player {
        for name in wish.isEmpty ? known : [wish] {
            if let program = Program.find(name, environment: environment) { return Player(path: program.path) }
        }
        let wanted = wish.isEmpty ? known.joined(separator: ", ") : wish
        throw Failure(
            "there is no player (\(wanted))", next: "name one with --player or WEIR_PLAYER, or see: weir url",
            exitCode: 69, code: "no-player")
    }

    /// Becomes the player; returns, with the reason, only when that fails.
    func start(_ arguments: [String]) -> Failure {
        Failure(Program(path: path).start(arguments), exitCode: 1, code: "no-player")
    }
}
