import WeirAPI

/// Starts a job on an asset and follows it to its end. An interruption cancels the job in the daemon.
///
/// Polls instead of using events: only this job matters, and a busy daemon does not break a stream that would have to
/// be restarted.
struct JobFollower<Text: JobText>: Sendable {
    typealias Job = Text.Job

    let client: APIClient
    let style: ProgressReporter.Style
    /// The state directory from the command line, for `CommandFailure`.
    let state: String?
    private let endpoints = JobEndpoints<Job>()

    /// Follows the job until it ends or the user interrupts it, and prints the result.
    ///
    /// - Returns: the failure for the exit code; nil if the job succeeded.
    func report(_ name: String, _ request: Job.Request) async -> CommandFailure? {
        let outcome = await Interruption.orEnd { await run(name, request) }
        let (job, failure): (Job?, CommandFailure?) =
            switch outcome {
            case .success(let job): (job, Text.failure(job))
            case .failure(let failure): (nil, failure)
            }
        if style == .json {
            Output.record(Text.result(job, failure))
            return failure?.inResult
        }
        if let job {
            for line in Text.lines(job) {
                Output.line(line)
            }
        }
        return failure
    }

    /// Follows the job until it ends, an error occurs, or the task is cancelled.
    func run(_ name: String, _ request: Job.Request) async -> Result<Job, CommandFailure> {
        var progress = JobProgress<Text>(style)
        defer { progress.leave() }
        do {
            var pause = Pause()
            var job = try await client.call(endpoints.begin, name, body: request)
            while !job.isOver {
                progress.show(job)
                try await Task.sleep(for: pause.next())
                job = try await client.call(endpoints.look, name)
            }
            return .success(job)
        } catch {
            guard Task.isCancelled else { return .failure(CommandFailure(error, state: state)) }
            // Uses a new task, because this one is cancelled and its requests would fail.
            return await Task.detached { await giveUp(name) }.value
        }
    }

    /// Cancels the job in the daemon and waits for its end. If the job had already ended, returns its result.
    private func giveUp(_ name: String) async -> Result<Job, CommandFailure> {
        var pause = Pause()
        var job = try? await client.call(endpoints.cancel, name)
        while job?.isOver == false {
            try? await Task.sleep(for: pause.next())
            job = try? await client.call(endpoints.look, name)
        }
        if let job, !job.isAborted {
            return .success(job)
        }
        let (message, next) = Text.interruption(ofAsset: name)
        return .failure(CommandFailure("interrupted: \(message)", next: next, exitCode: 130, code: "interrupted"))
    }
}

/// The growing interval between two polls: a short job ends at once, and a long one is polled as often as events
/// arrive.
private struct Pause {
    private var current = Duration.milliseconds(25)

    mutating func next() -> Duration {
        defer { current = min(current * 2, .milliseconds(250)) }
        return current
    }
}

/// Prints the progress of a job, without repetitions.
struct JobProgress<Text: JobText> {
    private let style: ProgressReporter.Style
    private var last: Text.Job?

    init(_ style: ProgressReporter.Style) { self.style = style }

    /// Prints a state if it differs from the previous one.
    mutating func show(_ job: Text.Job) {
        guard job != last else { return }
        last = job
        switch style {
        case .json: Output.record(Text.progress(job))
        case .plain: break
        case .drawn(let hasColor):
            let line = Text.drawn(job, columns: Terminal.columns(), hasColor: hasColor)
            Output.draw("\r\(line)\u{1B}[K")
        }
    }

    mutating func leave() {
        if case .drawn = style, last != nil {
            Output.draw("\r\u{1B}[K")
        }
        last = nil
    }
}
