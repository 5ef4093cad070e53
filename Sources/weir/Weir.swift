import Application
import ArgumentParser

/// The command line. `weir serve` is the daemon; the other commands talk to it.
@main struct Weir: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "weir",
        abstract:
            "Plays HLS streams through localhost, stores what was played or downloaded, and plays it without a network.",
        discussion: """
            Start the daemon with: weir serve. Then play any HLS URL, with the daemon's URL in front of it:
            mpv http://localhost:8216/https://example.com/master.m3u8
            """,
        version: Application.versionText,
        subcommands: [
            ServeCommand.self, GetCommand.self, AddCommand.self, PauseCommand.self, ResumeCommand.self,
            CancelCommand.self, EventsCommand.self, ListCommand.self, ShowCommand.self, CheckCommand.self,
            PlayCommand.self, URLCommand.self, PageCommand.self, ModeCommand.self, ExportCommand.self,
            PublishCommand.self, ImportCommand.self, VerifyCommand.self, PolicyCommand.self, RenameCommand.self,
            SetCommand.self, UpdateCommand.self, CacheCommand.self, MoveCommand.self, RemoveCommand.self,
            LinkCommand.self, KeysCommand.self, LogCommand.self,
            ReportCommand.self, DoctorCommand.self, CompletionsCommand.self,
        ])

    static func main() async {
        await main(HeaderOptions.joined(Array(CommandLine.arguments.dropFirst())))
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
