import Foundation
import Glibc
import TestSupport
import Testing

/// The way of the commands to the daemon: a Unix socket first, then a listener that is not another user's.
@Suite("The commands' way to the daemon")
struct CommandWayTests {
    private func socket(_ weir: WeirProcess) -> String { weir.state + "/socket" }

    private func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    @Test("is the socket in the state folder, without the network")
    func usesSocket() async throws {
        let weir = try await WeirProcess()
        var status = stat()
        #expect(lstat(socket(weir), &status) == 0 && status.st_mode & 0o777 == 0o600)
        // Nothing listens at this address.
        try Data("http://127.0.0.1:9\n".utf8).write(to: URL(fileURLWithPath: weir.state + "/listening"))
        for command in [["list"], ["mode"], ["mode", "offline"], ["log"], ["page"]] {
            let result = try await weir.run(command)
            #expect(result.exit == .code(0), "\(command): \(result)")
        }
        let events = try weir.begin(["events", "--json"])
        try await waitUntil("a snapshot") { events.standardOutput.contains("snapshot") }
        events.send(SIGINT)
        try await weir.terminate()
        #expect(!exists(socket(weir)))
    }

    @Test("is the network for a daemon without a socket, and a stale socket is replaced")
    func fallsBack() async throws {
        let weir = try await WeirProcess()
        // A second daemon is refused, and leaves the first one's socket alone.
        let second = try await ProcessRunner.run(
            Repository.builtProgram("weir"),
            ["serve", "--listen", "127.0.0.1:0", "--state", weir.state, "--store", weir.store + "-2"])
        #expect(second.exit == .code(73) && exists(socket(weir)), "\(second)")
        #expect(try await weir.run(["list"]).exit == .code(0))
        try await weir.kill()
        #expect(exists(socket(weir)))
        let dead = try await weir.run(["list"])
        #expect(dead.exit == .code(69) && dead.errors.contains("try: weir serve"), "\(dead)")
        try await weir.start()
        #expect(try await weir.run(["list"]).exit == .code(0))
        unlink(socket(weir))
        #expect(try await weir.run(["list"]).exit == .code(0))
        try await weir.terminate()
    }

    @Test("is the network if the folder's path is too long for a socket")
    func copesWithLongPath() async throws {
        let folder = try TemporaryFolder()
        let state = folder.path(String(repeating: "a-long-name/", count: 9) + "state")
        let serve = ["serve", "--listen", "127.0.0.1:0", "--state", state, "--store", folder.path("store")]
        let daemon = try ChildProcess(Repository.builtProgram("weir"), serve, environment: ["HOME": folder.path])
        _ = try await daemon.line(startingWith: "weir is listening on ")
        let list = try await ProcessRunner.run(
            Repository.builtProgram("weir"), ["list", "--state", state], environment: ["HOME": folder.path])
        #expect(list.exit == .code(0) && !exists(state + "/socket"), "\(list)")
        daemon.send(SIGTERM)
        #expect(try await daemon.end() == .code(0))
        #expect(!daemon.standardError.contains("warning"), "\(daemon.standardError)")
    }

    /// Listens as another user: on a free port, or on the Unix socket in its second argument. Prints the port, then each byte
    /// that it receives.
    private static let thief = """
        import os, socket, sys
        path = sys.argv[1] if len(sys.argv) > 1 else None
        # A TCP socket belongs to the user who creates it, a Unix socket to the one who listens.
        if path:
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(path)
        os.setresgid(1, 1, 1)
        os.setresuid(1, 1, 1)
        if not path:
            listener = socket.socket()
            listener.bind(("127.0.0.1", 0))
        listener.listen(5)
        print("port", 0 if path else listener.getsockname()[1], flush=True)
        while True:
            peer = listener.accept()[0]
            print("got", peer.recv(4096), flush=True)
        """

    @Test(
        "is closed if another user listens in the daemon's place", .enabled(if: OtherUser.exists),
        arguments: [true, false])
    func refusesAnotherUser(isSocket: Bool) async throws {
        let weir = try await WeirProcess()
        #expect(try await weir.run(["list"]).exit == .code(0))
        try await weir.kill()
        unlink(socket(weir))
        let thief = try ChildProcess("python3", ["-I", "-c", Self.thief] + (isSocket ? [socket(weir)] : []))
        let port = try await thief.line(startingWith: "port ")
        if !isSocket {
            let record = Data("http://127.0.0.1:\(port)\n".utf8)
            try record.write(to: URL(fileURLWithPath: weir.state + "/listening"))
        }
        for command in [["list"], ["get", "http://127.0.0.1:9/x.m3u8"], ["events"], ["page"], ["mode", "offline"]] {
            let result = try await weir.run(command)
            #expect(result.exit == .code(77), "\(command): \(result)")
            #expect(result.errors.contains("belongs to the user daemon, so the token was not sent"), "\(result)")
        }
        // A command connects to a socket to see whose it is, and sends nothing.
        let token = try String(contentsOfFile: weir.state + "/token", encoding: .utf8).prefix(43)
        #expect(!thief.standardOutput.contains(token) && !thief.standardOutput.contains("Bearer"))
        thief.send(SIGKILL)
    }

    @Test(
        "leads root to a service whose folder belongs to nobody, where only root can have let it in",
        .enabled(if: OtherUser.exists), arguments: [true, false])
    func servesRootByAMappedFolder(isShut: Bool) async throws {
        let folder = try TemporaryFolder()
        mkdir(folder.path("private"), isShut ? 0o700 : 0o711)
        chmod(folder.path, isShut ? 0o700 : 0o711)
        let state = folder.path("private/state")
        mkdir(state, 0o700)
        let token = String(repeating: "a", count: 43)
        for (name, line) in [("token", token), ("listening", "http://127.0.0.1:9")] {
            try Data("\(line)\n".utf8).write(to: URL(fileURLWithPath: "\(state)/\(name)"))
            chmod("\(state)/\(name)", 0o600)
        }
        let service = try ChildProcess("python3", ["-I", "-c", Self.thief, state + "/socket"])
        _ = try await service.line(startingWith: "port ")
        chown(state, 65_534, 65_534)
        let list = try ChildProcess(Repository.builtProgram("weir"), ["list", "--no-start", "--state", state])
        if isShut {
            // The program that stands for the service answers nothing.
            let got = try await service.line(startingWith: "got b'GET")
            #expect(got.contains("Bearer \(token)"), "\(got)")
            list.send(SIGKILL)
        } else {
            #expect(try await list.end() == .code(77))
            #expect(list.standardError.contains("so the token was not sent"), "\(list.standardError)")
        }
        service.send(SIGKILL)
    }

    @Test("leads root to another user's daemon", .enabled(if: OtherUser.exists))
    func servesRoot() async throws {
        let folder = try TemporaryFolder()
        chmod(folder.path, 0o711)
        for name in ["state", "store"] {
            mkdir(folder.path(name), 0o700)
            chown(folder.path(name), OtherUser.number, OtherUser.number)
        }
        let state = folder.path("state")
        let program = folder.path("weir")
        // The build folder need not be readable by all.
        try FileManager.default.copyItem(atPath: Repository.builtProgram("weir"), toPath: program)
        chmod(program, 0o755)
        let serve = ["serve", "--listen", "127.0.0.1:0", "--state", state, "--store", folder.path("store")]
        let line = OtherUser.wrapper + [program] + serve
        let daemon = try ChildProcess(line[0], Array(line.dropFirst()), environment: ["HOME": folder.path])
        _ = try await daemon.line(startingWith: "weir is listening on ")
        for _ in 0..<2 {
            let list = try await ProcessRunner.run(
                program, ["list", "--state", state], environment: ["HOME": folder.path])
            #expect(list.exit == .code(0), "\(list)")
            unlink(state + "/socket")
        }
        daemon.send(SIGTERM)
        #expect(try await daemon.end() == .code(0))
    }
}
