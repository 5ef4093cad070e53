import Glibc
import TestSupport
import Testing

/// Runs `weir serve` on sockets that a service manager has opened (sd_listen_fds(3)).
@Suite struct InheritedSocketTests {
    /// A service manager that listens, passes the socket on, and restarts the daemon after a signal has ended it.
    ///
    /// - Parameters:
    ///   - host: the address to listen on.
    ///   - setting: a line of Python that changes the passed socket or environment.
    private func manager(host: String = "127.0.0.1", _ setting: String = "pass") -> [String] {
        let script = """
            import os, socket, sys
            listener = socket.create_server(("\(host)", 0))
            while True:
                child = os.fork()
                if child == 0:
                    os.dup2(listener.fileno(), 3)
                    os.set_inheritable(3, True)
                    os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
                    \(setting)
                    os.execvp(sys.argv[1], sys.argv[1:])
                print("child", child, file=sys.stderr, flush=True)
                status = os.waitpid(child, 0)[1]
                if not os.WIFSIGNALED(status): sys.exit(os.WEXITSTATUS(status))
            """
        return ["python3", "-c", script]
    }

    private func children(_ weir: WeirProcess) async -> [pid_t] {
        await weir.log.split(separator: "\n").filter { $0.hasPrefix("child ") }
            .compactMap { $0.split(separator: " ").last.flatMap { pid_t($0) } }
    }

    @Test func requestsDuringARestartAreAnswered() async throws {
        let weir = try await WeirProcess(started: false)
        try await weir.start(wrapper: manager())
        let url = await weir.url("/")
        #expect(try await HTTPProbe.fetch(url).status == 401)
        for round in 1...3 {
            let child = try #require(await children(weir).last)
            kill(child, SIGKILL)
            #expect(try await HTTPProbe.fetch(url).status == 401)
            #expect(await children(weir).count == round + 1)
        }
        // The restarted daemon writes its address again, and commands find it.
        #expect(try await weir.run(["list"]).exit == .code(0))
        try await weir.kill()
    }

    /// The kernel reports the sockets of one network namespace. A daemon in another one cannot ask whose a connection is.
    @Test(.enabled(if: OtherUser.exists)) func withoutUsersEveryoneMayPlayAndTheLogSaysSo() async throws {
        let weir = try await WeirProcess(started: false)
        try await weir.start(wrapper: manager("import ctypes; ctypes.CDLL(None).unshare(0x40000000)"))
        let words = "the kernel does not report the users of connections"
        #expect(await weir.log.contains(words))
        #expect(try await OtherUser.fetch(weir.url("/x.m3u8")).status == 404)
        #expect(try await OtherUser.fetch(weir.url("/api/v1/assets")).status == 401)
        #expect(try await weir.run(["list"]).exit == .code(0))
        try await weir.kill()
        let usual = try await WeirProcess(started: false)
        try await usual.start(wrapper: manager())
        #expect(await !usual.log.contains(words))
        #expect(try await OtherUser.fetch(usual.url("/x.m3u8")).status == 403)
        try await usual.kill()
    }

    @Test func socketsForAnotherProcessAreIgnored() async throws {
        let weir = try await WeirProcess(started: false)
        try await weir.start(wrapper: manager("os.environ['LISTEN_PID'] = '1'"))
        #expect(try await HTTPProbe.fetch(weir.url("/")).status == 401)
        try await weir.kill()
    }

    @Test func aWrongDescriptorExitsWith73AndTheFix() async throws {
        let cases = [
            (manager("os.environ['LISTEN_FDS'] = 'one'"), "LISTEN_FDS is \"one\", not a number of sockets up to 64\n"),
            (manager("os.environ['LISTEN_FDS'] = '65'"), "LISTEN_FDS is \"65\", not a number of sockets up to 64\n"),
            (
                manager("os.dup2(os.open('/dev/null', os.O_RDONLY), 3)"),
                "a socket of the service manager cannot be used: descriptor 3 is not a listening IP socket\n"
            ),
            (manager(host: "0.0.0.0"), "Weir listens on loopback addresses only\n"),
        ]
        for (manager, sentence) in cases {
            let folder = try TemporaryFolder()
            let result = try await ProcessRunner.run(
                manager[0],
                manager.dropFirst() + [
                    Repository.builtProgram("weir"), "serve", "--state", folder.path("state"), "--store",
                    folder.path("store"),
                ], environment: ["XDG_CONFIG_HOME": folder.path])
            #expect(result.exit == .code(73) && result.errors.contains(sentence), "\(result.errors)")
            #expect(result.errors.contains("\ntry: "))
        }
    }
}
