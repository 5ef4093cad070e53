import Foundation
import Glibc
import TestSupport
import Testing

/// The port of a user whose machine has another user at the usual one. The test's usual port is one that it has remembered.
@Suite("The port of a second user") struct OwnPortTests {
    private let folder: TemporaryFolder
    private var state: String { folder.path("state") }

    init() throws { folder = try TemporaryFolder() }

    private var environment: [String: String] {
        [
            "HOME": folder.path, "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": "", "XDG_STATE_HOME": "",
            "XDG_RUNTIME_DIR": "",
            "WEIR_STATE": state, "WEIR_STORE": folder.path("store"), "WEIR_LISTEN": "", "WEIR_START": "false",
            "LC_ALL": "C",
        ]
    }

    private func run(_ arguments: [String]) async throws -> ProcessResult {
        try await ProcessRunner.run(Repository.builtProgram("weir"), arguments, environment: environment)
    }

    /// Starts a program that listens on a loopback address, and returns it with its port.
    private func listener(_ wrapper: [String]) async throws -> (process: ChildProcess, port: String) {
        let script = """
            import socket, time
            listener = socket.create_server(("127.0.0.1", 0))
            print("port", listener.getsockname()[1], flush=True)
            time.sleep(600)
            """
        let line = wrapper + ["python3", "-I", "-c", script]
        let process = try ChildProcess(line[0], Array(line.dropFirst()))
        return (process, try await process.line(startingWith: "port "))
    }

    private func remember(_ port: String) throws {
        try FileManager.default.createDirectory(
            atPath: state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try Data("\(port)\n".utf8).write(to: URL(fileURLWithPath: state + "/port"))
    }

    private var remembered: String {
        get throws {
            try String(contentsOfFile: state + "/port", encoding: .utf8).trimmingCharacters(in: .newlines)
        }
    }

    /// Runs the daemon at its default address, and returns the port of its URL.
    private func served(_ body: (String) async throws -> Void) async throws {
        let daemon = try ChildProcess(Repository.builtProgram("weir"), ["serve"], environment: environment)
        let url = try await daemon.line(startingWith: "weir is listening on http://127.0.0.1:")
        try await body(url)
        daemon.send(SIGTERM)
        #expect(try await daemon.end() == .code(0))
    }

    @Test("is a free one, which the commands and later daemons know", .enabled(if: OtherUser.exists))
    func isChosenAndRemembered() async throws {
        let (other, taken) = try await listener(OtherUser.wrapper)
        try remember(taken)
        var chosen = ""
        try await served { port in
            chosen = port
            #expect(port != taken && (8217...8316).contains(Int(port) ?? 0))
            #expect(try remembered == port)
            let url = try await run(["url", "https://h/m.m3u8"])
            #expect(url.output == "http://localhost:\(port)/https://h/m.m3u8\n", "\(url)")
        }
        other.send(SIGKILL)
        _ = try await other.end()
        // Without a daemon, and although the other one is free again.
        #expect(try await run(["url", "https://h/m.m3u8"]).output == "http://localhost:\(chosen)/https://h/m.m3u8\n")
        try await served { #expect($0 == chosen) }
    }

    @Test("is not chosen where another program of the same user has the address")
    func sameUser() async throws {
        let (other, taken) = try await listener([])
        try remember(taken)
        let refused = try await run(["serve"])
        #expect(
            refused.exit == .code(73) && refused.errors.contains("another program uses port \(taken)"), "\(refused)")
        #expect(try remembered == taken)
        other.send(SIGKILL)
        _ = try await other.end()
    }

    @Test("is that of systemd's socket unit, as are configured addresses")
    func socketUnit() async throws {
        let file = folder.path("units/weir.socket.d/address.conf")
        try remember("23456")
        #expect(try await run(["socket-setup", folder.path("units")]).exit == .code(0))
        #expect(
            try String(contentsOfFile: file, encoding: .utf8)
                == "[Socket]\nListenStream=\nListenStream=127.0.0.1:23456\nListenStream=[::1]:23456\n")
        let configured = ["socket-setup", folder.path("units"), "--listen", "127.0.0.2:9"]
        #expect(try await run(configured).exit == .code(0))
        #expect(
            try String(contentsOfFile: file, encoding: .utf8) == "[Socket]\nListenStream=\nListenStream=127.0.0.2:9\n")
        // Nothing is written where the unit has the address already.
        let usual = ["socket-setup", folder.path("none"), "--listen", "127.0.0.1:8216", "--listen", "[::1]:8216"]
        #expect(try await run(usual).exit == .code(0))
        #expect(!FileManager.default.fileExists(atPath: folder.path("none")))
    }

    @Test("is served through a socket of the service manager")
    func inheritedSocket() async throws {
        let (probe, port) = try await listener([])
        probe.send(SIGKILL)
        _ = try await probe.end()
        let words = ["--listen=127.0.0.1:\(port)", "--setenv=HOME", "--setenv=WEIR_STATE", "--setenv=WEIR_STORE"]
        let activate = try ChildProcess(
            "systemd-socket-activate", words + [Repository.builtProgram("weir"), "serve"], environment: environment)
        try await waitUntil("an answer") {
            (try? await HTTPProbe.fetch("http://127.0.0.1:\(port)/metrics").status) == 200
        }
        #expect(try await run(["url", "https://h/m.m3u8"]).output == "http://localhost:\(port)/https://h/m.m3u8\n")
        activate.send(SIGTERM)
        _ = try await activate.end()
    }
}
