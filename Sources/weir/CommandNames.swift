import ArgumentParser
import Daemon
import Foundation
import WeirAPI

/// Checks the names of commands before the parser does, which calls a mistyped one an unexpected argument.
enum CommandNames {
    /// The mistake in the first words of a command line; nil if they name a command.
    static func mistake(in arguments: [String]) -> CommandFailure? {
        // "help" takes the names of commands and nothing else.
        let isHelp = arguments.first == "help"
        var words = arguments[...]
        if isHelp {
            words = words.dropFirst()
        }

        var command: any ParsableCommand.Type = Weir.self
        var path: [String] = ["weir"]
        while let word = words.popFirst(), !word.hasPrefix("-") {
            let subcommands = command.configuration.subcommands
            if subcommands.isEmpty {
                guard isHelp else { return nil }
                return unknown(word, in: path, [])
            }
            if word == "help" {
                return nil
            }
            guard let next = subcommands.first(where: { names(of: $0).contains(word) }) else {
                var argument: String?
                if !isHelp, let following = words.first, !following.hasPrefix("-") {
                    argument = following
                }
                return unknown(word, before: argument, in: path, subcommands)
            }
            command = next
            path = path + [word]
        }
        return nil
    }

    /// The message of the parser; if the command line has an unknown option, the one about that option.
    ///
    /// The parser checks an argument that is left out first, and its message about it misleads: a mistyped option seems to be fine.
    static func namingUnknownOption(of arguments: [String], in message: String) -> String {
        let unknown = "Error: Unknown option '"
        guard message.hasPrefix("Error: "), !message.hasPrefix(unknown), let usage = message.range(of: "\nUsage: "),
            let (word, nearest) = unknownOption(in: arguments)
        else { return message }

        var complaint = unknown + word + "'"
        if let nearest {
            complaint += ". Did you mean '\(nearest)'?"
        }
        return complaint + message[usage.lowerBound...]
    }

    /// The result for `--json` of a command line that the parser refuses, with the first line of its message.
    static func usageResult(_ message: String, exitCode: Int32) -> String {
        let line = message.prefix { !$0.isNewline }
        let sentence = line.hasPrefix("Error: ") ? line.dropFirst("Error: ".count) : line
        let failure = CommandFailure(String(sentence), exitCode: exitCode, code: "usage")
        return JSONLine.result(of: failure)
    }

    /// The first option that the command does not have, and the nearest one that it has.
    private static func unknownOption(in arguments: [String]) -> (word: String, nearest: String?)? {
        var command: any ParsableCommand.Type = Weir.self
        var words = arguments[...]
        while let word = words.first,
            let next = command.configuration.subcommands.first(where: { names(of: $0).contains(word) })
        {
            command = next
            words = words.dropFirst()
        }

        guard let known = CommandDescription(of: command) else { return nil }
        var previous = ""
        for word in words.prefix(while: { $0 != "--" }) {
            defer { previous = word }
            // The value of some options may begin with a dash.
            guard word.hasPrefix("-"), !known.optionsWithValue.contains(previous) else { continue }
            let name = String(word.prefix { $0 != "=" })
            // A single dash may begin a negative number, or several short options.
            let isOption = name.hasPrefix("--") || (name.count == 2 && name.last?.isLetter == true)
            if isOption, !known.options.contains(name) {
                return (name, NearestName.of(name, in: known.options))
            }
        }
        return nil
    }

    /// The name of a command and its aliases.
    private static func names(of command: any ParsableCommand.Type) -> [String] {
        [command.configuration.commandName].compactMap(\.self) + command.configuration.aliases
    }

    private static func unknown(
        _ word: String, before argument: String? = nil, in path: [String], _ subcommands: [any ParsableCommand.Type]
    ) -> CommandFailure {
        let whole = path.joined(separator: " ")
        if path.count == 1, PlayerURL.isURL(word) {
            let url = CommandFailure.quoted(PlayerURL.withoutPassword(word))
            return CommandFailure(
                "a URL needs a command in front of it", next: "weir play \(url), or weir get \(url)", exitCode: 64,
                code: "usage")
        }

        var complaint = "\"\(whole)\" has no command \"\(word)\""
        if path.count == 1 {
            complaint = "there is no command \"\(word)\""
        }
        guard let nearest = NearestName.of(word, in: subcommands.flatMap(names)) else {
            let help = ["weir", "help"] + path.dropFirst()
            return CommandFailure(complaint, next: help.joined(separator: " "), exitCode: 64, code: "usage")
        }

        var correction = [whole, nearest]
        if let argument {
            correction.append(CommandFailure.quoted(PlayerURL.withoutPassword(argument)))
        }
        return CommandFailure(
            "\(complaint); did you mean \"\(nearest)\"?", next: correction.joined(separator: " "), exitCode: 64,
            code: "usage")
    }
}

/// The options of a command, as the parser describes them to tools.
private struct CommandDescription: Decodable {
    private let command: Command

    private struct Command: Decodable {
        let arguments: [Argument]?
    }

    private struct Argument: Decodable {
        /// `positional`, `option` or `flag`.
        let kind: String
        let names: [Name]?

        var options: [String] { (names ?? []).map(\.option) }
    }

    private struct Name: Decodable {
        let kind: String
        let name: String

        /// The name with its dashes.
        var option: String {
            guard kind == "long" else { return "-\(name)" }
            return "--\(name)"
        }
    }

    init?(of command: any ParsableCommand.Type) {
        let text = Data(command._dumpHelp().utf8)
        guard let description = try? JSONDecoder().decode(Self.self, from: text) else { return nil }
        self = description
    }

    var options: [String] {
        (command.arguments ?? []).flatMap(\.options) + ["--help", "-h", "--version"]
    }

    var optionsWithValue: [String] { (command.arguments ?? []).filter { $0.kind == "option" }.flatMap(\.options) }
}
