import Application
import Control
import Foundation

/// Moves the whole store, and says how far that is.
struct StoreMoveFollower: Sendable {
    let moving: StoreMoving
    let style: ProgressReporter.Style

    /// Returns when it is over; where its task is cancelled, soon.
    func run() async -> Result<StoreMoving.Result, Failure> {
        let ticker = Task {
            while (try? await Task.sleep(for: .milliseconds(250))) != nil { show() }
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
        if case .drawn = style { Output.error("\r\u{1B}[K") }
        return result
    }

    private static var interrupted: Failure {
        Failure(
            "interrupted: the store is where it was",
            next: "the same command again: what was copied is not copied again", exitCode: 130,
            code: "interrupted")
    }

    private func show() {
        var move = API.Move(asset: "store", state: .running)
        (move.bytes, move.totalBytes) = (Int(moving.bytes), Int(moving.totalBytes))
        switch style {
        case .json: Output.line(MoveText.progress(move))
        case .plain: break
        case .drawn(let hasColor):
            Output.error("\r\(MoveText.drawn(move, columns: Terminal.columns(), hasColor: hasColor))\u{1B}[K")
        }
    }
}
