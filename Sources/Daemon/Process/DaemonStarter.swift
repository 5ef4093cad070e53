internal import Control
internal import Foundation
internal import Glibc
internal import Subprocess
internal import WeirAPI

/// Starts a daemon for a command that finds none: by the user's service manager where Weir's units are enabled, else as a process
/// in the background, which ends after a time without work.
package struct DaemonStarter: Sendable {
    package enum Outcome: Equatable, Sendable {
        /// A daemon runs already.
        case present
        /// systemd has started the user's service.
        case service
        /// A process of its own. It ends after so many seconds without work; nil: it stays.
        case background(idleExit: Int64?)
    }

    /// The log of a daemon in the background, in the state directory.
    package static let logFile = "daemon.log"
    private static let timeLimit = Duration.seconds(30)
    private static let pause = Duration.milliseconds(20)

    private let state: StateDirectory
    private let idleExit: Int64?
    /// The options of `weir serve`.
    private let options: [String]
    private let environment: [String: String]

    /// - Parameters:
    ///   - options: the command's own options that the daemon needs, such as `--store DIR`.
    package init(_ configuration: Configuration, options: [String], environment: [String: String]) {
        state = StateDirectory(configuration.state)
        idleExit = configuration.idleExit
        self.options = options
        self.environment = environment
    }

    /// Returns when a daemon listens. Of commands that call this at the same time, one starts it.
    package func start() async throws(ApplicationError) -> Outcome {
        do throws(APIError) { try state.create() } catch {
            throw ApplicationError(.stateDirectory, error.message, next: error.next, underlying: error)
        }
        let deadline = ContinuousClock.now + Self.timeLimit
        let gate = try await takeLock(until: deadline)
        defer { close(gate) }
        // A daemon may be about to listen, or about to end.
        while !state.isServed, state.isClaimed {
            try await wait(until: deadline)
        }
        if state.isServed {
            return .present
        }
        if let service = UserService(environment), options.isEmpty, hasServiceSettings, await service.isEnabled {
            try await start(service, until: deadline)
            return .service
        }
        try await startProcess(until: deadline)
        return .background(idleExit: idleExit)
    }

    /// True if the service, which does not have this command's environment, has the same settings.
    private var hasServiceSettings: Bool {
        let own = Set([Configuration.Key.start, .idleExit, .player].map(\.variable))
        let home = environment["HOME"] ?? ""
        let standard = [
            "XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share", "XDG_STATE_HOME": ".local/state",
        ]
        return environment.allSatisfy { name, value in
            if value.isEmpty || own.contains(name) {
                return true
            }
            if let folder = standard[name] {
                return value == "\(home)/\(folder)"
            }
            return !name.hasPrefix("WEIR_")
        }
    }

    /// Takes the lock of commands that start a daemon, and returns its descriptor.
    private func takeLock(until deadline: ContinuousClock.Instant) async throws(ApplicationError) -> Int32 {
        let path = "\(state.path)/starting"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw ApplicationError(
                .stateDirectory, "\(path) cannot be written: \(String(cString: strerror(errno)))",
                next: "name another directory with --state DIR")
        }
        do throws(ApplicationError) {
            while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
                try await wait(until: deadline)
            }
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    private func wait(until deadline: ContinuousClock.Instant) async throws(ApplicationError) {
        guard .now < deadline, (try? await Task.sleep(for: Self.pause)) != nil else {
            let seconds = Self.timeLimit.components.seconds
            var daemon = "the daemon"
            if let process = state.daemonProcess {
                daemon += " (process \(process))"
            }
            throw ApplicationError(
                .noStart, "\(daemon) of the state directory \(state.path) has not answered for \(seconds) s",
                next: "weir stop, and repeat the command")
        }
    }

    private func start(
        _ service: UserService, until deadline: ContinuousClock.Instant
    ) async throws(ApplicationError) {
        if let reason = await service.start() {
            throw ApplicationError(
                .noStart, "systemd could not start the service \(UserService.name): \(reason)",
                next: "journalctl --user -u \(UserService.name) -n 20")
        }
        let limit = min(deadline, .now + .seconds(15))
        while !state.isServed {
            guard .now < limit else {
                throw ApplicationError(
                    .noStart,
                    "systemd has started the service \(UserService.name), but it does not serve with the state directory \(state.path)",
                    next: "systemctl --user status \(UserService.name)")
            }
            try await wait(until: deadline)
        }
    }

    // MARK: A process in the background

    private func startProcess(until deadline: ContinuousClock.Instant) async throws(ApplicationError) {
        let log = "\(state.path)/\(Self.logFile)"
        let start = Self.prepareLog(log)
        let process: SpawnedProcess
        do {
            let stream = SpawnedProcess.Stream.file(log, O_WRONLY | O_CREAT | O_APPEND)
            process = try SpawnedProcess(
                [Self.program, "serve"] + options + ["--idle-exit", TimeSpan.text(idleExit)], variables: variables,
                streams: (.file("/dev/null", O_RDONLY), stream, stream), leadsSession: true)
        } catch {
            throw ApplicationError(
                .noStart, "the daemon could not be started: \(String(cString: strerror(error.code)))",
                next: "weir serve")
        }
        while !state.isServed {
            // Another daemon may have come first.
            if process.hasEnded, !state.isClaimed {
                throw Self.failure(process.wait(), log, from: start)
            }
            try await wait(until: deadline)
        }
    }

    private static func failure(_ exit: SpawnedProcess.Exit, _ log: String, from start: UInt64) -> ApplicationError {
        let end = if case .code(let code) = exit { "with exit code \(code)" } else { "by a signal" }
        var error = ApplicationError(
            .noStart, "the daemon was started, and ended \(end); its log is \(log)", next: "weir doctor")
        error.details = lastLines(of: log, from: start)
        return error
    }

    /// The program of this process. After an update of the file, the link names a deleted one; then PATH decides.
    package static var program: String {
        let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "weir"
        guard access(path, X_OK) == 0 else { return "weir" }
        return path
    }

    /// This command's environment, without what a service manager gave to this command alone.
    private var variables: [String] {
        var variables = environment
        for name in ["NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "JOURNAL_STREAM", "INVOCATION_ID"] {
            variables[name] = nil
        }
        // Stops libdispatch from logging that it may not raise the priority of its threads.
        variables["LIBDISPATCH_LOG"] = "NO"
        return variables.map { "\($0.key)=\($0.value)" }
    }

    /// Sets a long log aside, and returns the length of the log.
    private static func prepareLog(_ path: String) -> UInt64 {
        var status = stat()
        guard lstat(path, &status) == 0 else { return 0 }
        if Int64(status.st_size) < ErrorOutput.limit {
            return UInt64(status.st_size)
        }
        rename(path, path + ".1")
        return 0
    }

    /// The last lines of a file behind a position, at most ten.
    private static func lastLines(of path: String, from start: UInt64) -> [String] {
        guard let file = FileHandle(forReadingAtPath: path), (try? file.seek(toOffset: start)) != nil,
            let data = try? file.read(upToCount: 64 << 10)
        else { return [] }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").suffix(10).map(String.init)
    }
}
