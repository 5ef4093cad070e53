import Control
import Foundation
import Glibc
import TestSupport
import Testing
import WeirAPI

/// Runs commands where no daemon runs. Each daemon that they start is ended, or ends by itself after a minute.
@Suite struct DaemonStartTests {
    private let folder: TemporaryFolder
    private var state: StateDirectory { StateDirectory(folder.path("state")) }

    init() throws { folder = try TemporaryFolder() }

    private var environment: [String: String] {
        [
            "HOME": folder.path, "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": "", "XDG_STATE_HOME": "",
            "XDG_RUNTIME_DIR": "",
            "WEIR_STATE": state.path, "WEIR_STORE": folder.path("store"), "WEIR_LISTEN": "127.0.0.1:0",
            "WEIR_START": "", "WEIR_IDLE_EXIT": "1m", "LC_ALL": "C",
        ]
    }

    private func run(_ arguments: [String], _ more: [String: String] = [:]) async throws -> ProcessResult {
        try await ProcessRunner.run(
            Repository.builtProgram("weir"), arguments, environment: environment.merging(more) { $1 })
    }

    /// Runs a body, and ends the daemon, however the body ends.
    private func withDaemon(_ body: () async throws -> Void) async throws {
        do { try await body() } catch {
            _ = try await run(["stop"])
            throw error
        }
        _ = try await run(["stop"])
        #expect(!state.isClaimed)
    }

    private let line = "weir: started the daemon, which ends after 1m without work, or with: weir stop\n"

    @Test("the first command starts the daemon, and the next ones use it")
    func theFirstCommandStartsItAndTheNextOnesUseIt() async throws {
        try await withDaemon {
            let first = try await run(["list"])
            #expect(first.exit == .code(0) && first.errors.hasPrefix(line), "\(first)")
            let second = try await run(["mode"])
            #expect(second.exit == .code(0) && second.output == "auto\n" && second.errors.isEmpty, "\(second)")
            let address = try #require(state.daemonURL)
            // The URL is that of the daemon, on whichever port.
            let url = try await run(["url", "https://h/m.m3u8"]).output
            #expect(url == PlayerURL(base: address).origin(url: "https://h/m.m3u8") + "\n")
            let record = try #require(state.daemon)
            #expect(record.idleExit == 60 && record.process == state.daemonProcess)
            // A session of its own: Ctrl-C at the terminal does not reach it.
            #expect(getsid(record.process) == record.process)
            let link = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(record.process)/cwd")
            #expect(link == "/")
            let status = try await run(["status"]).output
            #expect(status.hasPrefix("daemon     runs at \(address), version 0.2.0, process \(record.process), since "))
            #expect(status.contains("\nmode       auto\nstore      \(folder.path("store")): 0 assets, 0 B\nfree  "))
            #expect(status.hasSuffix("\nplays      nothing\ndownloads  nothing\nends       after 1m without work\n"))
            let json = try await run(["status", "--json"]).output
            let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
            #expect(object["running"] as? Bool == true && object["idleExit"] as? Int == 60)
            let stop = try await run(["stop"])
            #expect(stop.exit == .code(0) && stop.output == "stopped the daemon\n" && stop.errors.isEmpty)
            #expect(!state.isClaimed && state.daemon == nil)
            let log = try String(contentsOfFile: state.path + "/daemon.log", encoding: .utf8)
            #expect(
                log.contains("weir is listening on \(address)\n") && log.contains("stopping on signal 15"), "\(log)")
        }
    }

    @Test func commandsAtTheSameTimeStartOne() async throws {
        try await withDaemon {
            let results = try await withThrowingTaskGroup(of: ProcessResult.self) { group in
                for _ in 0..<4 {
                    group.addTask { try await run(["mode"]) }
                }
                return try await group.reduce(into: [ProcessResult]()) { $0.append($1) }
            }
            #expect(results.allSatisfy { $0.exit == .code(0) && $0.output == "auto\n" }, "\(results)")
            #expect(results.map(\.errors).filter { !$0.isEmpty } == [line])
        }
    }

    @Test("a daemon that a command started ends after a time without work") func itEndsAfterATimeWithoutWork()
        async throws
    {
        let result = try await run(["mode"], ["WEIR_IDLE_EXIT": "1s"])
        #expect(result.exit == .code(0), "\(result)")
        try await waitUntil("the end of the daemon", within: .seconds(30)) { !state.isClaimed }
        let log = try String(contentsOfFile: state.path + "/daemon.log", encoding: .utf8)
        #expect(log.contains("stopping after 1s without work"), "\(log)")
    }

    @Test func anOpenConnectionIsWork() async throws {
        try await withDaemon {
            let events = try ChildProcess(
                Repository.builtProgram("weir"), ["events"],
                environment: environment.merging(["WEIR_IDLE_EXIT": "1s"]) { $1 })
            try await waitUntil("the daemon") { state.isServed }
            let begun = ContinuousClock.now
            try await waitUntil("three limits", within: .seconds(10)) { .now - begun > .seconds(3) }
            #expect(state.isServed && events.exit == nil)
            events.send(SIGINT)
            #expect(try await events.end() == .code(130))
            try await waitUntil("the end of the daemon", within: .seconds(30)) { !state.isClaimed }
        }
    }

    @Test func aFailureShowsTheEndOfTheLog() async throws {
        let listener = try Listener()
        let result = try await run(["list"], ["WEIR_LISTEN": "127.0.0.1:\(listener.port)"])
        #expect(result.exit == .code(69) && result.output.isEmpty, "\(result)")
        #expect(result.errors.contains("log: weir: another program uses port \(listener.port) of 127.0.0.1\n"))
        let words = "weir: the daemon was started, and ended with exit code 73; its log is \(state.path)/daemon.log\n"
        #expect(result.errors.hasSuffix(words + "try: weir doctor\n"), "\(result.errors)")
        #expect(!state.isClaimed)
    }

    @Test(
        "a user can forbid that commands start a daemon",
        arguments: [(["list", "--no-start"], ""), (["list"], "false")])
    func aUserCanForbidIt(arguments: [String], variable: String) async throws {
        let result = try await run(arguments, ["WEIR_START": variable])
        #expect(result.exit == .code(69) && result.errors.hasSuffix("\ntry: weir serve\n"), "\(result)")
        #expect(!state.isClaimed)
    }

    @Test func commandsThatOnlyLookStartNone() async throws {
        let status = try await run(["status"])
        #expect(status.exit == .code(0) && status.errors.isEmpty, "\(status)")
        #expect(status.output.hasPrefix("daemon   does not run; a command that needs it starts it\nversion  0."))
        #expect(status.output.contains("\nstore    \(folder.path("store"))\nfree     "))
        let stop = try await run(["stop"])
        #expect(stop.exit == .code(0) && stop.output.isEmpty)
        #expect(stop.errors == "weir: no daemon runs with the state directory \(state.path)\n")
        #expect(try await run(["url", "https://h/m", "--check"]).exit == .code(69))
        #expect(!FileManager.default.fileExists(atPath: state.path + "/lock"))
    }

    // MARK: systemd

    /// A `systemctl` that starts the daemon as the user's service manager would, and notes its arguments.
    private func systemd(enabled: String) throws -> [String: String] {
        let script = """
            #!/bin/sh
            echo "$@" >>"$HOME/calls"
            case "$2 $4" in
            "is-enabled \(enabled)") exit 0 ;;
            is-enabled*|is-active*) exit 1 ;;
            "start ") env -u WEIR_STATE setsid weir serve --listen 127.0.0.1:0 --idle-exit 1m >"$HOME/service" 2>&1 & ;;
            esac
            """
        chmod(try folder.write(Data(script.utf8), to: "bin/systemctl"), 0o755)
        try folder.write(Data(), to: "run/systemd/private")
        let programs = (Repository.builtProgram("weir") as NSString).deletingLastPathComponent
        return [
            "PATH": "\(folder.path("bin")):\(programs):/usr/bin:/bin", "XDG_RUNTIME_DIR": folder.path("run"),
            "WEIR_STATE": "", "WEIR_STORE": "", "WEIR_LISTEN": "",
        ]
    }

    @Test(arguments: ["weir.socket", "weir.service"])
    func anEnabledUnitIsStartedBySystemd(unit: String) async throws {
        let variables = try systemd(enabled: unit)
        let result = try await run(["mode"], variables)
        #expect(result.exit == .code(0) && result.output == "auto\n", "\(result)")
        #expect(result.errors == "weir: started the daemon as a service: systemctl --user status weir\n")
        let calls = try String(contentsOfFile: folder.path("calls"), encoding: .utf8)
        #expect(calls.hasSuffix("--user start weir.service\n"), "\(calls)")
        #expect(try await run(["stop"], variables).output == "stopped the daemon\n")
    }

    @Test func otherSettingsThanTheServicesNeedADaemonOfTheirOwn() async throws {
        let variables = try systemd(enabled: "weir.socket")
        let own = ["mode", "--state", state.path, "--store", folder.path("store"), "--listen", "127.0.0.1:0"]
        let result = try await run(own, variables)
        #expect(result.exit == .code(0) && result.errors == line, "\(result)")
        #expect(try await run(["stop", "--state", state.path], variables).output == "stopped the daemon\n")
        #expect(!FileManager.default.fileExists(atPath: folder.path("calls")))
    }

    // MARK: A daemon that runs

    @Test func aDaemonThatDoesNotAnswerIsReportedAfterThreeSeconds() async throws {
        let weir = try await WeirProcess()
        let process = try #require(await weir.pid)
        kill(process, SIGSTOP)
        let list = try weir.begin(["list"])
        let words =
            "weir: the daemon (process \(process)) has not answered for 3 s; still waiting. To end it: weir stop\n"
        try await waitUntil("the notice", within: .seconds(10)) { list.standardError == words }
        let status = try await weir.run(["status"])
        #expect(status.exit == .code(75) && status.output.hasPrefix("daemon  runs at "), "\(status)")
        #expect(status.errors == "weir: the daemon has not answered for 3 s\ntry: weir stop\n")
        kill(process, SIGCONT)
        #expect(try await list.end() == .code(0))
        #expect(list.standardError.hasPrefix(words))
        try await weir.terminate()
    }

    @Test func aStoreThatTheDaemonDoesNotHaveIsRefused() async throws {
        let weir = try await WeirProcess()
        let other = folder.path("other")
        for words in [["list"], ["status"], ["stop"], ["show", "film"], ["get", "https://h/m.m3u8"], ["watch"]] {
            let result = try await weir.run(words + ["--store", other])
            #expect(result.exit == .code(64) && result.output.isEmpty, "\(words): \(result)")
            #expect(
                result.errors == """
                    weir: --store: the running daemon has the store \(weir.store), not \(other)
                    try: leave --store out; or weir stop, and repeat; or a second daemon: --state DIR --listen 127.0.0.1:0

                    """)
        }
        let notice = try await weir.run(["list"], environment: ["WEIR_STORE": other])
        #expect(
            notice.exit == .code(0)
                && notice.errors.hasPrefix("weir: the daemon has the store \(weir.store), whatever WEIR_STORE says"))
        // Another path of the same folder is no other store.
        let link = folder.path("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: weir.store)
        for same in [weir.store, weir.store + "/", link] {
            #expect(try await weir.run(["list", "--store", same]).exit == .code(0))
        }
        #expect(try await weir.terminate() == .code(0))
    }

    @Test func anOlderDaemonIsNamed() async throws {
        let daemon = try await ScriptedDaemon(state: state.path)
        #expect(try await run(["mode"]).errors.isEmpty)
        let record = DaemonRecord(version: "0.0.9", process: 1, started: 0)
        try state.writeFile("daemon", String(decoding: API.encode(record), as: UTF8.self))
        let result = try await run(["mode"])
        #expect(result.exit == .code(0) && result.output == "auto\n")
        #expect(
            result.errors.hasPrefix(
                "weir: the daemon has version 0.0.9, this command 0.2.0; to end the old one: weir stop"))
        await daemon.stop()
    }

    @Test func onATerminalServeNamesTheNextCommands() async throws {
        let weir = Repository.builtProgram("weir")
        let terminal = try ChildProcess(
            "script", ["-qec", "\(weir) serve", folder.path("typescript")], environment: environment)
        // A terminal ends lines with CR LF.
        try await waitUntil("the next commands", within: .seconds(30)) {
            terminal.standardOutput.contains("  weir page --open ")
        }
        let port = try #require(state.daemonURL?.split(separator: ":").last)
        #expect(terminal.standardOutput.contains("  mpv http://localhost:\(port)/https://example.com/master.m3u8 "))
        #expect(try await run(["stop"]).output == "stopped the daemon\n")
        _ = try await terminal.end()
    }
}

/// A socket that takes a port.
private final class Listener {
    let port: UInt16
    private let descriptor: Int32

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, size) == 0 && listen(descriptor, 1) == 0
                    && getsockname(descriptor, pointer, &size) == 0
            }
        }
        guard code else { throw SystemCallError("listen") }
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }
}
