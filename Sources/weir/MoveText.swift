import API

/// Output of `weir move`.
enum MoveText: JobText {
    /// The result in a sentence or two if the move succeeded.
    static func lines(_ move: API.Move) -> [String] {
        guard move.state == .done else { return [] }
        let place = move.path.map { "in \($0)" } ?? "in the store"
        let rest = move.leftOut.map { count in
            [
                "\(count) pieces were not what had come, and were left out: "
                    + "\"weir verify \(move.asset)\" says what is missing"
            ]
        }
        return ["\(move.asset) is \(place), \(Format.bytes(move.totalBytes))"] + (rest ?? [])
    }

    /// The line for `weir events`, which reports only the end of a move.
    static func event(_ move: API.Move) -> [String] {
        switch move.state {
        case .none, .running, .repairing: []
        case .done: lines(move)
        case .cancelled: ["\(move.asset)  stays where it was"]
        case .failed: [move.error?.message ?? "\(move.asset)  stays where it was"]
        }
    }

    /// The failure for the exit code; nil if the move succeeded.
    static func failure(_ move: API.Move) -> Failure? {
        switch move.state {
        case .done, .running, .repairing: return nil
        case .none, .cancelled:
            let message = "the moving of \(move.asset) was cancelled: it is where it was"
            return Failure(message, exitCode: 1, code: "cancelled")
        case .failed:
            let code = move.error?.code ?? .internal
            let message = move.error?.message ?? "\(move.asset) is not moved"
            return Failure(
                message, next: APIError(code, "").next, exitCode: code.exitCode, code: code.rawValue)
        }
    }

    static func interruption(ofAsset name: String) -> (message: String, next: String) {
        ("\(name) is where it was", "the same command again")
    }
}
