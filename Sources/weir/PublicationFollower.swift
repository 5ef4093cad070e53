import Control

/// Begins a publication and follows it to its end; where it is interrupted, so is the daemon's work.
struct PublicationFollower: Sendable {
    let client: ControlClient
    let style: ProgressReporter.Style
    /// As `Failure` takes it.
    let state: String?
    /// The time between two questions.
    var pace = Duration.milliseconds(250)

    /// Follows until the publication has ended, an error comes, or the task is cancelled.
    func run(_ name: String, _ request: API.PublicationRequest) async -> Result<API.Publication, Failure> {
        do {
            var current = try await client.publish(assetNamed: name, request)
            var last: API.Publication?
            while !current.state.isFinal {
                if current != last { show(current) }
                last = current
                try await Task.sleep(for: pace)
                current = try await client.publication(ofAsset: name)
            }
            leave()
            return .success(current)
        } catch {
            leave()
            guard Task.isCancelled else { return .failure(Failure(error, state: state)) }
            // By a task of its own: this one can ask for nothing any more.
            _ = await Task.detached { [client] in try? await client.cancelPublication(ofAsset: name) }.value
            return .failure(
                Failure(
                    "interrupted: \(name) is not wholly published", next: "the same command: it goes on where it was",
                    exitCode: 130, code: "interrupted"))
        }
    }

    private func show(_ publication: API.Publication) {
        switch style {
        case .json: Output.line(PublicationText.progress(publication))
        case .plain: break
        case .drawn(let hasColor):
            let line = PublicationText.drawn(publication, columns: Terminal.columns(), hasColor: hasColor)
            Output.error("\r\(line)\u{1B}[K")
        }
    }

    /// Clears the line that was drawn.
    private func leave() {
        if case .drawn = style { Output.error("\r\u{1B}[K") }
    }
}
