import Control

/// What `weir move` writes.
enum MoveText {
    /// The line that is drawn over and over, for a terminal of so many columns.
    static func drawn(_ move: API.Move, columns: Int, hasColor: Bool) -> String {
        let fraction = move.totalBytes > 0 ? Double(move.bytes) / Double(move.totalBytes) : 0
        let percent = Format.percent(min(0.99, fraction)).rightAligned(to: 4)
        let tail = "\(Format.bytes(move.bytes)) of \(Format.bytes(move.totalBytes))"
        let width = min(30, columns - 1 - move.asset.count - percent.count - tail.count - 5)
        guard width >= 5 else { return "\(move.asset)  \(percent)" }
        let bar = ProgressBar.text(fraction, width: width)
        return "\(move.asset)  \(percent) " + (hasColor ? "\u{1B}[36m\(bar)\u{1B}[0m" : bar) + "  \(tail)"
    }

    /// The end in a sentence or two.
    static func lines(_ move: API.Move) -> [String] {
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
        case .none, .running: []
        case .done: lines(move)
        case .cancelled: ["\(move.asset)  stays where it was"]
        case .failed: [move.error?.message ?? "\(move.asset)  stays where it was"]
        }
    }

    /// Why it does not end with 0; nil where it is there.
    static func failure(_ move: API.Move) -> Failure? {
        switch move.state {
        case .done, .running: return nil
        case .none, .cancelled:
            let message = "the moving of \(move.asset) was given up: it lies where it was"
            return Failure(message, exitCode: 1, code: "cancelled")
        case .failed:
            let code = move.error?.code ?? .internal
            let message = move.error?.message ?? "\(move.asset) is not moved"
            return Failure(
                message, next: ControlError(code, "").next, exitCode: code.exitCode, code: code.rawValue)
        }
    }

    // MARK: JSON

    static func progress(_ move: API.Move) -> String {
        var line = JSONLine()
        line.add("v", 1)
        line.add("t", "progress")
        line.add("id", move.asset)
        line.add("bytes", move.bytes)
        line.add("totalBytes", move.totalBytes)
        return line.text
    }

    /// The end, good or bad; nil where there was never a move.
    static func result(_ move: API.Move?, _ failure: Failure?) -> String {
        var line = JSONLine()
        line.add("v", 1)
        line.add("t", "result")
        line.add("id", move?.asset)
        line.add("move", move)
        line.add("error", failure.map { ["code": $0.code, "message": $0.message] })
        line.add("exit", failure?.exitCode ?? 0)
        return line.text
    }
}
