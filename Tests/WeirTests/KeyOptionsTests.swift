import ArgumentParser
import Daemon
import Foundation
import TestSupport
import Testing

@testable import weir

/// The options of `weir serve` come from the table of keys.
@Suite struct KeyOptionsTests {
    @Test(arguments: KeyOptions.keys)
    func anOptionSetsItsKey(_ key: Configuration.Key) throws {
        let option = "--\(key.optionName)"
        switch key.option.kind {
        case .flag(let value):
            #expect(try ServeCommand.parse([option]).keys.settings == [key: ["\(value)"]])
        case .value:
            #expect(try ServeCommand.parse([option, "a"]).keys.settings == [key: ["a"]])
            #expect(throws: (any Error).self) { try ServeCommand.parse([option]) }
        case .values:
            #expect(try ServeCommand.parse([option, "a", option, "b"]).keys.settings == [key: ["a", "b"]])
        }
        #expect(try ServeCommand.parse([]).keys.settings.isEmpty)
    }

    @Test("a former name of an option is accepted") func aFormerNameIsAccepted() throws {
        #expect(try ServeCommand.parse(["--allow-hosts", "a"]).keys.settings == [.allowHosts: ["a"]])
        #expect(try ServeCommand.parse(["--allow-host", "a"]).keys.settings == [.allowHosts: ["a"]])
    }

    @Test("a command that starts no daemon has no option for it", arguments: ["serve", "stop", "status", "doctor"])
    func noStartIsNoOptionOfAll(command: String) async throws {
        let result = try await ProcessRunner.run(Repository.builtProgram("weir"), [command, "--no-start"])
        #expect(result.exit == .code(64) && result.errors.contains("--no-start"), "\(result)")
    }

    /// An argument of the parser's description of a command.
    private struct Argument: Decodable {
        struct Name: Decodable { let name: String }
        let preferredName: Name?
        let abstract: String?
    }

    private struct Command: Decodable {
        let commandName: String
        let arguments: [Argument]?
        let subcommands: [Command]?
    }

    private struct Dump: Decodable { let command: Command }

    @Test func eachKeyHasOneOptionWithItsHelp() async throws {
        let dump = try await ProcessRunner.run(Repository.builtProgram("weir"), ["--experimental-dump-help"])
        let commands = try JSONDecoder().decode(Dump.self, from: Data(dump.output.utf8)).command.subcommands ?? []
        for key in Configuration.Key.allCases {
            let name =
                switch key.option.owner {
                case .play: "play"
                case .starting: "list"
                case .serve, .everyCommand: "serve"
                }
            let command = try #require(commands.first { $0.commandName == name })
            let options = (command.arguments ?? []).filter { $0.preferredName?.name == key.optionName }
            #expect(options.map(\.abstract) == [key.option.help], "\(key)")
        }
    }

    @Test func everyOptionOfServeIsAKey() async throws {
        let dump = try await ProcessRunner.run(Repository.builtProgram("weir"), ["--experimental-dump-help"])
        let commands = try JSONDecoder().decode(Dump.self, from: Data(dump.output.utf8)).command.subcommands ?? []
        let serve = try #require(commands.first { $0.commandName == "serve" })
        let names = Set((serve.arguments ?? []).compactMap(\.preferredName?.name))
        // --config names the file that has the keys.
        #expect(
            names.subtracting(Configuration.Key.allCases.map(\.optionName)).isSubset(of: ["config", "help", "version"]))
    }
}
