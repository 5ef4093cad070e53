public import Foundation
import Glibc

/// A running `weir serve` on a free port, with its own store and state folder, and the commands that use it.
///
/// Both folders outlive the process, so ``kill()`` and ``start()`` reproduce a crash and a restart.
public actor WeirProcess {
    /// Store folder (`--store`), with the pieces.
    public nonisolated let store: String
    /// State folder (`--state`), with the token and logs.
    public nonisolated let state: String
    /// Additional options for each `weir serve`.
    public nonisolated let options: [String]
    private let folder: TemporaryFolder
    private var process: ChildProcess?
    private var base = ""

    /// Creates the folders, and starts the server unless `started` is false.
    public init(options: [String] = [], started: Bool = true) async throws {
        folder = try TemporaryFolder()
        store = folder.path("store")
        state = folder.path("state")
        self.options = options
        if started { try await start() }
    }

    /// `http://127.0.0.1:PORT` since the last start.
    public var address: String { base }

    /// The port since the last start.
    public var port: Int { base.split(separator: ":").last.flatMap { Int($0) } ?? 0 }

    /// Process id of the running server, for `/proc` and signals.
    public var pid: pid_t? { process?.pid }

    /// The server's standard error since the last start.
    public var log: String { process?.standardError ?? "" }

    /// A URL for players; `path` is a path of Weir's own, or an origin URL with or without a leading slash.
    public func url(_ path: String) -> String {
        base + (path.hasPrefix("/") ? path : "/" + path)
    }

    /// Starts the server and waits until it listens. Does nothing if it is running.
    ///
    /// - Parameter wrapper: a program with arguments that runs the server, such as `strace -f -o FILE`.
    public func start(wrapper: [String] = [], options more: [String] = []) async throws {
        guard process == nil else { return }
        let serve = ["serve", "--listen", "127.0.0.1:0", "--store", store, "--state", state] + options + more
        let line = wrapper + [Repository.builtProgram("weir")] + serve
        let process = try ChildProcess(line[0], Array(line.dropFirst()), environment: environment)
        self.process = process
        base = try await process.line(startingWith: "weir is listening on ")
    }

    /// Kills the server (SIGKILL) and its process group.
    public func kill() async throws {
        process?.send(SIGKILL, group: true)
        _ = try await process?.end()
        process = nil
    }

    /// Ends the server gracefully (SIGTERM) and returns its exit status.
    @discardableResult
    public func terminate(within bound: Duration = .seconds(20)) async throws -> ChildProcess.Exit {
        guard let process else { return .code(0) }
        process.send(SIGTERM)
        self.process = nil
        return try await process.end(within: bound)
    }

    /// Kills the server and starts it again with the same folders.
    public func restart() async throws {
        try await kill()
        try await start()
    }

    /// Runs a command such as `["get", URL]` to its end. `--state` makes it find this server.
    public nonisolated func run(
        _ arguments: [String], environment more: [String: String] = [:], within bound: Duration = .seconds(60)
    ) async throws -> ProcessResult {
        try await ProcessRunner.run(
            Repository.builtProgram("weir"), arguments + ["--state", state],
            environment: environment.merging(more) { $1 }, within: bound)
    }

    /// Starts a command without waiting for its end.
    public nonisolated func begin(
        _ arguments: [String], environment more: [String: String] = [:]
    ) throws -> ChildProcess {
        try ChildProcess(
            Repository.builtProgram("weir"), arguments + ["--state", state],
            environment: environment.merging(more) { $1 })
    }

    /// The server's resident memory in bytes, from `/proc`.
    public func residentMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(pid ?? 0)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }

    /// Hides the user's own configuration from tests.
    private nonisolated var environment: [String: String] {
        [
            "WEIR_LISTEN": "", "WEIR_STORE": "", "WEIR_STATE": "", "XDG_CONFIG_HOME": folder.path("config"),
            "XDG_DATA_HOME": folder.path("data"), "XDG_STATE_HOME": folder.path("state-home"), "HOME": folder.path,
            "http_proxy": "", "https_proxy": "", "all_proxy": "", "HTTP_PROXY": "", "HTTPS_PROXY": "", "ALL_PROXY": "",
            "NO_COLOR": "1",
        ]
    }
}
