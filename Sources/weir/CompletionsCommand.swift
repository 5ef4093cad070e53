import ArgumentParser

/// `weir completions`
struct CompletionsCommand: ParsableCommand {
    /// The supported shells.
    enum Shell: String, ExpressibleByArgument, CaseIterable {
        case bash, zsh, fish
    }

    static let configuration = CommandConfiguration(
        commandName: "completions", abstract: "Write a completion script for a shell.",
        discussion: """
            bash: weir completions bash > ~/.local/share/bash-completion/completions/weir
            zsh: weir completions zsh > a folder of $fpath, as _weir
            fish: weir completions fish > ~/.config/fish/completions/weir.fish
            """)

    @Argument(help: "bash, zsh or fish.")
    var shell: Shell

    func run() {
        // The parser supports the same three shells.
        guard let shell = CompletionShell(rawValue: shell.rawValue) else { return }
        Output.line(Weir.completionScript(for: shell))
    }
}
