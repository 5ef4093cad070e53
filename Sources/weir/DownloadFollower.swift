import Control
import Foundation
import Synchronization

/// Starts a download and asks how it goes until it ends.
final class DownloadFollower: Sendable {
    /// How following ended.
    struct Outcome: Sendable {
        /// The last known state; nil when there never was one.
        var download: API.Download?
        /// What went wrong with the asking; nil when the download came to its end.
        var error: (any Error)?
    }

    private let client: ControlClient
    private let state: String?
    private let reporter: Mutex<ProgressReporter>
    private let pace: Duration

    /// - Parameters:
    ///   - state: as `Failure` takes it.
    ///   - pace: the longest time between two questions.
    init(client: ControlClient, reporter: ProgressReporter, state: String?, pace: Duration = .milliseconds(250)) {
        self.client = client
        self.reporter = Mutex(reporter)
        self.state = state
        self.pace = pace
    }

    /// Follows until the download is final, an error comes, or the task is cancelled.
    func run(_ request: API.DownloadRequest) async -> Outcome {
        var download: API.Download?
        let clock = ContinuousClock()
        let start = clock.now
        do {
            var current = try await client.download(request)
            while true {
                download = current
                let state = current
                perform { $0.report(state, at: clock.now - start, columns: Terminal.columns()) }
                guard !current.state.isFinal else { break }
                // A short download is not made to look longer than it is by more than a twentieth.
                try await clock.sleep(for: min(max((clock.now - start) / 20, .milliseconds(5)), pace))
                current = try await client.download(id: current.id)
            }
            let state = current
            perform { $0.finish(state) }
            return Outcome(download: download)
        } catch {
            perform { $0.leave() }
            // Being cancelled shows in many guises below.
            return Outcome(download: download, error: Task.isCancelled ? CancellationError() : error)
        }
    }

    /// Says what it is, and how to play it, without following.
    func introduce(_ download: API.Download) {
        perform { $0.report(download, at: .zero, columns: Terminal.columns()) }
        perform { $0.leave() }
    }

    /// Why the command does not end with 0; nil when it does.
    func failure(_ outcome: Outcome) -> Failure? {
        if let error = outcome.error {
            return error is CancellationError ? Self.interrupted(outcome.download) : Failure(error, state: state)
        }
        guard let download = outcome.download, download.state != .complete else { return nil }
        let again = "weir get \(download.asset)"
        guard let reason = download.error else {
            let word = download.state == .cancelled ? "was cancelled" : "failed"
            return Failure("the download of \(download.asset) \(word)", next: again, exitCode: 1, code: "cancelled")
        }
        let next = reason.code == .originRefused ? ControlError.freshLink(for: download.asset) : again
        return Failure(reason.message, next: next, exitCode: reason.code.exitCode, code: reason.code.rawValue)
    }

    private static func interrupted(_ download: API.Download?) -> Failure {
        guard let download else {
            return Failure("interrupted before the download began", exitCode: 130, code: "interrupted")
        }
        return Failure(
            "detached; the download of \(download.asset) goes on in the daemon",
            next: "weir get \(download.asset) to follow it again", exitCode: 130, code: "interrupted")
    }

    private func perform(_ actions: (inout ProgressReporter) -> [ProgressReporter.Action]) {
        for action in reporter.withLock({ actions(&$0) }) {
            switch action {
            case .output(let line): Output.line(line)
            case .error(let text): Output.error(text)
            }
        }
    }
}
