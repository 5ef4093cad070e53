package import Foundation
import Glibc

/// A running `weir serve` on a free port, with its own store and state folder, and the commands that use it.
///
/// Both folders outlive the process, so ``kill()`` and ``start()`` reproduce a crash and a restart.
package actor WeirProcess {
    /// Store folder (`--store`), with the pieces.
    package nonisolated let store: String
    package nonisolated let state: String
    package nonisolated let options: [String]
    private let folder: TemporaryFolder
    private var process: ChildProcess?
    private var base = ""

    /// Creates the folders, and starts the server unless `started` is false.
    package init(options: [String] = [], started: Bool = true) async throws {
        folder = try TemporaryFolder()
        store = folder.path("store")
        state = folder.path("state")
        self.options = options
        if started {
            try await start()
        }
    }

    package var address: String { base }

    package var port: Int { base.split(separator: ":").last.flatMap { Int($0) } ?? 0 }

    package var pid: pid_t? { process?.pid }

    package var log: String { process?.standardError ?? "" }

    /// A URL for players; `path` is a path of Weir's own, or an origin URL with or without a leading slash.
    package func url(_ path: String) -> String {
        base + (path.hasPrefix("/") ? path : "/" + path)
    }

    /// Starts the server and waits until it listens. Does nothing if it is running.
    ///
    /// - Parameter wrapper: a program with arguments that runs the server, such as `strace -f -o FILE`.
    package func start(wrapper: [String] = [], options more: [String] = []) async throws {
        guard process == nil else { return }
        let serve = ["serve", "--listen", "127.0.0.1:0", "--store", store, "--state", state] + options + more
        let line = wrapper + [Repository.builtProgram("weir")] + serve
        let process = try ChildProcess(line[0], Array(line.dropFirst()), environment: environment)
        self.process = process
        base = try await process.line(startingWith: "weir is listening on ")
    }

    /// Kills the server (SIGKILL) and its process group.
    package func kill() async throws {
        process?.send(SIGKILL, group: true)
        _ = try await process?.end()
        process = nil
    }

    /// Ends the server gracefully (SIGTERM) and returns its exit status.
    @discardableResult
    package func terminate(within bound: Duration = .seconds(20)) async throws -> ChildProcess.Exit {
        guard let process else { return .code(0) }
        process.send(SIGTERM)
        self.process = nil
        return try await process.end(within: bound)
    }

    /// Kills the server and starts it again with the same folders.
    package func restart() async throws {
        try await kill()
        try await start()
    }

    /// Runs a command such as `["get", URL]` to its end. `--state` makes it find this server.
    package nonisolated func run(
        _ arguments: [String], environment more: [String: String] = [:], within bound: Duration = .seconds(60)
    ) async throws -> ProcessResult {
        try await ProcessRunner.run(
            Repository.builtProgram("weir"), arguments + ["--state", state],
            environment: environment.merging(more) { $1 }, within: bound)
    }

    /// Starts a command without waiting for its end.
    package nonisolated func begin(
        _ arguments: [String], environment more: [String: String] = [:]
    ) throws -> ChildProcess {
        try ChildProcess(
            Repository.builtProgram("weir"), arguments + ["--state", state],
            environment: environment.merging(more) { $1 })
    }

    /// The server's resident memory in bytes, from `/proc`.
    package func residentMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(pid ?? 0)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }

    /// Hides the user's own configuration from tests. VLC refuses to run as root, and then runs as nobody.
    private nonisolated var environment: [String: String] {
        [
            "WEIR_LISTEN": "", "WEIR_STORE": "", "WEIR_STATE": "", "XDG_CONFIG_HOME": folder.path("config"),
            "XDG_DATA_HOME": folder.path("data"), "XDG_STATE_HOME": folder.path("state-home"), "HOME": folder.path,
            "http_proxy": "", "https_proxy": "", "all_proxy": "", "HTTP_PROXY": "", "HTTPS_PROXY": "", "ALL_PROXY": "",
            "NO_COLOR": "1", "WEIR_USERS": "nobody",
        ]
    }
}
