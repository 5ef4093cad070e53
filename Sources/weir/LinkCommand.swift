import API
import Application
import ArgumentParser

/// `weir link`
struct LinkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link", abstract: "Throttle, delay or lose traffic to test playback.",
        discussion: """
            The link is one that tools/link puts in front of an origin, or of the daemon:
            tools/link --preset 3G http://127.0.0.1:8080
            """,
        subcommands: [LinkSetCommand.self, LinkShowCommand.self, LinkOffCommand.self, LinkListCommand.self])
}

/// `weir link show`
struct LinkShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the link's settings and traffic.")

    @OptionGroup var options: LinkOptions

    func run() async throws {
        try await reporting(options.common) { try options.write(try await options.client().state(), LinkText.lines) }
    }
}

/// `weir link off`
struct LinkOffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "off", abstract: "Remove all limits from the link.")

    @OptionGroup var options: LinkOptions

    func run() async throws {
        try await reporting(options.common) {
            let state = try await options.client().change(LinkChange(preset: LinkFigures.off.preset))
            try options.write(state) { [LinkText.line($0.figures)] }
        }
    }
}

/// `weir link list`
struct LinkListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the presets.")

    @Flag(help: "Write one JSON object per line.")
    var json = false

    func run() throws {
        guard json else { return LinkText.table(LinkFigures.presets).lines.forEach(Output.line) }
        for preset in LinkFigures.presets { Output.line(String(decoding: try API.encode(preset), as: UTF8.self)) }
    }
}

/// The options of the commands that talk to a link conditioner.
struct LinkOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Control URL of the link, as tools/link prints it.", valueName: "url"))
    var control: String?

    @Flag(help: "Write one JSON object.")
    var json = false

    @OptionGroup var common: CommonOptions

    func client() throws -> LinkClient {
        try LinkClient(control: control, state: StateDirectory(try common.configuration().state))
    }

    func write(_ state: LinkState, _ lines: (LinkState) -> [String]) throws {
        guard json else { return lines(state).forEach(Output.line) }
        Output.line(String(decoding: try API.encode(state), as: UTF8.self))
    }
}
