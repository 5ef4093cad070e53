import Foundation
import Glibc
import TestSupport
import Testing

/// Input, exit code and text of mistakes at the command line and in the configuration.
@Suite struct MessageTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var environment: [String: String] {
        [
            "HOME": folder.path, "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": "", "XDG_STATE_HOME": "", "WEIR_STATE": "",
            "WEIR_STORE": "", "WEIR_LISTEN": "", "WEIR_CONFIG": "", "WEIR_IDLE_EXIT": "", "WEIR_START": "",
            "VISUAL": "", "EDITOR": "",
        ]
    }

    private func run(_ arguments: [String], _ more: [String: String] = [:]) async throws -> ProcessResult {
        try await ProcessRunner.run(
            Repository.builtProgram("weir"), arguments, environment: environment.merging(more) { $1 })
    }

    private var path: String { folder.path + "/.config/weir/weir.toml" }

    @Test(arguments: [
        ("lsit", "weir: there is no command \"lsit\"; did you mean \"list\"?\ntry: weir list\n"),
        ("stauts --json", "weir: there is no command \"stauts\"; did you mean \"status\"?\ntry: weir status\n"),
        (
            "donwload URL",
            "weir: there is no command \"donwload\"; did you mean \"download\"?\ntry: weir download URL\n"
        ),
        ("qwertyuiop", "weir: there is no command \"qwertyuiop\"\ntry: weir help\n"),
        ("help bogus", "weir: there is no command \"bogus\"\ntry: weir help\n"),
        ("help gte", "weir: there is no command \"gte\"; did you mean \"get\"?\ntry: weir get\n"),
        ("help get more", "weir: \"weir get\" has no command \"more\"\ntry: weir help get\n"),
        ("link sohw", "weir: \"weir link\" has no command \"sohw\"; did you mean \"show\"?\ntry: weir link show\n"),
        (
            "config chekc",
            "weir: \"weir config\" has no command \"chekc\"; did you mean \"check\"?\ntry: weir config check\n"
        ),
        (
            "https://u:p@h/a.m3u8",
            "weir: a URL needs a command in front of it\ntry: weir play https://h/a.m3u8, or weir get https://h/a.m3u8\n"
        ),
        ("list --jsn", "Error: Unknown option '--jsn'. Did you mean '--json'?\n"),
        (
            "export film film.webm",
            "Error: no export is made as .webm: end the target in .tar, .mkv, .mp4 or .ts, for the sound alone in .mka or .m4a, or for the subtitles in .srt; for a folder of that name: --format folder\n"
        ),
        ("get --bogus", "Error: Unknown option '--bogus'\nUsage: weir get "),
        ("show --bogus", "Error: Unknown option '--bogus'\nUsage: weir show "),
        ("pause --al", "Error: Unknown option '--al'. Did you mean '--all'?\nUsage: weir pause "),
        ("link set --bogus=1", "Error: Unknown option '--bogus'\nUsage: weir link set "),
        ("get --also --bogus URL", "Error: --also '--bogus': Unknown option '--bogus'\n"),
        ("remove -z", "Error: Unknown option '-z'"),
        ("get", "Error: Give a URL or a name.\nUsage: weir get "),
        ("get --qualty 720p URL", "Error: Unknown option '--qualty'. Did you mean '--quality'?\n"),
        (
            "list --is failde",
            "Error: The value 'failde' is invalid for '--is <state>': did you mean \"failed\"?\n"
        ),
    ])
    func aMistypedWordIsNamedWithTheNearest(line: String, text: String) async throws {
        let result = try await run(line.split(separator: " ").map(String.init))
        // With --json the failure is a line of the output as well.
        #expect(result.exit == .code(64) && result.output.isEmpty == !line.contains("--json"), "\(result)")
        #expect(result.errors.hasPrefix(text), "\(result.errors)")
    }

    @Test(arguments: [
        (
            "offline = true\nplay-cahce = \"2GB\"\n",
            ":2: there is no key \"play-cahce\"; did you mean \"play-cache\"?\ntry: correct the key, or delete the line\n"
        ),
        (
            "\nplay-cache = 2\n",
            ":2: play-cache: 2 has no unit: write \"2GB\", \"2MB\" or, for bytes, \"2B\"\n"
                + "try: correct the value, or delete the line to use the default\n"
        ),
        (
            "idle-exit = 10\n",
            ":1: idle-exit: 10 is not a duration, such as 30d or 48h, or never\n"
                + "try: correct the value, or delete the line to use the default\n"
        ),
    ])
    func aMistakeInTheFileIsNamedWithItsLine(text: String, message: String) async throws {
        try folder.write(Data(text.utf8), to: ".config/weir/weir.toml")
        for command in ["config check", "config show", "list", "status"] {
            let result = try await run(command.split(separator: " ").map(String.init))
            #expect(result.exit == .code(78) && result.output.isEmpty, "\(command): \(result)")
            #expect(result.errors == "weir: \(path)\(message)", "\(command): \(result.errors)")
        }
    }

    @Test func aliasesAndHelpWork() async throws {
        for (alias, name) in [("ls", "list"), ("rm", "remove"), ("download", "get"), ("info", "show")] {
            let help = try await run(["help", alias])
            #expect(help.exit == .code(0) && help.output.contains("USAGE: weir \(name) "), "\(help)")
        }
        let help = try await run(["--help"]).output
        var rest = help[...]
        for group in ["WATCH", "DOWNLOAD", "KEEP", "LOOK", "SET UP"] {
            let place = try #require(rest.range(of: "\(group) SUBCOMMANDS:"), "\(help)")
            rest = rest[place.upperBound...]
        }
        #expect(help.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(help)")
    }

    @Test(arguments: [
        "--help", "help get", "--version", "completions bash", "status", "config", "get --help", "status --json",
    ])
    func outputToAFullDiskExitsWith74(line: String) async throws {
        let weir = Repository.builtProgram("weir")
        let result = try await ProcessRunner.run(
            "sh", ["-c", "exec \"$0\" \(line) >/dev/full", weir], environment: environment)
        #expect(result.exit == .code(74), "\(line): \(result)")
        let words =
            "weir: standard output cannot be written: No space left on device\ntry: free space, or write elsewhere\n"
        #expect(result.errors == words)
    }

    @Test func aReaderThatEndsEarlyIsNoError() async throws {
        let script = "\"$0\" completions bash | head -c 10"
        let result = try await ProcessRunner.run(
            "bash", ["-o", "pipefail", "-c", script, Repository.builtProgram("weir")], environment: environment)
        #expect(result.errors.isEmpty && result.output.count == 10, "\(result)")
    }

    // MARK: weir config

    @Test func configShowsWhereEachValueComesFrom() async throws {
        let none = try await run(["config", "check"])
        #expect(none.exit == .code(0) && none.output == "there is no \(path): defaults apply; 0 streams\n")
        #expect(try await run(["config", "show", "--changed"]).errors.isEmpty == false)
        try folder.write(
            Data("# mine\nmax-parallel = 3\nplay-cache = \"2048MB\"\n[selection]\nquality = \"720p\"\n".utf8),
            to: ".config/weir/weir.toml")
        let variables = ["WEIR_LOG_LEVEL": "debug"]
        let shown = try await run(["config", "--store", "/x", "--changed"], variables)
        #expect(shown.exit == .code(0) && shown.errors.isEmpty)
        let rows = shown.output.split(separator: "\n").map { line in
            line.split(separator: " ", omittingEmptySubsequences: true).map(String.init)
        }
        #expect(
            rows == [
                ["KEY", "FROM", "VALUE"], ["store", "option", "\"/x\""], ["max-parallel", "\(path):2", "3"],
                ["play-cache", "\(path):3", "\"2GB\""], ["log-level", "WEIR_LOG_LEVEL", "\"debug\""],
                ["selection.quality", "\(path):5", "\"720p\""],
            ])
        let all = try await run(["config", "show"]).output
        #expect(all.contains("\nidle-exit ") && all.contains(" default "))
        let check = try await run(["config", "check"])
        #expect(check.output == "\(path) is right: 3 settings, 0 streams\n", "\(check)")
    }

    @Test func configEditCreatesTheManualAndChecksTheResult() async throws {
        let editor = try folder.write(
            Data("#!/bin/sh\ncp \"$1\" \"$HOME/seen\"\necho 'stroe = 1' >>\"$1\"\n".utf8), to: "edit")
        chmod(editor, 0o755)
        let result = try await run(["config", "edit"], ["EDITOR": editor])
        #expect(
            result.exit == .code(78) && result.errors.contains("there is no key \"stroe\"; did you mean \"store\"?"))
        let seen = try String(contentsOfFile: folder.path("seen"), encoding: .utf8)
        let manual = try String(contentsOfFile: Repository.path("conf/weir.toml"), encoding: .utf8)
        #expect(seen.contains("\n# max-parallel = 6\n") && manual.contains("\nmax-parallel = 6\n"))
        #expect(seen.split(separator: "\n").allSatisfy { $0.hasPrefix("#") }, "\(seen)")
        chmod(try folder.write(Data("#!/bin/sh\necho 'offline = true' >\"$1\"\n".utf8), to: "edit"), 0o755)
        let good = try await run(["config", "edit"], ["EDITOR": editor])
        #expect(good.exit == .code(0) && good.output == "\(path) is right: 1 setting, 0 streams\n", "\(good)")
        let none = try await run(["config", "edit"], ["EDITOR": "/no/editor"])
        #expect(none.exit == .code(78) && none.errors.contains("EDITOR: names no editor that is installed"))
    }
}
