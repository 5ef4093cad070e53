import API
import Application

/// Moves the whole store and prints the progress. No daemon runs meanwhile: this process owns the store and reads its
/// own counters.
struct StoreMoveFollower: Sendable {
    let moving: StoreMoving
    let style: ProgressReporter.Style

    /// Runs until the move ends, or shortly after the task is cancelled.
    func run() async -> Result<StoreMoving.Result, Failure> {
        let ticker = Task {
            var progress = JobProgress<MoveText>(style)
            while (try? await Task.sleep(for: .milliseconds(250))) != nil { progress.show(current) }
            progress.leave()
        }
        let result = await withTaskCancellationHandler {
            do throws(ApplicationError) {
                return Result<StoreMoving.Result, Failure>.success(try await moving.run())
            } catch {
                return .failure(moving.isCancelled ? Self.interrupted : Failure(error))
            }
        } onCancel: {
            moving.cancel()
        }
        ticker.cancel()
        await ticker.value
        return result
    }

    private static var interrupted: Failure {
        Failure(
            "interrupted: the store is where it was",
            next: "the same command again: what was copied is not copied again", exitCode: 130,
            code: "interrupted")
    }

    /// The progress in the shape of an asset's move.
    private var current: API.Move {
        var move = API.Move(asset: "store", state: .running)
        (move.bytes, move.totalBytes) = (Int(moving.bytes), Int(moving.totalBytes))
        return move
    }
}
