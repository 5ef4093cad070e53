import ArgumentParser
import Daemon
import SafeText
package import WeirAPI

struct LinkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link", abstract: "Throttle, delay or lose traffic to test playback.",
        discussion: """
            Controls tools/link, which the Debian package installs as weir-link, and which runs in front of an origin or of the \
            daemon: tools/link --preset 3G http://127.0.0.1:8080
            """,
        subcommands: [LinkSetCommand.self, LinkShowCommand.self, LinkOffCommand.self, LinkListCommand.self])
}

struct LinkShowCommand: AsyncParsableCommand, JSONCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the link's settings and traffic.")

    @OptionGroup var options: LinkOptions

    var json: Bool { options.json }

    func run() async throws {
        try await reporting(options.common) { try options.write(try await options.client().state(), LinkText.lines) }
    }
}

struct LinkOffCommand: AsyncParsableCommand, JSONCommand {
    static let configuration = CommandConfiguration(commandName: "off", abstract: "Remove all limits from the link.")

    @OptionGroup var options: LinkOptions

    var json: Bool { options.json }

    func run() async throws {
        try await reporting(options.common) {
            let state = try await options.client().change(LinkChange(preset: LinkFigures.off.preset))
            try options.write(state) { [LinkText.line($0.figures)] }
        }
    }
}

struct LinkListCommand: AsyncParsableCommand, JSONCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the presets.")

    @Flag(help: "Write one JSON object per line.")
    var json = false

    func run() throws {
        guard json else { return LinkText.table(LinkFigures.presets).lines.forEach(Output.line) }
        for preset in LinkFigures.presets {
            try Output.json(preset)
        }
    }
}

/// The options of the commands that talk to a link conditioner.
struct LinkOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Control URL of the link, as tools/link prints it.", valueName: "url"))
    var control: String?
    @Flag(help: "Write one JSON object.")
    var json = false
    @OptionGroup var common: LocationOptions

    func client() throws -> LinkClient {
        try LinkClient(control: control, state: StateDirectory(try common.configuration().state))
    }

    func write(_ state: LinkState, _ lines: (LinkState) -> [String]) throws {
        guard json else { return lines(state).forEach(Output.line) }
        try Output.json(state)
    }
}

extension LinkRate: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}

struct LinkSetCommand: AsyncParsableCommand, JSONCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change the link's settings for open connections too.",
        discussion: """
            Give a preset (see: weir link list), single settings, or both: weir link set very bad network --loss 2%. Without a \
            preset, the other settings do not change.
            """)

    @Argument(help: "The name of a preset.")
    var preset: [String] = []
    @Option(help: "Rate towards the client: 780k, 2M, 50Mb/s, unlimited; 0 blocks all traffic.")
    var down: LinkRate?
    @Option(help: "Rate from the client.")
    var up: LinkRate?
    @Option(help: ArgumentHelp("Delay towards the client: 100ms or 1.5s.", valueName: "time"), transform: Self.delay)
    var delayDown: LinkDelay?
    @Option(help: ArgumentHelp("Delay from the client.", valueName: "time"), transform: Self.delay)
    var delayUp: LinkDelay?
    @Option(help: ArgumentHelp("Lost packets: 10%.", valueName: "share"), transform: Self.share)
    var loss: Ratio?
    @Option(
        help: ArgumentHelp("Delay of connections while the upstream's name is not cached.", valueName: "time"),
        transform: Self.delay)
    var dnsDelay: LinkDelay?
    @OptionGroup var options: LinkOptions

    var json: Bool { options.json }

    var change: LinkChange {
        var change = LinkChange()
        if !preset.isEmpty {
            change.preset = preset.joined(separator: " ")
        }
        change.down = down
        change.up = up
        change.delayDown = delayDown
        change.delayUp = delayUp
        change.loss = loss
        change.dnsDelay = dnsDelay
        return change
    }

    func validate() throws {
        guard change != LinkChange() else { throw ValidationError("Give a preset or a setting; see: weir link list") }
        guard let name = change.preset, LinkFigures.preset(named: name) == nil else { return }
        let names = LinkFigures.presets.compactMap(\.preset).joined(separator: ", ")
        throw ValidationError("There is no preset \"\(name)\"; the presets are: \(names).")
    }

    func run() async throws {
        try await reporting(options.common) {
            try options.write(try await options.client().change(change)) { [LinkText.line($0.figures)] }
        }
    }

    private static func delay(_ text: String) throws -> LinkDelay {
        guard let delay = LinkNumber.delay(text) else {
            throw ValidationError("\(text) is not a time such as 100ms or 1.5s")
        }
        return delay
    }

    private static func share(_ text: String) throws -> Ratio {
        guard let share = LinkNumber.share(text) else { throw ValidationError("\(text) is not a share such as 10%") }
        return share
    }
}

/// Formats links for users.
enum LinkText {
    /// The figures in one line: `3G  down 780 kb/s 100 ms  up 330 kb/s 100 ms`.
    static func line(_ figures: LinkFigures) -> String {
        guard figures != .off else { return "off" }
        var parts: [String] = []
        if let preset = figures.preset {
            parts.append(preset)
        }
        parts.append("down \(rate(figures.down)) \(delay(figures.delayDown))")
        parts.append("up \(rate(figures.up)) \(delay(figures.delayUp))")
        if figures.loss > 0 {
            parts.append("loss \(share(figures.loss))")
        }
        if figures.dnsDelay > 0 {
            parts.append("DNS \(delay(figures.dnsDelay))")
        }
        return parts.joined(separator: "  ")
    }

    static func lines(_ state: LinkState) -> [String] {
        let traffic = state.traffic
        let rows = [
            ["", "TOTAL", "NOW"],
            ["down", Format.bytes(traffic.bytesDown), Format.bandwidth(traffic.rateDown)],
            ["up", Format.bytes(traffic.bytesUp), Format.bandwidth(traffic.rateUp)],
        ]
        let connections = Format.count(traffic.connections, "connection")
        return [line(state.figures), "\(traffic.listening) for \(traffic.upstream)  \(connections)", ""]
            + TextTable(rows: rows).lines
    }

    static func table(_ presets: [LinkFigures]) -> TextTable {
        let rows = presets.map { figures in
            [
                figures.preset ?? "", rate(figures.down), rate(figures.up), delay(figures.delayDown),
                delay(figures.delayUp), share(figures.loss), delay(figures.dnsDelay),
            ]
        }
        return TextTable(rows: [["PRESET", "DOWN", "UP", "DELAY DOWN", "DELAY UP", "LOSS", "DNS"]] + rows)
    }

    private static func rate(_ rate: LinkRate) -> String {
        switch rate {
        case .unlimited: "unlimited"
        case .bits(0): "nothing"
        case .bits(let bits): Format.bandwidth(Int(bits.value.rounded()))
        }
    }

    private static func delay(_ delay: LinkDelay) -> String { "\(number(delay.value)) ms" }

    private static func share(_ share: Ratio) -> String { "\(number(share.value))%" }

    /// A number, without a fraction if it is whole.
    private static func number(_ value: Double) -> String {
        guard value == value.rounded() else { return "\(value)" }
        return "\(Int(value))"
    }
}
