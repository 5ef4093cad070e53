public import API
public import ArgumentParser

extension LinkRate: ExpressibleByArgument {
    /// Parses the argument of `weir link set`.
    public init?(argument: String) { self.init(argument) }
}

/// `weir link set`
struct LinkSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change the link's settings for open connections too.",
        discussion: """
            A preset (see: weir link list), figures that replace single ones of it, or figures alone, which leave the others \
            as they are: weir link set very bad network --loss 2%
            """)

    @Argument(help: "The name of a preset.")
    var preset: [String] = []

    @Option(help: "Towards the client: 780k, 2M, 50Mb/s, unlimited; 0: nothing passes.")
    var down: LinkRate?

    @Option(help: "From the client.")
    var up: LinkRate?

    @Option(help: ArgumentHelp("One way: 100ms or 1.5s.", valueName: "time"), transform: Self.delay)
    var delayDown: Double?

    @Option(help: ArgumentHelp("The same from the client.", valueName: "time"), transform: Self.delay)
    var delayUp: Double?

    @Option(help: ArgumentHelp("Of the packets: 10%.", valueName: "share"), transform: Self.share)
    var loss: Double?

    @Option(
        help: ArgumentHelp("For connections while the upstream's name is not known.", valueName: "time"),
        transform: Self.delay)
    var dnsDelay: Double?

    @OptionGroup var options: LinkOptions

    /// The change that the options make.
    var change: LinkChange {
        var change = LinkChange(preset: preset.isEmpty ? nil : preset.joined(separator: " "))
        (change.down, change.up) = (down, up)
        (change.delayDown, change.delayUp) = (delayDown, delayUp)
        (change.loss, change.dnsDelay) = (loss, dnsDelay)
        return change
    }

    func validate() throws {
        guard change != LinkChange() else { throw ValidationError("Give a preset or a figure; see: weir link list") }
        guard let name = change.preset, LinkFigures.preset(named: name) == nil else { return }
        let names = LinkFigures.presets.compactMap(\.preset).joined(separator: ", ")
        throw ValidationError("There is no preset \"\(name)\"; there are: \(names).")
    }

    func run() async throws {
        try await reporting(options.common) {
            try options.write(try await options.client().change(change)) { [LinkText.line($0.figures)] }
        }
    }

    private static func delay(_ text: String) throws -> Double {
        guard let delay = LinkNumber.delay(text) else {
            throw ValidationError("\(text) is not a time such as 100ms or 1.5s")
        }
        return delay
    }

    private static func share(_ text: String) throws -> Double {
        guard let share = LinkNumber.share(text) else {
            throw ValidationError("\(text) is not a share such as 10%")
        }
        return share
    }
}
