import Glibc
import Store
import Synchronization

/// Runs a program to its end, without input.
struct ChildProgram {
    /// The exit code and output of a program.
    struct Outcome {
        /// The exit code; nil if a signal ended the program.
        let code: Int32?
        /// True if the exit code is 0.
        var isGood: Bool { code == 0 }
        /// The standard output.
        let output: String
        /// The lines of the standard error.
        let complaints: [String]
        /// The last line of the standard error; empty if there is none.
        var complaint: String { complaints.last ?? "" }
    }

    /// Finds a program in PATH.
    static func find(_ name: String) -> String? {
        let folders = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
        return folders.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// Runs a program, and blocks this thread until it ends.
    ///
    /// - Parameters:
    ///   - work: the folder for the files that collect its output.
    ///   - leash: ends the program from another thread.
    ///   - heard: receives each line of standard output at once; `Outcome.output` is then empty.
    /// - Throws: `io` if the program cannot be started.
    static func run(
        _ path: String, _ arguments: [String], saying work: Directory, leash: Leash? = nil,
        heard: ((Substring) -> Void)? = nil
    ) throws(StoreError) -> Outcome {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        for (descriptor, name) in [(STDOUT_FILENO, "said"), (STDERR_FILENO, "complained")] {
            let flags = O_WRONLY | O_CREAT | O_TRUNC
            posix_spawn_file_actions_addopen(&actions, descriptor, work.path + "/" + name, flags, 0o600)
        }
        var ends: [Int32] = [-1, -1]
        if heard != nil {
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
                throw StoreError(.io, path: path, detail: String(cString: strerror(errno)))
            }
            posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        }
        defer { if ends[0] >= 0 { close(ends[0]) } }
        let pid = try spawn([path] + arguments, &actions, closing: ends[1])
        leash?.hold(pid)
        if let heard { hear(ends[0], heard) }
        let status = try wait(pid, path, leash)
        let complaints = String(decoding: try work.read("complained") ?? [], as: UTF8.self).split(separator: "\n")
        return Outcome(
            code: status & 0x7F == 0 ? (status >> 8) & 0xFF : nil,
            output: String(decoding: try work.read("said") ?? [], as: UTF8.self),
            complaints: complaints.map(String.init))
    }

    /// Starts a program with default signal handling, whatever this process ignores and blocks.
    private static func spawn(
        _ words: [String], _ actions: inout posix_spawn_file_actions_t, closing end: Int32
    ) throws(StoreError) -> pid_t {
        defer { if end >= 0 { close(end) } }
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

    /// Passes on lines until the program closes its end.
    private static func hear(_ descriptor: Int32, _ heard: (Substring) -> Void) {
        var (line, buffer): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 4_096))
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            for byte in buffer[..<count] {
                if byte == UInt8(ascii: "\n") {
                    heard(Substring(decoding: line, as: UTF8.self))
                    line = []
                } else {
                    line.append(byte)
                }
            }
        }
    }

    private static func wait(_ pid: pid_t, _ path: String, _ leash: Leash?) throws(StoreError) -> Int32 {
        // The process id is not reused before waitpid(2): until then the leash may signal it.
        var information = siginfo_t()
        while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        leash?.letGo()
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 {
            guard errno == EINTR else {
                throw StoreError(.io, path: path, detail: String(cString: strerror(errno)))
            }
        }
        return status
    }

    /// Ends a program from another thread, before or after its start.
    final class Leash: Sendable {
        private let state = Mutex<(pid: pid_t?, isPulled: Bool)>((nil, false))

        /// Ends the program, and every later one with this leash.
        func pull() {
            state.withLock { state in
                state.isPulled = true
                if let pid = state.pid { kill(pid, SIGTERM) }
            }
        }

        fileprivate func hold(_ pid: pid_t) {
            state.withLock { state in
                state.pid = pid
                if state.isPulled { kill(pid, SIGTERM) }
            }
        }

        fileprivate func letGo() { state.withLock { $0.pid = nil } }
    }
}
