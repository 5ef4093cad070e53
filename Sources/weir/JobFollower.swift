import API

/// Begins a job on an asset and follows it to its end; where it is interrupted, so is the daemon's work.
///
/// It asks, and does not listen to events: whoever begins a job wants to hear of it alone, and where the daemon is busy for
/// a moment there is no stream to begin again.
struct JobFollower<Text: JobText>: Sendable {
    typealias Job = Text.Job

    let client: APIClient
    let style: ProgressReporter.Style
    /// As `Failure` takes it.
    let state: String?

    /// Follows to the end, or until the user interrupts it, and writes what came of it.
    ///
    /// - Returns: why the command does not end with 0; nil where it does.
    func report(_ name: String, _ request: Job.Request) async -> Failure? {
        let outcome = await Interruption.orEnd { await run(name, request) }
        let (job, failure): (Job?, Failure?) =
            switch outcome {
            case .success(let job): (job, Text.failure(job))
            case .failure(let failure): (nil, failure)
            }
        if style == .json {
            Output.line(Text.result(job, failure))
        } else if let job {
            for line in Text.lines(job) { Output.line(line) }
        }
        return failure
    }

    /// Follows until the job is over, an error comes, or the task is cancelled.
    func run(_ name: String, _ request: Job.Request) async -> Result<Job, Failure> {
        var progress = JobProgress<Text>(style)
        defer { progress.leave() }
        do {
            var pause = Pause()
            var job = try await client.begin(Job.self, request, ofAsset: name)
            while !job.state.isFinal {
                progress.show(job)
                try await Task.sleep(for: pause.next())
                job = try await client.look(ofAsset: name)
            }
            return .success(job)
        } catch {
            guard Task.isCancelled else { return .failure(Failure(error, state: state)) }
            // By a task of its own: this one can ask for nothing any more.
            return await Task.detached { await giveUp(name) }.value
        }
    }

    /// Ends the daemon's work, and waits for that: it may be too late, and then it is told how it has ended.
    private func giveUp(_ name: String) async -> Result<Job, Failure> {
        var pause = Pause()
        var job = try? await client.cancel(Job.self, ofAsset: name)
        while job?.state.isFinal == false {
            try? await Task.sleep(for: pause.next())
            job = try? await client.look(ofAsset: name)
        }
        if let job, !job.isGivenUp { return .success(job) }
        let (message, next) = Text.interruption(ofAsset: name)
        return .failure(Failure("interrupted: \(message)", next: next, exitCode: 130, code: "interrupted"))
    }
}

/// The time between two questions: what is short ends at once, and what is long is asked about as often as events come.
private struct Pause {
    private var current = Duration.milliseconds(25)

    mutating func next() -> Duration {
        defer { current = min(current * 2, .milliseconds(250)) }
        return current
    }
}

/// Shows how far a job is: each state once.
struct JobProgress<Text: JobText> {
    private let style: ProgressReporter.Style
    private var last: Text.Job?

    /// Nothing is shown yet.
    init(_ style: ProgressReporter.Style) { self.style = style }

    /// Shows a state, if it is another one than before.
    mutating func show(_ job: Text.Job) {
        guard job != last else { return }
        last = job
        switch style {
        case .json: Output.line(Text.progress(job))
        case .plain: break
        case .drawn(let hasColor):
            let line = Text.drawn(job, columns: Terminal.columns(), hasColor: hasColor)
            Output.error("\r\(line)\u{1B}[K")
        }
    }

    /// Clears the line that was drawn, if one was.
    mutating func leave() {
        if case .drawn = style, last != nil { Output.error("\r\u{1B}[K") }
        last = nil
    }
}
