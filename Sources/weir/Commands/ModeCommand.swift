import ArgumentParser
import Orders
import WeirAPI

struct ModeCommand: ReportingCommand, JSONCommand {
    static let configuration = CommandConfiguration(
        commandName: "mode", abstract: "Show or change the network mode until the daemon stops.",
        discussion: """
            auto: missing media is fetched from the origin, as long as it can be reached.
            offline: no connection is opened; stored media plays.
            local: as auto, but playlists list only complete renditions, if there are any.
            """)

    @Argument(help: ArgumentHelp("The new mode.", valueName: "auto|offline|local"), transform: Self.name)
    var mode: PlayMode?
    @Flag(help: "Write one JSON object.")
    var json = false
    @OptionGroup var common: CommonOptions

    func execute() async throws {
        let client = try common.daemon().client
        let answer: API.Mode
        if let mode {
            answer = try await client.call(Endpoints.setMode, body: API.Mode(mode))
        } else {
            answer = try await client.call(Endpoints.mode)
        }

        guard !json else { return try Output.json(answer) }
        Output.line(answer.mode.rawValue)
        if mode != nil {
            Output.error(Self.effect(of: answer.mode) + "\n")
        }
    }

    /// The consequences of a change to a mode, in a sentence.
    static func effect(of mode: PlayMode) -> String {
        switch mode {
        case .auto: "Missing media is fetched from the origins, and downloads continue."
        case .offline:
            "No connection is opened: stored media plays, and downloads wait. \"weir mode auto\" ends this, and so does the end of "
                + "the daemon."
        case .local: "Players see complete renditions only, where there are any; what is missing is still fetched."
        }
    }

    private static func name(_ word: String) throws -> PlayMode {
        guard let name = PlayMode(rawValue: word) else {
            throw ValidationError("\"\(word)\" is not a mode; the modes are auto, offline and local")
        }
        return name
    }
}
