import Glibc
import Store

/// A program that is run to its end, with nothing to read.
struct ChildProgram {
    /// How it ended, and what it said.
    struct Outcome {
        /// Whether it ended by itself, with 0.
        let isGood: Bool
        /// Its standard output.
        let output: String
        /// The last line of its standard error; empty where there is none.
        let complaint: String
    }

    /// The path of a program in PATH; nil where there is none.
    static func find(_ name: String) -> String? {
        let folders = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
        return folders.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// Runs a program, and waits for its end on this thread.
    ///
    /// - Parameter work: where what it says is put.
    /// - Throws: `io` when it cannot be started.
    static func run(_ path: String, _ arguments: [String], saying work: Directory) throws(StoreError) -> Outcome {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        for (descriptor, name) in [(STDOUT_FILENO, "said"), (STDERR_FILENO, "complained")] {
            let flags = O_WRONLY | O_CREAT | O_TRUNC
            posix_spawn_file_actions_addopen(&actions, descriptor, work.path + "/" + name, flags, 0o600)
        }
        let status = try wait(try spawn([path] + arguments, &actions), path)
        let complaints = String(decoding: try work.read("complained") ?? [], as: UTF8.self).split(separator: "\n")
        return Outcome(
            isGood: status == 0, output: String(decoding: try work.read("said") ?? [], as: UTF8.self),
            complaint: complaints.last.map(String.init) ?? "")
    }

    /// What this process ignores and blocks is not the program's business.
    private static func spawn(
        _ words: [String], _ actions: inout posix_spawn_file_actions_t
    ) throws(StoreError) -> pid_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        arguments.append(nil)
        defer { for argument in arguments { free(argument) } }
        var pid = pid_t()
        let code = posix_spawn(&pid, words[0], &actions, &attributes, arguments, environ)
        guard code == 0 else { throw StoreError(.io, path: words[0], detail: String(cString: strerror(code))) }
        return pid
    }

    private static func wait(_ pid: pid_t, _ path: String) throws(StoreError) -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 {
            guard errno == EINTR else {
                throw StoreError(.io, path: path, detail: String(cString: strerror(errno)))
            }
        }
        return status
    }
}
