import API
import Application
import ArgumentParser

/// `weir move`
struct MoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move", abstract: "Move an asset to another disk, and back; or the whole store.",
        usage: """
            weir move <name> <dir>
            weir move <name> --home
            weir move --all <dir>
            """,
        discussion: """
            The folder is made if it is not there; it holds what this store has moved to it, and nothing else. Who plays goes \
            on, and so do downloads, which keep there from then on. While the disk is not there, the asset plays from its \
            origin, nothing of it is kept or forgotten, and it is found again within seconds when the disk is back. An \
            interrupted move leaves the asset where it was; the same command begins it again.

            --all moves the store itself, with no daemon running. The same command finishes what was interrupted. The old \
            folder is left with a note of where the store is; "store" in weir.toml is for you to change.
            """)

    @Argument(help: ArgumentHelp("The asset's name, and a folder on the other disk.", valueName: "name dir"))
    var words: [String] = []

    @Flag(help: "Bring the asset back into the store.")
    var home = false

    @Flag(help: "Move the whole store; the daemon must not run.")
    var all = false

    @Flag(help: "Write one JSON object per line: progress, then a result.")
    var json = false

    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard words.count == (home || all ? 1 : 2), !(home && all) else {
            throw ValidationError("Give a name and a folder, a name and --home, or --all and a folder.")
        }
    }

    func run() async throws {
        try await reporting(common) {
            if all { try await moveStore() } else { try await moveAsset() }
        }
    }

    private func moveAsset() async throws {
        let follower = JobFollower<MoveText>(
            client: try common.daemon().client, style: ProgressReporter.Style(isJSON: json), state: common.state)
        let request = API.MoveRequest(path: home ? nil : DiskPath.absolute(words[1]))
        if let failure = await follower.report(words[0], request) { throw failure }
    }

    private func moveStore() async throws {
        let moving = try StoreMoving(try common.configuration(), to: DiskPath.absolute(words[0]))
        let follower = StoreMoveFollower(moving: moving, style: ProgressReporter.Style(isJSON: json))
        switch await Interruption.orEnd({ await follower.run() }) {
        case .failure(let failure):
            if json { Output.line(MoveText.result(nil, failure)) }
            throw failure
        case .success(let result):
            if json {
                var move = API.Move(asset: "store", state: .done)
                (move.path, move.totalBytes) = (result.path, Int(result.bytes))
                return Output.line(MoveText.result(move, nil))
            }
            Output.line("the store is in \(result.path), \(Format.bytes(Int(result.bytes)))")
            Output.line("set in weir.toml:  store = \"\(result.path)\"")
            guard result.damaged > 0 else { return }
            Output.error("weir: \(result.damaged) pieces are not what had come: weir verify --all --repair\n")
        }
    }
}
