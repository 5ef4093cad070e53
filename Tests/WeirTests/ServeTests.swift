import Control
import TestSupport
import Testing
import WeirAPI

/// Start and stop of `weir serve`.
@Suite struct ServeTests {
    @Test func commandsFindTheDaemonWhileItRuns() async throws {
        let weir = try await WeirProcess()
        #expect(StateDirectory(weir.state).daemonURL == (await weir.address))
        #expect(try await weir.run(["list"]).exit == .code(0))
        #expect(try await weir.terminate() == .code(0))
        #expect(StateDirectory(weir.state).daemonURL == nil)
        #expect(try await weir.run(["list"]).exit == .code(69))
    }

    @Test func afterAKillTheNextDaemonTakesOver() async throws {
        let weir = try await WeirProcess()
        try await weir.kill()
        #expect(try await weir.run(["list"]).exit == .code(69))
        try await weir.start()
        #expect(try await weir.run(["list"]).exit == .code(0))
        try await weir.terminate()
    }

    @Test func aPortInUseExitsWith73AndTheFix() async throws {
        let weir = try await WeirProcess()
        let folder = try TemporaryFolder()
        let port = await weir.port
        let result = try await ProcessRunner.run(
            Repository.builtProgram("weir"),
            [
                "serve", "--listen", "127.0.0.1:\(port)", "--state", folder.path("state"), "--store",
                folder.path("store"),
            ],
            environment: ["XDG_CONFIG_HOME": folder.path])
        #expect(result.exit == .code(73))
        #expect(result.errors.hasPrefix("weir: another program uses port \(port) of 127.0.0.1\ntry: "))
        #expect(result.errors.hasSuffix("weir serve --listen 127.0.0.1:0\n"))
        try await weir.terminate()
    }

    @Test func aSecondDaemonOfTheSameStateNamesTheFirst() async throws {
        let weir = try await WeirProcess()
        let result = try await weir.run(["serve", "--listen", "127.0.0.1:0", "--store", weir.store])
        #expect(result.exit == .code(73))
        #expect(result.errors.contains("and listens on \(await weir.address)\n"))
        try await weir.terminate()
    }
}
