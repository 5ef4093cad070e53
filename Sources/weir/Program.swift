import Foundation
import Glibc

/// A program that replaces the command's process, or runs within its terminal.
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
