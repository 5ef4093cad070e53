// The room weir.
//
// Duty: the command line.
// Entrance: `Weir`, with one type for each command.
// Does not enter: the store and the library: a command reaches them through the API of the daemon.

import ArgumentParser
import CExecutor
import Daemon
import Glibc

/// The command line. `weir serve` is the daemon; the other commands talk to it.
@main struct Weir: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "weir",
        abstract:
            "Plays HLS streams through localhost, stores what was played or downloaded, and plays it without a network.",
        discussion: """
            Play, download and list at once: weir play URL, weir get URL, weir list. The daemon that does the work is started by the \
            first command that needs it, and ends after ten minutes without work; "weir serve" runs one that stays. Any player plays \
            any HLS URL with the daemon's URL in front of it: mpv http://localhost:8216/https://example.com/master.m3u8
            """,
        version: Application.versionText,
        groupedSubcommands: [
            CommandGroup(
                name: "Watch",
                subcommands: [PlayCommand.self, URLCommand.self, PageCommand.self, OpenCommand.self, ModeCommand.self]),
            CommandGroup(
                name: "Download",
                subcommands: [
                    GetCommand.self, AddCommand.self, RecordCommand.self, PauseCommand.self, ResumeCommand.self,
                    CancelCommand.self, FirstCommand.self, LimitCommand.self,
                    CacheCommand.self, UpdateCommand.self,
                ]),
            CommandGroup(
                name: "Keep",
                subcommands: [
                    SetCommand.self, RenameCommand.self, AttachCommand.self, DetachCommand.self, PolicyCommand.self,
                    KeysCommand.self, VerifyCommand.self,
                    MoveCommand.self, ExportCommand.self, ImportCommand.self, PublishCommand.self, RemoveCommand.self,
                ]),
            CommandGroup(
                name: "Look",
                subcommands: [
                    StatusCommand.self, WatchCommand.self, ListCommand.self, ShowCommand.self, LogCommand.self,
                    EventsCommand.self,
                    CheckCommand.self,
                ]),
            CommandGroup(
                name: "Set up",
                subcommands: [
                    ServeCommand.self, StopCommand.self, ConfigCommand.self, DoctorCommand.self, LinkCommand.self,
                    ReportCommand.self, CompletionsCommand.self, SocketSetupCommand.self,
                ]),
        ])

    // On the main actor, since nothing may run on the global executor before its threads are replaced.
    @MainActor static func main() async {
        weir_use_own_executor()
        let arguments = HeaderOptions.joined(Array(CommandLine.arguments.dropFirst()))
        let isJSON = arguments.prefix { $0 != "--" }.contains("--json")
        if let mistake = CommandNames.mistake(in: arguments) {
            mistake.report(asJSON: isJSON)
            Glibc.exit(mistake.exitCode)
        }

        do {
            var command = try await asyncParseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let code as ExitCode {
            // The command has said why. To tell the code of any error the parser composes the usage of all commands.
            Glibc.exit(code.rawValue)
        } catch {
            // The parser would print help without a look at whether it can be written.
            let code = exitCode(for: error).rawValue
            let message = fullMessage(for: error, columns: nil)
            if !message.isEmpty {
                if code == 0 {
                    Output.verbatim(message + "\n")
                } else {
                    let text = CommandNames.namingUnknownOption(of: arguments, in: message)
                    Output.error(text + "\n")
                    if isJSON {
                        Output.record(CommandNames.usageResult(text, exitCode: code))
                    }
                }
            }
            Glibc.exit(code)
        }
    }
}

struct CompletionsCommand: ParsableCommand {
    enum Shell: String, ExpressibleByArgument, CaseIterable {
        case bash, zsh, fish
    }

    static let configuration = CommandConfiguration(
        commandName: "completions", abstract: "Write a completion script for a shell.",
        discussion: """
            bash: weir completions bash > ~/.local/share/bash-completion/completions/weir
            zsh: weir completions zsh > _weir, in a folder of $fpath
            fish: weir completions fish > ~/.config/fish/completions/weir.fish
            """)

    @Argument(help: "bash, zsh or fish.")
    var shell: Shell

    func run() {
        // The parser supports the same three shells.
        guard let shell = CompletionShell(rawValue: shell.rawValue) else { return }
        Output.verbatim(Weir.completionScript(for: shell) + "\n")
    }
}
