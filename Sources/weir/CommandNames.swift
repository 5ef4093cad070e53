import API
import Application
import ArgumentParser

/// Checks the names of commands before the parser does, which calls a mistyped one an unexpected argument.
enum CommandNames {
    /// The mistake in the first words of a command line; nil if they name a command.
    static func mistake(in arguments: [String]) -> Failure? {
        // "help" takes the names of commands and nothing else.
        let isHelp = arguments.first == "help"
        var words = arguments.dropFirst(isHelp ? 1 : 0)
        var (command, path): (any ParsableCommand.Type, [String]) = (Weir.self, ["weir"])
        while let word = words.popFirst(), !word.hasPrefix("-") {
            let subcommands = command.configuration.subcommands
            if subcommands.isEmpty { return isHelp ? unknown(word, in: path, []) : nil }
            if word == "help" { return nil }
            guard let next = subcommands.first(where: { names(of: $0).contains(word) }) else {
                let argument = isHelp ? nil : words.first.flatMap { $0.hasPrefix("-") ? nil : $0 }
                return unknown(word, before: argument, in: path, subcommands)
            }
            (command, path) = (next, path + [word])
        }
        return nil
    }

    /// The name of a command and its aliases.
    private static func names(of command: any ParsableCommand.Type) -> [String] {
        [command.configuration.commandName].compactMap(\.self) + command.configuration.aliases
    }

    private static func unknown(
        _ word: String, before argument: String? = nil, in path: [String], _ subcommands: [any ParsableCommand.Type]
    ) -> Failure {
        let whole = path.joined(separator: " ")
        if path.count == 1, PlayerURL.isURL(word) {
            let url = Failure.quoted(PlayerURL.withoutPassword(word))
            return Failure(
                "a URL needs a command in front of it", next: "weir play \(url), or weir get \(url)", exitCode: 64,
                code: "usage")
        }
        let argument = argument.map { [Failure.quoted(PlayerURL.withoutPassword($0))] } ?? []
        let nearest = NearestName.of(word, in: subcommands.flatMap(names))
        let place = path.count == 1 ? "there is no command \"\(word)\"" : "\"\(whole)\" has no command \"\(word)\""
        return Failure(
            place + (nearest.map { "; did you mean \"\($0)\"?" } ?? ""),
            next: nearest.map { ([whole, $0] + argument).joined(separator: " ") } ?? "weir help"
                + path.dropFirst().map { " \($0)" }.joined(),
            exitCode: 64, code: "usage")
    }
}
