import Control

/// Begins a move and follows it to its end; where it is interrupted, so is the daemon's work.
struct MoveFollower: Sendable {
    let client: ControlClient
    let style: ProgressReporter.Style
    /// As `Failure` takes it.
    let state: String?
    /// The time between two questions.
    var pace = Duration.milliseconds(100)

    /// Follows until the move has ended, an error comes, or the task is cancelled.
    func run(_ name: String, _ request: API.MoveRequest) async -> Result<API.Move, Failure> {
        do {
            var current = try await client.move(assetNamed: name, request)
            var last: API.Move?
            while current.state == .running {
                if current != last { show(current) }
                last = current
                try await Task.sleep(for: pace)
                current = try await client.move(ofAsset: name)
            }
            if last != nil { leave() }
            return .success(current)
        } catch {
            leave()
            guard Task.isCancelled else { return .failure(Failure(error, state: state)) }
            // By a task of its own: this one can ask for nothing any more.
            return await Task.detached { [self] in await giveUp(name) }.value
        }
    }

    /// Ends the daemon's work, and waits for that: it may be too late.
    private func giveUp(_ name: String) async -> Result<API.Move, Failure> {
        var current = try? await client.cancelMove(ofAsset: name)
        while current?.state == .running {
            try? await Task.sleep(for: pace)
            current = try? await client.move(ofAsset: name)
        }
        if let current, current.state == .done { return .success(current) }
        let message = "interrupted: \(name) lies where it was"
        return .failure(Failure(message, next: "the same command again", exitCode: 130, code: "interrupted"))
    }

    private func show(_ move: API.Move) {
        switch style {
        case .json: Output.line(MoveText.progress(move))
        case .plain: break
        case .drawn(let hasColor):
            let line = MoveText.drawn(move, columns: Terminal.columns(), hasColor: hasColor)
            Output.error("\r\(line)\u{1B}[K")
        }
    }

    /// Clears the line that was drawn.
    private func leave() {
        if case .drawn = style { Output.error("\r\u{1B}[K") }
    }
}
