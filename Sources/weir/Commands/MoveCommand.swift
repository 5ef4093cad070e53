import ArgumentParser
import Daemon
import Orders
import WeirAPI

struct MoveCommand: ReportingCommand, JSONCommand {
    static let configuration = CommandConfiguration(
        commandName: "move", abstract: "Move an asset to another disk or back, or move the whole store.",
        usage: """
            weir move <name> <dir>
            weir move <name> --home
            weir move --all <dir>
            """,
        discussion: """
            The folder is created if necessary; it contains only assets of this store. Playback continues, and so do downloads, \
            which then store there. While the disk is absent, the asset plays from its origin and nothing of it is stored or \
            deleted; Weir finds it within seconds when the disk is back. An interrupted move leaves the asset where it was; \
            the same command starts again.

            --all moves the store itself, while no daemon runs. The same command finishes an interrupted move. A file in the \
            old folder names the new one; change "store" in weir.toml yourself.
            """)

    @Argument(
        help: ArgumentHelp("The asset's name, and a folder on the other disk.", valueName: "name dir"),
        completion: .assetNames)
    var words: [String] = []
    @Flag(help: "Move the asset back into the store.")
    var home = false
    @Flag(help: "Move the whole store; the daemon must not run.")
    var all = false
    @Flag(help: "Write one JSON object per line: progress, then a result.")
    var json = false
    @OptionGroup var common: CommonOptions

    func validate() throws {
        let count = home || all ? 1 : 2
        guard words.count == count, !(home && all) else {
            throw ValidationError("Give a name and a folder, a name and --home, or --all and a folder.")
        }
    }

    func execute() async throws {
        if all {
            try await moveStore()
        } else {
            try await moveAsset()
        }
    }

    private func moveAsset() async throws {
        let follower = JobFollower<MoveText>(
            client: try common.daemon().client, style: ProgressReporter.Style(isJSON: json), state: common.state)
        var folder: String?
        if !home {
            folder = DiskPath.absolute(words[1])
        }
        if let failure = await follower.report(words[0], API.MoveRequest(path: folder)) {
            throw failure
        }
    }

    private func moveStore() async throws {
        let moving = try StoreMoving(try common.configuration(), to: DiskPath.absolute(words[0]))
        let follower = StoreMoveFollower(moving: moving, style: ProgressReporter.Style(isJSON: json))
        switch await Interruption.orEnd({ await follower.run() }) {
        case .failure(let failure):
            throw failure
        case .success(let result):
            if json {
                var move = API.Move(asset: "store", state: .complete)
                move.path = result.path
                move.totalBytes = Int(result.bytes)
                return Output.record(MoveText.result(move, nil))
            }
            Output.line("the store is in \(result.path), \(Format.bytes(Int(result.bytes)))")
            Output.line("set in weir.toml:  store = \"\(result.path)\"")
            guard result.damaged > 0 else { return }
            Output.error("weir: \(result.damaged) pieces are damaged; repair them with: weir verify --all --repair\n")
        }
    }
}

/// Moves the whole store and prints the progress. No daemon runs meanwhile: this process owns the store and reads its
/// own counters.
struct StoreMoveFollower: Sendable {
    let moving: StoreMoving
    let style: ProgressReporter.Style
    /// The time between two lines of progress.
    private static let interval = Duration.milliseconds(250)

    /// Runs until the move ends, or shortly after the task is cancelled.
    func run() async -> Result<StoreMoving.Result, CommandFailure> {
        let ticker = Task {
            var progress = JobProgress<MoveText>(style)
            while (try? await Task.sleep(for: Self.interval)) != nil {
                progress.show(current)
            }
            progress.leave()
        }

        let result = await withTaskCancellationHandler {
            do throws(ApplicationError) {
                return Result<StoreMoving.Result, CommandFailure>.success(try await moving.run())
            } catch {
                if moving.isCancelled {
                    return .failure(Self.interrupted)
                }
                return .failure(CommandFailure(error))
            }
        } onCancel: {
            moving.cancel()
        }

        ticker.cancel()
        await ticker.value
        return result
    }

    private static var interrupted: CommandFailure {
        CommandFailure(
            "interrupted: the store was not moved",
            next: "repeat the command: it continues where it stopped", exitCode: 130,
            code: "interrupted")
    }

    /// The progress in the shape of an asset's move.
    private var current: API.Move {
        var move = API.Move(asset: "store", state: .running)
        move.bytes = Int(moving.bytes)
        move.totalBytes = Int(moving.totalBytes)
        return move
    }
}

/// Output of `weir move`.
enum MoveText: JobText {
    /// The result in a sentence or two if the move succeeded.
    static func lines(_ move: API.Move) -> [String] {
        guard move.state == .complete else { return [] }
        let folder = move.path ?? "the store"
        var lines = ["\(move.asset) is in \(folder), \(Format.bytes(move.totalBytes))"]
        if let count = move.damagedPieces {
            lines.append("\(count) damaged pieces were not moved; list them with: weir verify \(move.asset)")
        }
        return lines
    }

    /// The line for `weir events`, which reports only the end of a move.
    static func event(_ move: API.Move) -> [String] {
        switch move.state {
        case nil, .queued, .running, .paused, .waiting: []
        case .complete: lines(move)
        case .cancelled: ["\(move.asset)  was not moved"]
        case .failed: [move.error?.message ?? "\(move.asset)  was not moved"]
        }
    }

    static func failure(_ move: API.Move) -> CommandFailure? {
        switch move.state {
        case .complete, .queued, .running, .paused, .waiting: return nil
        case nil, .cancelled:
            let message = "the move of \(move.asset) was cancelled"
            return CommandFailure(message, exitCode: 1, code: "cancelled")
        case .failed:
            let code = move.error?.code ?? .internal
            let message = move.error?.message ?? "\(move.asset) was not moved"
            return CommandFailure(message, next: APIError(code, "").next, exitCode: code.exitCode, code: code.rawValue)
        }
    }

    static func interruption(ofAsset name: String) -> (message: String, next: String) {
        ("\(name) was not moved", "repeat the command")
    }
}
