import Foundation

/// A program of the machine's, which a command becomes.
struct Program: Equatable {
    /// Its path.
    let path: String

    /// The program of this name in PATH, or at this path; nil where there is none.
    static func find(_ name: String, environment: [String: String]) -> Program? {
        let folders = (environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":").map(String.init)
        let places = name.contains("/") ? [name] : folders.map { "\($0)/\(name)" }
        return places.first(where: isProgram).map { Program(path: $0) }
    }

    private static func isProgram(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
            && FileManager.default.isExecutableFile(atPath: path)
    }

    /// Becomes the program; returns, with the reason in a sentence, only when that fails.
    func start(_ arguments: [String]) -> String {
        // What this process has open and ignores is not the program's business.
        for descriptor in Int32(3)..<1024 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        signal(SIGPIPE, SIG_DFL)
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
        words.append(nil)
        execv(path, words)
        let reason = String(cString: strerror(errno))
        for word in words { free(word) }
        return "\(path) cannot be started: \(reason)"
    }
}
