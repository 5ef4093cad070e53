import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import weir

/// The failures of commands with `--json`: command line, last line of standard output.
@Suite("A failure with --json") struct JSONFailureTests {
    private struct Result: Decodable, Equatable {
        struct Failure: Decodable, Equatable {
            let code: String
            let message: String
            let next: String?
        }

        let t: String
        let error: Failure?
        let exit: Int32
    }

    /// The command lines, without `--json`, the exit code, and the code of the error.
    private static let cases: [(words: [String], exit: Int32, code: String)] = [
        (["list"], 69, "no-daemon"), (["show", "x"], 69, "no-daemon"), (["get", "http://h/x"], 69, "no-daemon"),
        (["add", "http://h/x"], 69, "no-daemon"), (["verify", "x"], 69, "no-daemon"),
        (["export", "x", "/nowhere/x.mkv"], 69, "no-daemon"), (["import", "/nowhere"], 69, "no-daemon"),
        (["publish", "x", "/nowhere"], 69, "no-daemon"), (["move", "x", "/nowhere"], 69, "no-daemon"),
        (["policy", "x"], 69, "no-daemon"), (["keys", "x"], 69, "no-daemon"), (["update", "x"], 69, "no-daemon"),
        (["limit"], 69, "no-daemon"), (["mode"], 69, "no-daemon"), (["record"], 69, "no-daemon"),
        (["events"], 69, "no-daemon"), (["page", "--phones"], 69, "no-daemon"),
        (["cache", "x", "--seconds", "9"], 69, "no-daemon"),
        (["import", "film.mkv"], 69, "no-daemon"), (["check", "/nowhere/x.m3u8"], 66, "no-such-file"),
        (["list", "--bogus"], 64, "usage"), (["get"], 64, "usage"), (["lst"], 64, "usage"),
        (["get", "x", "--wait"], 64, "usage"), (["config", "show", "--config", "/nowhere"], 78, "configuration"),
    ]

    @Test("is a result with the error and the exit code", arguments: cases.indices)
    func isAResult(index: Int) async throws {
        let example = Self.cases[index]
        let folder = try TemporaryFolder()
        let environment = [
            "HOME": folder.path, "XDG_CONFIG_HOME": folder.path, "XDG_DATA_HOME": folder.path,
            "XDG_STATE_HOME": folder.path, "WEIR_LISTEN": "", "WEIR_STORE": "", "WEIR_STATE": "", "WEIR_CONFIG": "",
        ]
        let done = try await ProcessRunner.run(
            Repository.builtProgram("weir"), example.words + ["--json"], environment: environment)
        #expect(done.exit == .code(example.exit), "\(done.errors)")
        let lines = done.output.split(separator: "\n")
        #expect(lines.count { $0.contains(#""t":"result""#) } == 1, "\(done.output)")
        let result = try JSONDecoder().decode(Result.self, from: Data((lines.last ?? "").utf8))
        #expect(result.t == "result" && result.exit == example.exit && result.error?.code == example.code)
        #expect(done.errors.contains(result.error?.message ?? "no message"), "\(done.errors)")
    }

    @Test("is written by every command that has the option")
    func isWrittenByEachCommand() throws {
        var commands: [any ParsableCommand.Type] = [Weir.self]
        var count = 0
        while let command = commands.popLast() {
            commands += command.configuration.subcommands
            guard command.helpMessage().contains("--json") else { continue }
            count += 1
            #expect(command is any JSONCommand.Type, "\(command)")
        }
        #expect(count > 25)
    }
}
