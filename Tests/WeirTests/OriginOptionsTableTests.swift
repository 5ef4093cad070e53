import Foundation
import TestSupport
import Testing

/// Each command that reaches an origin has all options that describe the way there.
@Suite struct OriginOptionsTableTests {
    private static let options: Set = [
        "allow-host", "cert", "cert-for", "cookies", "cookies-from-browser", "curl", "header", "header-for", "insecure",
        "key",
        "proxy",
    ]

    private static let commands: Set = [
        "add", "cache", "check", "get", "keys", "play", "record", "resume", "set", "show", "update", "url", "verify",
    ]

    private struct Dump: Decodable {
        struct Command: Decodable {
            struct Argument: Decodable {
                struct Name: Decodable { let name: String }
                let names: [Name]?
                let sectionTitle: String?
            }

            let commandName: String
            let arguments: [Argument]?
            let subcommands: [Command]?
        }

        let command: Command
    }

    @Test func aCommandHasAllOfThemOrNone() async throws {
        let dump = try await ProcessRunner.run(Repository.builtProgram("weir"), ["--experimental-dump-help"])
        let commands = try JSONDecoder().decode(Dump.self, from: Data(dump.output.utf8)).command.subcommands ?? []
        var having: Set<String> = []
        for command in commands {
            let arguments = (command.arguments ?? []).filter { $0.sectionTitle == "The way to the origin" }
            let names = Set(arguments.flatMap { $0.names ?? [] }.map(\.name))
            guard !names.isEmpty else { continue }
            having.insert(command.commandName)
            #expect(names.isSuperset(of: Self.options), "\(command.commandName)")
        }
        #expect(having == Self.commands)
    }
}
