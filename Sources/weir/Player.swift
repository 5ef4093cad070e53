import Foundation

/// A program that plays URLs.
struct Player: Equatable {
    /// Its path.
    let path: String

    /// The players that are looked for, best first.
    static let known = ["mpv", "vlc", "ffplay"]

    /// Finds a player: the one that is wished for, by name or path, else the first known one in PATH.
    static func find(_ wish: String, environment: [String: String]) throws(Failure) -> Player {
        let folders = (environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":").map(String.init)
        for name in wish.isEmpty ? known : [wish] {
            let places = name.contains("/") ? [name] : folders.map { "\($0)/\(name)" }
            if let path = places.first(where: isProgram) { return Player(path: path) }
        }
        let wanted = wish.isEmpty ? known.joined(separator: ", ") : wish
        throw Failure(
            "there is no player (\(wanted))", next: "name one with --player or WEIR_PLAYER, or see: weir url",
            exitCode: 69, code: "no-player")
    }

    private static func isProgram(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
            && FileManager.default.isExecutableFile(atPath: path)
    }

    /// Becomes the player; returns, with the reason, only when that fails.
    func start(_ arguments: [String]) -> Failure {
        // What this process has open and ignores is not the player's business.
        for descriptor in Int32(3)..<1024 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        signal(SIGPIPE, SIG_DFL)
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
        words.append(nil)
        execv(path, words)
        let reason = String(cString: strerror(errno))
        for word in words { free(word) }
        return Failure("\(path) cannot be started: \(reason)", exitCode: 1, code: "no-player")
    }
}
