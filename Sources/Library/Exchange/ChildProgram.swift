import Glibc
import Store
import Synchronization

/// A program that is run to its end, with nothing to read.
struct ChildProgram {
    /// How it ended, and what it said.
    struct Outcome {
        /// What it ended with; nil where a signal ended it.
        let code: Int32?
        /// Whether it ended by itself, with 0.
        var isGood: Bool { code == 0 }
        /// Its standard output.
        let output: String
        /// The lines of its standard error.
        let complaints: [String]
        /// The last of them; empty where there is none.
        var complaint: String { complaints.last ?? "" }
    }

    /// The path of a program in PATH; nil where there is none.
    static func find(_ name: String) -> String? {
        let folders = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
        return folders.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// Runs a program, and waits for its end on this thread.
    ///
    /// - Parameters:
    ///   - work: where what it says is put.
    ///   - leash: by which others may end it.
    ///   - heard: told each line of its standard output as it comes, which is not in the outcome then.
    /// - Throws: `io` when it cannot be started.
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

    /// What this process ignores and blocks is not the program's business.
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

    /// Passes on lines until the other end is closed.
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
        // Its number is not another's before it is waited for.
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

    /// By which a program can be ended from another thread, whether it has begun or not.
    final class Leash: Sendable {
        private let state = Mutex<(pid: pid_t?, isPulled: Bool)>((nil, false))

        /// Ends the program, and every later one.
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
