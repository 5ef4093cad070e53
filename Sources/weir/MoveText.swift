import API

/// Output of `weir move`.
enum MoveText: JobText {
    /// The end in a sentence or two, where it is a good one.
    static func lines(_ move: API.Move) -> [String] {
        guard move.state == .done else { return [] }
        let place = move.path.map { "in \($0)" } ?? "in the store"
        let rest = move.leftOut.map { count in
            [
                "\(count) pieces were not what had come, and were left out: "
                    + "\"weir verify \(move.asset)\" says what is missing"
            ]
        }
        return ["\(move.asset) lies \(place), \(Format.bytes(move.totalBytes))"] + (rest ?? [])
    }

    /// For people who follow all events: only its end is told.
    static func event(_ move: API.Move) -> [String] {
        switch move.state {
        case .none, .running, .repairing: []
        case .done: lines(move)
        case .cancelled: ["\(move.asset)  stays where it was"]
        case .failed: [move.error?.message ?? "\(move.asset)  stays where it was"]
        }
    }

    /// Why it does not end with 0; nil where it is there.
    static func failure(_ move: API.Move) -> Failure? {
        switch move.state {
        case .done, .running, .repairing: return nil
        case .none, .cancelled:
            let message = "the moving of \(move.asset) was given up: it lies where it was"
            return Failure(message, exitCode: 1, code: "cancelled")
        case .failed:
            let code = move.error?.code ?? .internal
            let message = move.error?.message ?? "\(move.asset) is not moved"
            return Failure(
                message, next: APIError(code, "").next, exitCode: code.exitCode, code: code.rawValue)
        }
    }

    static func interruption(ofAsset name: String) -> (message: String, next: String) {
        ("\(name) lies where it was", "the same command again")
    }
}
