import Foundation
import Glibc
import TestSupport
import Testing

@testable import weir

/// Players as `weir play` starts them.
@Suite struct PlayerTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func program(_ name: String, _ script: String) throws -> String {
        let path = try folder.write(Data("#!/bin/sh\n\(script)\n".utf8), to: name)
        try #require(chmod(path, 0o755) == 0)
        return path
    }

    @Test(arguments: [
        ("mpv", ["--start=750.5"]), ("vlc", ["--start-time=750.5"]), ("cvlc", ["--start-time=750.5"]),
        ("ffplay", ["-ss", "750.5"]),
    ])
    func beginAtATime(name: String, options: [String]) throws {
        #expect(try Player(path: "/usr/bin/" + name).options(start: 750.5) == options)
    }

    @Test(arguments: [
        ("mpv", ["--slang=en,de"]), ("vlc", ["--sub-language=en,de"]), ("ffplay", []), ("xine", []),
    ])
    func subtitlesThatWereAskedForAreShown(name: String, options: [String]) {
        #expect(Player(path: "/usr/bin/" + name).options(subtitles: ["en", "de"]) == options)
        #expect(Player(path: "/usr/bin/" + name).options(subtitles: []).isEmpty)
    }

    @Test func anUnknownPlayerBeginsWhereItWants() {
        let failure = #expect(throws: CommandFailure.self) { try Player(path: "/usr/bin/xine").options(start: 1) }
        #expect(failure?.exitCode == 64 && failure?.message.contains("xine") ?? false)
    }

    @Test func onlyMPVRunsTheScriptThatIsInstalledBesideTheProgram() throws {
        let weir = folder.path("bin/weir")
        let home = ["HOME": folder.path("home"), "XDG_CONFIG_HOME": folder.path("home/settings")]
        #expect(PlayerScript.find(program: weir, environment: home) == nil)
        let path = try folder.write(Data(), to: "share/weir/weir.lua")
        let script = PlayerScript.find(program: weir, environment: home)
        #expect(script == PlayerScript(path: path, program: weir))
        let options = [
            "--script=\(path)", "--script-opts-append=weir-program=\(weir)", "--script-opts-append=weir-patience=5",
            "--script-opts-append=weir-state=/s",
        ]
        #expect(Player(path: "/usr/bin/mpv").options(script: script, state: "/s") == options)
        #expect(Player(path: "/usr/bin/mpv").options(script: nil, state: "/s").isEmpty)
        #expect(Player(path: "/usr/bin/vlc").options(script: script, state: "/s").isEmpty)
        // mpv would run it twice.
        try folder.write(Data(), to: "home/settings/mpv/scripts/weir.lua")
        #expect(PlayerScript.find(program: weir, environment: home) == nil)
    }

    @Test(arguments: [("exit 0", nil), ("exit 3", 1), ("exit 77", 1), ("kill -TERM $$", 143)] as [(String, Int32?)])
    func itsExitCodeIsNotWeirs(script: String, code: Int32?) async throws {
        let player = Player(path: try program("player", script))
        var failure: CommandFailure?
        do {
            try await player.play([])
        } catch {
            failure = error as? CommandFailure
        }
        #expect(failure?.exitCode == code, "\(String(describing: failure))")
    }
}
