import ArgumentParser
import Foundation
import TestSupport
import Testing
import WeirAPI

@testable import weir

/// Shell completion and the manual page.
@Suite struct ManualTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var commands: [String] { Weir.configuration.subcommands.compactMap { $0.configuration.commandName } }

    private func script(_ shell: String) async throws -> String {
        let result = try await ProcessRunner.run(Repository.builtProgram("weir"), ["completions", shell])
        #expect(result.exit == .code(0) && result.errors.isEmpty)
        return try folder.write(Data(result.output.utf8), to: "weir.\(shell)")
    }

    /// Runs lines in a shell whose PATH has the folder of the built program, and returns the output.
    private func ask(_ shell: String, _ arguments: [String]) async throws -> String {
        let programs = (Repository.builtProgram("weir") as NSString).deletingLastPathComponent
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let result = try await ProcessRunner.run(
            shell, arguments, environment: ["PATH": "\(programs):\(path)", "HOME": folder.path])
        #expect(result.exit == .code(0) && result.errors.isEmpty, "\(shell): \(result.errors)")
        return result.output
    }

    @Test(arguments: [
        ("weir ge", ["get"]), ("weir re", ["record", "remove", "rename", "resume"]),
        ("weir get --prefer-m", ["--prefer-multichannel"]),
        ("weir link s", ["set", "show"]), ("weir log --format w", ["w3c"]),
    ])
    func bashCompletes(line: String, words: [String]) async throws {
        let script = try await script("bash")
        _ = try await ask("bash", ["-n", script])
        let harness = """
            source \(script)
            declare -a spec=($(complete -p weir))
            for ((i = 0; i < ${#spec[@]}; i++)); do [ "${spec[i]}" = -F ] && function=${spec[i+1]}; done
            COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9 COMP_KEY=9
            read -ra COMP_WORDS <<< "$1"
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            $function weir "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}" 2> \(folder.path("errors"))
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let said = try await ask("bash", ["--norc", "--noprofile", "-c", harness, "bash", line])
        let found = said.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(Set(words).isSubset(of: found) && found.count < 8, "\(found)")
    }

    @Test func fishCompletes() async throws {
        let script = try await script("fish")
        _ = try await ask("fish", ["--no-execute", script])
        let said = try await ask("fish", ["--no-config", "-c", "source \(script); complete -C 'weir ge'"])
        #expect(said.split(separator: "\n").contains { $0.hasPrefix("get\t") }, "\(said)")
    }

    /// Types a line and the tab key into a shell at a terminal, and prints what the shell then shows.
    private static let typist = """
        import os, pty, select, sys, time
        shell, start, line, word = sys.argv[1].split(), sys.argv[2], sys.argv[3], sys.argv[4]
        process, terminal = pty.fork()
        if process == 0: os.execvp(shell[0], shell)
        seen, deadline, sent, mark, typed = b"", time.monotonic() + 40, 0, 0, 0
        while time.monotonic() < deadline:
            if select.select([terminal], [], [], 0.1)[0]:
                try: seen += os.read(terminal, 65536)
                except OSError: break
                continue
            # The shell waits for a key.
            if sent == 0: os.write(terminal, (start + "; echo rea''dy\\n").encode())
            elif sent == 1 and b"ready" in seen: os.write(terminal, (line + "\\t").encode())
            elif sent == 1: continue
            if sent == 2 and word.encode() in seen[mark:]: break
            if sent < 2: sent, mark, typed = sent + 1, len(seen), time.monotonic()
            # A completion gives up soon, so that it never blocks a shell: on a busy machine the key is pressed once more.
            elif time.monotonic() - typed > 5:
                os.write(terminal, b"\\t")
                typed = time.monotonic()
        os.kill(process, 9)
        sys.stdout.buffer.write(seen[mark:])
        """

    @Test(arguments: [
        ("bash", "bash --norc --noprofile -i", "source FOLDER/weir.bash"),
        ("zsh", "zsh -f -i", "fpath=(FOLDER $fpath); autoload -U compinit; compinit -u"),
        ("fish", "fish --no-config -i", "source FOLDER/weir.fish"),
    ])
    func namesOfAssetsComplete(shell: String, program: String, start: String) async throws {
        let state = folder.path("state")
        let assets = ["sintel", "tears-of-steel"].map { API.Asset(name: $0, id: $0, url: "https://h/\($0)") }
        let daemon = try await ScriptedDaemon(state: state, assets: assets)
        let file = try await script(shell)
        if shell == "zsh" {
            try FileManager.default.copyItem(atPath: file, toPath: folder.path("_weir"))
        }
        let programs = (Repository.builtProgram("weir") as NSString).deletingLastPathComponent
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let result = try await ProcessRunner.run(
            "python3",
            ["-c", Self.typist, program, start.replacing("FOLDER", with: folder.path), "weir play s", "sintel"],
            environment: ["PATH": "\(programs):\(path)", "HOME": folder.path, "WEIR_STATE": state, "TERM": "xterm"])
        #expect(result.output.contains("sintel") && !result.output.contains("tears"), "\(result)")
        await daemon.stop()
    }

    @Test(arguments: [("bash", "sintel"), ("zsh", "sintel:Sintel: 2010"), ("fish", "sintel\tSintel: 2010")])
    func namesComeWithTheirTitles(shell: String, line: String) async throws {
        let state = folder.path("state")
        var asset = API.Asset(name: "sintel", id: "s", url: "https://h/s.m3u8")
        asset.title = "Sintel: 2010"
        let daemon = try await ScriptedDaemon(state: state, assets: [asset])
        let result = try await ProcessRunner.run(
            Repository.builtProgram("weir"),
            ["---completion", "play", "--", "positional@0", "2", "0", "weir", "play", ""],
            environment: ["WEIR_STATE": state, "SAP_SHELL": shell, "HOME": folder.path])
        #expect(result.output.split(separator: "\n").contains(Substring(line)), "\(result)")
        await daemon.stop()
    }

    @Test func completionStartsNoDaemon() async throws {
        // Without a daemon there are no names, and none is started.
        let none = try await ProcessRunner.run(
            Repository.builtProgram("weir"), ["---completion", "play", "--", "positional@0", "0", "2", ""],
            environment: ["WEIR_STATE": folder.path("none"), "WEIR_START": ""])
        #expect(none.exit == .code(0) && none.output.filter { !$0.isWhitespace }.isEmpty, "\(none)")
        #expect(!FileManager.default.fileExists(atPath: folder.path("none")))
    }

    @Test func zshAcceptsItsScript() async throws {
        let script = try await script("zsh")
        _ = try await ask("zsh", ["-f", "-n", script])
        #expect(try String(contentsOfFile: script, encoding: .utf8).hasPrefix("#compdef weir\n"))
    }

    @Test func anotherShellIsRefused() async throws {
        let result = try await ProcessRunner.run(Repository.builtProgram("weir"), ["completions", "tcsh"])
        #expect(result.exit == .code(64) && result.errors.contains("bash"))
    }

    @Test func theManualPageHasEveryCommandAndEachOfItsOptions() async throws {
        let made = try await ProcessRunner.run(
            Repository.path("tools/make/man"), [Repository.builtProgram("weir")],
            environment: ["SOURCE_DATE_EPOCH": "1795305600"])
        #expect(made.exit == .code(0), "\(made.errors)")
        let page = try folder.write(Data(made.output.utf8), to: "weir.1")
        let read = try await ProcessRunner.run(
            "man", ["--warnings=w", "-E", "ascii", "-P", "cat", "-l", page],
            environment: ["MANWIDTH": "1000", "MANROFFOPT": "-c", "GROFF_NO_SGR": "1", "TERM": "dumb", "LC_ALL": "C"])
        #expect(read.exit == .code(0) && read.errors.isEmpty, "\(read.errors)")
        // man writes a bold letter as letter, backspace, letter.
        let text = read.output.replacing(/.\x08/, with: "")
        #expect(text.contains("November 22, 2026"))
        for command in commands {
            #expect(text.contains("weir \(command)"), "\(command)")
        }
        for option in ["--prefer-multichannel", "--delay-down", "--format", "--check", "-q, --quality"] {
            #expect(text.contains(option), "\(option)")
        }
        #expect(text.contains("One of w3c, apple, json, table."))
        #expect(text.contains("EXAMPLES\n") && text.contains(" Save it:\n"))
        #expect(text.contains("weir get https://host/path/master.m3u8") && text.contains("Also: weir ls."))
    }
}
