public import Foundation
import Glibc
import Synchronization

/// A child process in its own process group, with its output in files.
///
/// The whole group is killed when the last reference is released.
public final class ChildProcess: Sendable {
    /// Exit status of a process.
    public enum Exit: Equatable, Sendable {
        /// The process exited with this code.
        case code(Int32)
        /// A signal ended the process.
        case signal(Int32)
    }

    /// Process id, which is also the process group id.
    public let pid: pid_t
    private let name: String
    private let output: TemporaryFolder
    private let input: Int32
    private let ended: Ended

    /// Starts a program. A name without a slash is looked up in PATH.
    ///
    /// - Parameters:
    ///   - environment: overrides for this process's environment; an empty value removes the variable.
    ///   - folder: working directory; nil for that of this process.
    public init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], folder: String? = nil
    ) throws {
        name = (program as NSString).lastPathComponent
        output = try TemporaryFolder()
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw SystemCallError("pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        input = ends[1]
        do {
            pid = try spawn(
                (folder.map { ["env", "-C", $0] } ?? []) + [program] + arguments, environment: environment,
                input: ends[0],
                output: output.path("stdout"), errors: output.path("stderr"))
        } catch {
            close(ends[1])
            throw error
        }
        ended = Ended(pid: pid)
    }

    deinit {
        ended.kill(SIGKILL, group: true)
        close(input)
    }

    /// Sends a signal to the process, or to its whole group, unless it has ended.
    public func send(_ signal: Int32, group: Bool = false) {
        ended.kill(signal, group: group)
    }

    /// Exit status; nil while the process runs.
    public var exit: Exit? { ended.exit }

    /// Waits for the process to end. After the bound it kills the group and throws ``TimedOut`` with the output.
    public func end(within bound: Duration = .seconds(60)) async throws -> Exit {
        do {
            try await waitUntil("the end of \(name)", within: bound) { exit != nil }
        } catch let error as TimedOut {
            send(SIGKILL, group: true)
            throw TimedOut("\(error.description); it wrote: \(standardOutput)\(standardError)")
        }
        return exit ?? .code(-1)
    }

    /// Standard output so far, as UTF-8.
    public var standardOutput: String { String(decoding: standardOutputData, as: UTF8.self) }

    /// Standard output so far, as bytes.
    public var standardOutputData: Data { FileManager.default.contents(atPath: output.path("stdout")) ?? Data() }

    /// Standard error so far, as UTF-8.
    public var standardError: String {
        String(decoding: FileManager.default.contents(atPath: output.path("stderr")) ?? Data(), as: UTF8.self)
    }

    /// Waits for a complete line on standard output with this start, and returns the rest of the line.
    ///
    /// Throws ``TimedOut`` with the output if the line does not appear within the bound, or if the process ends first.
    public func line(startingWith start: String, within bound: Duration = .seconds(30)) async throws -> String {
        var found: String?
        try? await waitUntil("line", within: bound) {
            let running = exit == nil
            let lines = standardOutput.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            found = lines.first { $0.hasPrefix(start) }.map { String($0.dropFirst(start.count)) }
            return found != nil || !running
        }
        guard let found else {
            let state = exit.map { "ended (\($0))" } ?? "runs"
            throw TimedOut("\"\(start)\" from \(name), which \(state); it wrote: \(standardOutput)\(standardError)")
        }
        return found
    }
}

/// Waits for a process on a thread. Sends no signal after the process has been reaped, because its id may be reused.
private final class Ended: Sendable {
    private let pid: pid_t
    private let state = Mutex<ChildProcess.Exit?>(nil)

    init(pid: pid_t) {
        self.pid = pid
        Thread.detachNewThread { self.reap() }
    }

    var exit: ChildProcess.Exit? { state.withLock { $0 } }

    func kill(_ signal: Int32, group: Bool) {
        state.withLock { if $0 == nil { _ = Glibc.kill(group ? -pid : pid, signal) } }
    }

    private func reap() {
        var information = siginfo_t()
        while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        state.withLock {
            var status: Int32 = 0
            waitpid(pid, &status, 0)
            let signal = status & 0x7F
            $0 = signal == 0 ? .code((status >> 8) & 0xFF) : .signal(signal)
        }
    }
}

/// Runs `posix_spawnp` with a new process group, default signal handling and only the three standard descriptors.
private func spawn(
    _ arguments: [String], environment: [String: String], input: Int32, output: String, errors: String
) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, 0)
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    // glibc's addclosefrom_np is not visible to Swift. Its close action ignores descriptors that are not open.
    for descriptor in Int32(3)..<1024 { posix_spawn_file_actions_addclose(&actions, descriptor) }

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
    posix_spawnattr_setflags(&attributes, Int16(truncatingIfNeeded: flags))

    let merged = ProcessInfo.processInfo.environment.merging(environment) { $1 }.filter { !$0.value.isEmpty }
    let variables = merged.map { $0.key + "=" + $0.value }
    var pid: pid_t = 0
    let program = arguments[0]
    let code = withCStrings(arguments) { arguments in
        withCStrings(variables) { posix_spawnp(&pid, program, &actions, &attributes, arguments, $0) }
    }
    guard code == 0 else { throw SystemCallError("posix_spawn \(program)", code: code) }
    return pid
}

/// Passes the strings as a null-terminated C array that is valid during the call.
private func withCStrings<Value>(
    _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Value
) -> Value {
    let array = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: strings.count + 1)
    for (index, string) in strings.enumerated() { array[index] = strdup(string) }
    array[strings.count] = nil
    defer {
        for index in strings.indices { free(array[index]) }
        array.deallocate()
    }
    return body(array)
}

/// Exit status and output of a finished program.
public struct ProcessResult: Sendable {
    /// Exit status.
    public let exit: ChildProcess.Exit
    /// Standard output as UTF-8.
    public let output: String
    /// Standard error as UTF-8.
    public let errors: String
}

/// Runs programs to their end.
public enum ProcessRunner {
    /// Runs a program and returns its output. After the bound it kills the program and throws ``TimedOut``.
    ///
    /// For `environment` and `folder`, see ``ChildProcess``.
    public static func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], folder: String? = nil,
        within bound: Duration = .seconds(60)
    ) async throws -> ProcessResult {
        let process = try ChildProcess(program, arguments, environment: environment, folder: folder)
        let exit = try await process.end(within: bound)
        return ProcessResult(exit: exit, output: process.standardOutput, errors: process.standardError)
    }
}
