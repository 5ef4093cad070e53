import Control
import Daemon
import Foundation
import TestSupport
import Testing
import WeirAPI

@testable import weir

/// Runs the program without a daemon.
@Suite struct CommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func run(_ arguments: [String], _ environment: [String: String] = [:]) async throws -> ProcessResult {
        let own = [
            "HOME": folder.path, "XDG_CONFIG_HOME": folder.path("config"), "XDG_DATA_HOME": folder.path("data"),
            "XDG_STATE_HOME": folder.path("state"), "WEIR_LISTEN": "", "WEIR_STORE": "", "WEIR_STATE": "",
            "WEIR_CONFIG": "", "WEIR_PLAYER": "",
        ]
        return try await ProcessRunner.run(
            Repository.builtProgram("weir"), arguments, environment: own.merging(environment) { $1 })
    }

    @Test(arguments: [
        ["list"], ["show", "x"], ["show", "http://h/x"], ["get", "http://h/x"], ["url", "x"], ["remove", "x"],
        ["play", "x", "--player", "/bin/true"], ["play", "http://h/x", "--player", "/bin/true"],
    ])
    func withoutADaemonACommandSaysHowToStartIt(arguments: [String]) async throws {
        let result = try await run(arguments)
        #expect(result.exit == .code(69))
        #expect(result.output.isEmpty)
        #expect(result.errors.hasPrefix("weir: no daemon runs with the state directory \(folder.path)/state/weir\n"))
        #expect(result.errors.hasSuffix("\ntry: weir serve\n"))
    }

    @Test func theHintNamesTheStateDirectoryOfTheCommand() async throws {
        let result = try await run(["list", "--state", "/nowhere/a b"])
        #expect(result.errors.hasSuffix("\ntry: weir serve --state '/nowhere/a b'\n"))
    }

    @Test(arguments: [
        ["frob"], ["get"], ["get", "-q", "huge", "http://h/x"], ["list", "--frob"], ["serve", "--listen", "0.0.0.0:1"],
        ["serve", "--max-parallel", "0"], ["get", "http://h/x", "--play", "--json"], ["get", "x", "--audio", "e n"],
        ["get", "x", "--codecs", "avc1,,hvc1"], ["get", "x", "--min-size", "big"],
        ["get", "x", "--min-bitrate", "720p"],
    ])
    func aBadOptionIsAUsageError(arguments: [String]) async throws {
        let result = try await run(arguments)
        #expect(result.exit == .code(64))
        #expect(!result.errors.isEmpty)
    }

    @Test(arguments: [
        (["--fast", "-q", "best"], "the best quality is not the fastest download: give only one of the two"),
        (["-q", "worst", "--min-bitrate", "2M"], "the worst quality has no minimum: give only one of the two"),
        (
            ["-q", "2M", "--min-bitrate", "2M"],
            "the quality 2M is already a minimum bit rate: give only one of the two"
        ),
    ])
    func contradictoryOptionsAreAUsageError(options: [String], sentence: String) async throws {
        for command in ["get", "show"] {
            let result = try await run([command, "http://h/x"] + options)
            #expect(result.exit == .code(64))
            #expect(result.errors.contains(sentence), "\(result.errors)")
        }
    }

    @Test func anUnknownConfigurationKeyIsReportedWithLineAndFix() async throws {
        let path = try folder.write(Data("# mine\nstoer = \"/x\"\n".utf8), to: "config/weir/weir.toml")
        for arguments in [["serve"], ["list"]] {
            let result = try await run(arguments)
            #expect(result.exit == .code(78))
            #expect(
                result.errors == "weir: \(path):2: there is no key \"stoer\"; did you mean \"store\"?\n"
                    + "try: correct the key, or delete the line\n")
        }
    }

    @Test func anUncreatableStateDirectoryEndsServeWith73() async throws {
        let result = try await run(["serve", "--state", "/proc/nowhere"])
        #expect(result.exit == .code(73))
        #expect(result.errors.contains("/proc/nowhere"))
    }

    @Test func getAsJSONEndsWithExactlyOneResult() async throws {
        let result = try await run(["get", "http://h/x", "--json"])
        #expect(result.exit == .code(69))
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix(#"{"v":1,"t":"result","state":"failed","error":{"code":"no-daemon","#) == true)
    }

    @Test func aTargetIsCheckedBeforeTheDownload() async throws {
        let tar = try await run(["get", "http://h/x", "--to", "/nowhere/x.tar"])
        #expect(tar.exit == .code(73) && tar.errors.contains("/nowhere is no folder"), "\(tar)")
        let films = try await run(["get", "http://h/x", "--to", folder.path("Films")])
        #expect(films.exit == .code(73) && films.errors.contains("try: mkdir -p \(folder.path("Films"))"), "\(films)")
        let programs = ["PATH": folder.path]
        let film = try await run(["get", "http://h/x", "--to", folder.path("{title}.mkv")], programs)
        #expect(film.exit == .code(69) && film.errors.contains("ffmpeg, which makes a file of mkv"), "\(film)")
        let whole = try await run(["get", "http://h/x", "--to", folder.path("x.tar")], programs)
        #expect(whole.errors.contains("no daemon runs"), "\(whole)")
    }

    @Test func theURLOfAURLNeedsNoDaemon() async throws {
        #expect(
            try await run(["url", "https://h/m.m3u8?a=1"]).output == "http://localhost:8216/https://h/m.m3u8?a=1\n")
        let listening = ["WEIR_LISTEN": "127.0.0.1:99"]
        #expect(try await run(["url", "https://h/m"], listening).output == "http://localhost:99/https://h/m\n")
    }

    @Test func aStaleDaemonFileIsIgnored() async throws {
        let claim = try StateDirectory(folder.path("state/weir")).claim()
        try claim.publish(url: "http://127.0.0.1:1")
        let result = try await run(["list"])
        #expect(result.exit == .code(69))
        #expect(result.errors.hasSuffix("\ntry: weir serve\n"))
    }

    @Test func aMissingPlayerIsNamed() async throws {
        let failure = #expect(throws: CommandFailure.self) { try Player.find("no-such", environment: ["PATH": "/bin"]) }
        #expect(failure?.message == "the player no-such is not installed")
        let none = #expect(throws: CommandFailure.self) {
            try Player.find("", environment: ["PATH": folder.path("none")])
        }
        #expect(none?.message == "no player is installed: none of mpv, vlc, ffplay")
        let found = try folder.write(Data(), to: "bin/vlc")
        chmod(found, 0o755)
        let path = folder.path("none") + ":" + folder.path("bin")
        #expect(try Player.find("", environment: ["PATH": path]) == Player(path: found))
    }

    @Test func theVersionIsTheProductsVersion() async throws {
        let version = try await run(["--version"]).output
        #expect(version.hasPrefix("weir \(Application.version)"))
        for library in ["\nlibcurl 7.", ", libevent 2.", ", SQLite 3."] {
            #expect(version.contains(library))
        }
    }
}
