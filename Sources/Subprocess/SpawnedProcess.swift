// The room Subprocess.
//
// Duty: starts a program, signals it, and waits for its end.
// Entrance: `SpawnedProcess`.
// Does not enter: what the program is for: handlers, hooks, ffmpeg and players are started by the rooms that need them.

public import Glibc
import Synchronization

/// A child process with default signal handling, whatever this process ignores and blocks, and without descriptors except
/// the three standard ones.
///
/// It has to be awaited by one call of `wait()`. No signal is sent after that, because the process id may be reused.
public final class SpawnedProcess: Sendable {
    /// Exit status of a process.
    public enum Exit: Equatable, Sendable {
        /// The process exited with this code; -1 if the system does not know it.
        case code(Int32)
        /// A signal ended the process.
        case signal(Int32)
    }

    /// The target of a standard descriptor.
    public enum Stream: Sendable {
        /// An open descriptor of this process, which keeps it.
        case descriptor(Int32)
        /// A file, opened with flags of open(2), and created with the mode 0600.
        case file(String, Int32)
    }

    /// The program could not be started.
    public struct Failure: Error {
        /// The value of `errno`.
        public let code: Int32
    }

    /// POSIX_SPAWN_SETSID, which needs _GNU_SOURCE and is therefore not visible to Swift.
    private static let setSession: Int32 = 0x80

    /// Process id.
    public let pid: pid_t
    private let state = Mutex<Exit?>(nil)
    private let isGuarded: Bool

    /// Starts a program. A name without a slash is looked up in PATH.
    ///
    /// - Parameters:
    ///   - arguments: the program and its arguments.
    ///   - variables: the environment as `NAME=VALUE`; nil for that of this process.
    ///   - streams: standard input, output and error.
    ///   - leadsGroup: true for a new process group, which is killed when this process has died (`ProcessGuard`).
    ///   - leadsSession: true for a new session, and so a new process group: signals of the terminal do not reach it.
    public init(
        _ arguments: [String], variables: [String]? = nil, streams: (input: Stream, output: Stream, error: Stream),
        leadsGroup: Bool = false, leadsSession: Bool = false
    ) throws(Failure) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, stream) in [streams.input, streams.output, streams.error].enumerated() {
            switch stream {
            case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
            case .file(let path, let flags):
                posix_spawn_file_actions_addopen(&actions, Int32(number), path, flags, 0o600)
            }
        }
        // glibc's addclosefrom_np is not visible to Swift. Its close action ignores descriptors that are not open.
        for descriptor in Int32(3)..<1024 {
            posix_spawn_file_actions_addclose(&actions, descriptor)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        let grouping =
            if leadsSession {
                Self.setSession
            } else if leadsGroup {
                POSIX_SPAWN_SETPGROUP
            } else {
                Int32(0)
            }
        let isGuarded = leadsGroup && !leadsSession
        if isGuarded {
            ProcessGuard.shared.prepare()
        }
        posix_spawnattr_setflags(&attributes, Int16(grouping | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { Self.free(copies: words) }
        var pid = pid_t()
        let code: Int32
        if let variables {
            var values: [UnsafeMutablePointer<CChar>?] = variables.map { strdup($0) } + [nil]
            code = posix_spawnp(&pid, arguments[0], &actions, &attributes, &words, &values)
            Self.free(copies: values)
        } else {
            code = posix_spawnp(&pid, arguments[0], &actions, &attributes, &words, environ)
        }
        guard code == 0 else { throw Failure(code: code) }
        self.pid = pid
        self.isGuarded = isGuarded
        if isGuarded {
            ProcessGuard.shared.add(pid)
        }
    }

    /// Frees the copies that strdup(3) made for posix_spawnp(3).
    private static func free(copies: [UnsafeMutablePointer<CChar>?]) {
        for copy in copies {
            Glibc.free(copy)
        }
    }

    /// Exit status; nil until `wait()` returns.
    public var exit: Exit? { state.withLock(\.self) }

    /// Sends a signal to the process, or to the group that it leads, unless it has been awaited.
    public func send(_ signal: Int32, group: Bool = false) {
        var target = pid
        if group {
            // kill(2): a negative number is a group.
            target = -pid
        }
        state.withLock { exit in
            if exit == nil {
                _ = kill(target, signal)
            }
        }
    }

    /// True if the process has ended, even if it was not awaited yet.
    public var hasEnded: Bool {
        state.withLock { exit in
            if exit != nil {
                return true
            }
            var information = siginfo_t()
            let code = waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT | WNOHANG)
            return code == 0 && information.si_signo == SIGCHLD
        }
    }

    /// Blocks this thread until the process has ended.
    @discardableResult public func wait() -> Exit {
        var information = siginfo_t()
        while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        // Before the system may give the number to another process.
        if isGuarded {
            ProcessGuard.shared.remove(pid)
        }
        return state.withLock { exit in
            var status: Int32 = 0
            var result = Exit.code(-1)
            if waitpid(pid, &status, 0) == pid {
                result = Self.exit(status: status)
            }
            exit = result
            return result
        }
    }

    /// Takes the status of waitpid(2) apart, whose macros are not for Swift.
    private static func exit(status: Int32) -> Exit {
        let signal = status & 0x7F
        guard signal == 0 else { return .signal(signal) }
        return .code((status >> 8) & 0xFF)
    }
}
