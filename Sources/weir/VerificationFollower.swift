import Control

/// Begins a verification and follows it to its end; where it is interrupted, so is the daemon's work.
struct VerificationFollower: Sendable {
    let client: ControlClient
    let style: ProgressReporter.Style
    /// As `Failure` takes it.
    let state: String?
    /// The time between two questions: as often as events come at most, and where the daemon is busy for a moment there is no
    /// stream to begin again.
    var pace = Duration.milliseconds(250)

    /// Follows until the verification has ended, an error comes, or the task is cancelled.
    func run(_ name: String, _ request: API.VerificationRequest) async -> Result<API.Verification, Failure> {
        do {
            var current = try await client.verify(assetNamed: name, request)
            var last: API.Verification?
            while !current.state.isFinal {
                if current != last { show(current) }
                last = current
                try await Task.sleep(for: pace)
                current = try await client.verification(ofAsset: name)
            }
            if last != nil { leave() }
            return .success(current)
        } catch {
            leave()
            guard Task.isCancelled else { return .failure(Failure(error, state: state)) }
            // By a task of its own: this one can ask for nothing any more.
            _ = await Task.detached { [client] in try? await client.cancelVerification(ofAsset: name) }.value
            let message = "interrupted: \(name) is not wholly verified"
            return .failure(Failure(message, next: "weir verify \(name)", exitCode: 130, code: "interrupted"))
        }
    }

    private func show(_ verification: API.Verification) {
        switch style {
        case .json: Output.line(VerificationText.progress(verification))
        case .plain: break
        case .drawn(let hasColor):
            let line = VerificationText.drawn(verification, columns: Terminal.columns(), hasColor: hasColor)
            Output.error("\r\(line)\u{1B}[K")
        }
    }

    /// Clears the line that was drawn.
    private func leave() {
        if case .drawn = style { Output.error("\r\u{1B}[K") }
    }
}
