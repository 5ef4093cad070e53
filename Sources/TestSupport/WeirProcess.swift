public import Foundation
import Glibc

/// A `weir serve` that the test runs on a free port over a store and a state folder of its own, and the commands that
/// talk to it.
///
/// Both folders outlive the process, so ``kill()`` and ``start()`` show what a user finds after a crash.
public actor WeirProcess {
    /// The folder with the pieces (`--store`).
    public nonisolated let store: String
    /// The folder with the token and logs (`--state`).
    public nonisolated let state: String
    /// Given to each `weir serve` beside the options that this type sets.
    public nonisolated let options: [String]
    private let folder: TemporaryFolder
    private var process: ChildProcess?
    private var base = ""

    /// Prepares the folders, and starts the server unless `started` is false.
    public init(options: [String] = [], started: Bool = true) async throws {
        folder = try TemporaryFolder()
        store = folder.path("store")
        state = folder.path("state")
        self.options = options
        if started { try await start() }
    }

    /// `http://127.0.0.1:PORT` of the server as last started.
    public var address: String { base }

    /// The port of the server as last started.
    public var port: Int { base.split(separator: ":").last.flatMap { Int($0) } ?? 0 }

    /// The number of the running process, for `/proc` and signals.
    public var pid: pid_t? { process?.pid }

    /// What the server wrote to standard error since it was last started.
    public var log: String { process?.standardError ?? "" }

    /// A URL that players may load: a path of Weir's own, or `/` and an origin's URL.
    public func url(_ path: String) -> String {
        base + (path.hasPrefix("/") ? path : "/" + path)
    }

    /// Starts the server and waits for the line that says that it is ready.
    ///
    /// A running one is left as it is.
    ///
    /// - Parameter wrapper: a program with its arguments that runs the server, such as `strace -f -o FILE`.
    public func start(wrapper: [String] = [], options more: [String] = []) async throws {
        guard process == nil else { return }
        let serve = ["serve", "--listen", "127.0.0.1:0", "--store", store, "--state", state] + options + more
        let line = wrapper + [Repository.builtProgram("weir")] + serve
        let process = try ChildProcess(line[0], Array(line.dropFirst()), environment: environment)
        self.process = process
        base = try await process.line(startingWith: "weir is listening on ")
    }

    /// Ends the server as `kill -9` does.
    public func kill() async throws {
        process?.send(SIGKILL, group: true)
        _ = try await process?.end()
        process = nil
    }

    /// Ends the server in good order and gives its exit.
    @discardableResult
    public func terminate(within bound: Duration = .seconds(20)) async throws -> ChildProcess.Exit {
        guard let process else { return .code(0) }
        process.send(SIGTERM)
        self.process = nil
        return try await process.end(within: bound)
    }

    /// Kills the server and starts it anew over the same folders.
    public func restart() async throws {
        try await kill()
        try await start()
    }

    /// Runs a command such as `["get", URL]` to its end, with `--state` so that it finds this server.
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

    /// Nothing of the user's own configuration may reach a test.
    private nonisolated var environment: [String: String] {
        [
            "WEIR_LISTEN": "", "WEIR_STORE": "", "WEIR_STATE": "", "XDG_CONFIG_HOME": folder.path("config"),
            "XDG_DATA_HOME": folder.path("data"), "XDG_STATE_HOME": folder.path("state-home"), "HOME": folder.path,
            "http_proxy": "", "https_proxy": "", "all_proxy": "", "HTTP_PROXY": "", "HTTPS_PROXY": "", "ALL_PROXY": "",
            "NO_COLOR": "1",
        ]
    }
}
