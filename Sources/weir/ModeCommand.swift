import API
import ArgumentParser

/// `weir mode`
struct ModeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mode", abstract: "Show or change the network mode until the daemon stops.",
        discussion: """
            auto: what is missing comes from the origin, as long as it can be reached.
            offline: no connection is opened; what is stored plays.
            local: as auto, but where something is stored whole, only that is offered.
            """)

    @Argument(help: ArgumentHelp("The new mode.", valueName: "auto|offline|local"), transform: Self.name)
    var mode: API.Mode.Name?

    @Flag(help: "Write one JSON object.")
    var json = false

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await reporting(common) {
            let client = try common.daemon().client
            let answer = if let mode { try await client.change(to: API.Mode(mode)) } else { try await client.mode() }
            Output.line(json ? String(decoding: try API.encode(answer), as: UTF8.self) : answer.mode.rawValue)
        }
    }

    private static func name(_ word: String) throws -> API.Mode.Name {
        guard let name = API.Mode.Name(rawValue: word) else {
            throw ValidationError("\"\(word)\" is no mode; there are auto, offline and local")
        }
        return name
    }
}
