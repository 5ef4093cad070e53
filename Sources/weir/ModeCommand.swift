import API
import ArgumentParser

struct ModeCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "mode", abstract: "Show or change the network mode until the daemon stops.",
        discussion: """
            auto: missing media is fetched from the origin, as long as it can be reached.
            offline: no connection is opened; stored media plays.
            local: as auto, but playlists list only complete renditions, if there are any.
            """)

    @Argument(help: ArgumentHelp("The new mode.", valueName: "auto|offline|local"), transform: Self.name)
    var mode: API.Mode.Name?
    @Flag(help: "Write one JSON object.")
    var json = false
    @OptionGroup var common: CommonOptions

    func execute() async throws {
        let client = try common.daemon().client
        let answer = if let mode { try await client.change(to: API.Mode(mode)) } else { try await client.mode() }
        if json { try Output.json(answer) } else { Output.line(answer.mode.rawValue) }
    }

    private static func name(_ word: String) throws -> API.Mode.Name {
        guard let name = API.Mode.Name(rawValue: word) else {
            throw ValidationError("\"\(word)\" is not a mode; the modes are auto, offline and local")
        }
        return name
    }
}
