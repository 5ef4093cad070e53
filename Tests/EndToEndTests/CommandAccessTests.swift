import Foundation
import TestSupport
import Testing

/// File access of commands: the daemon's address and token suffice for every command, and its record for what is said about it.
@Suite("The commands and the daemon's files")
struct CommandAccessTests {
    @Test(
        "commands read only the address, the port, the token and the record of the daemon, never the store or other state"
    )
    func readsOnlyAddressTokenAndRecord() async throws {
        try await Scene.with { scene in
            let place = try TemporaryFolder()
            let master = scene.origin.master("ts")
            let link = scene.origin.master("cmaf")
            let film = Repository.path("fixtures/media/audio")
            let commands = [
                ["get", master, "-q", "worst"], ["add", link, "-q", "worst"], ["pause", "cmaf"], ["resume", "cmaf"],
                ["get", "cmaf"], ["list"], ["list", "--json"], ["show", "ts"], ["show", link, "--explain"],
                ["url", "ts"],
                ["url", "ts", "--check"], ["play", "ts", "--player", "true"], ["page"], ["mode"], ["policy", "ts"],
                ["policy", "ts", "--priority", "important"], ["keys", "ts"], ["rename", "ts", "film"],
                ["verify", "film"],
                ["export", "film", place.path("export")], ["publish", "film", place.path("site")],
                ["import", film, "--name", "other"], ["move", "film", place.path("volume")],
                ["move", "film", "--home"],
                ["log"], ["log", "--errors"], ["log", "--kpi"], ["cancel", "--all"], ["remove", "other", "--yes"],
            ]
            for (number, command) in commands.enumerated() {
                let trace = place.path("trace-\(number)")
                let run = try await ProcessRunner.run(
                    "strace",
                    ["-f", "-qq", "-o", trace, "-e", "trace=%file", Repository.builtProgram("weir")] + command
                        + ["--state", scene.weir.state],
                    environment: [
                        "HOME": place.path("home"), "WEIR_STORE": scene.weir.store, "WEIR_LISTEN": "",
                        "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": "", "XDG_DATA_HOME": "", "TERM": "dumb",
                    ])
                #expect(run.exit == .code(0), "\(command): \(run.errors)")
                let calls = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
                #expect(calls.contains { $0.contains(scene.weir.state + "/token") || command.contains("--check") })
                #expect(!calls.contains { $0.contains(scene.weir.store) }, "\(command)")
                let state = calls.filter { $0.contains(scene.weir.state) }
                let names = ["/token\"", "/listening\"", "/daemon\"", "/port\"", "\"\(scene.weir.state)\""]
                let others = state.filter { call in !names.contains { call.contains($0) } }
                #expect(others.allSatisfy { $0.contains("execve(") }, "\(command): \(others)")
            }
        }
    }
}
