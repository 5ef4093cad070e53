import Foundation

/// A program that replaces the command's process.
struct Program: Equatable {
    let path: String

    /// Finds a program by its name in PATH or by its path; nil if there is none.
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

    /// Replaces this process with the program. Returns only on failure, with the reason as a sentence.
    func start(_ arguments: [String]) -> String {
        // The program must not inherit this process's open files and ignored signals.
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
