import Foundation
import Orders
import Synchronization
import WeirAPI

/// Starts a download and follows it until it ends or needs the user. Uses the daemon's events, and polls if the event
/// stream breaks off.
final class DownloadFollower: Sendable {
    /// Result of following a download.
    struct Outcome: Sendable {
        /// The last known state; nil if the download did not start.
        var download: API.Download?
        /// The error that ended the following; nil if the download reached its end.
        var error: (any Error)?
    }

    /// The wait for the stream was ended before it began.
    struct EndedWait: Error {
        let waited: Duration
    }

    private let client: APIClient
    private let state: String?
    private let reporter: Mutex<ProgressReporter>
    private let pace: Duration
    /// True to wait for a live stream that has not begun.
    private let waits: Bool

    /// - Parameters:
    ///   - state: the state directory from the command line, for `CommandFailure`.
    ///   - pace: maximum interval between two polls.
    init(
        client: APIClient, reporter: ProgressReporter, state: String?, pace: Duration = .milliseconds(250),
        waits: Bool = false
    ) {
        self.client = client
        self.reporter = Mutex(reporter)
        self.state = state
        self.pace = pace
        self.waits = waits
    }

    /// Follows until the download is final or needs the user, an error occurs, or the task is cancelled.
    ///
    /// - Parameter artwork: an image to store with the asset.
    func run(_ request: API.DownloadRequest, artwork: [UInt8]? = nil) async -> Outcome {
        var download: API.Download?
        let start = ContinuousClock.now
        let date = Int(Date().timeIntervalSince1970)
        do {
            var current = try await begin(request)
            download = current
            if let artwork {
                _ = try await client.call(Endpoints.setArtwork, current.asset, body: artwork)
            }
            report(current, since: start)

            while true {
                // The answer to the order may be the end of the old content's download already.
                if !current.endsFollowing {
                    current = await followEvents(of: current, since: start) { download = $0 }
                    try await poll(current, since: start) { download = $0 }
                }
                guard let next = try await successor(of: download) else { break }
                current = next
                download = next
                perform { $0.change(to: next) }
                report(next, since: start)
            }
            if let download {
                perform { $0.finish(download, since: date) }
            }
            return Outcome(download: download)
        } catch {
            perform { $0.leave() }
            // A cancellation surfaces as various errors.
            if Task.isCancelled, !(error is EndedWait) {
                return Outcome(download: download, error: CancellationError())
            }
            return Outcome(download: download, error: error)
        }
    }

    /// Starts the download, once the stream is there.
    private func begin(_ request: API.DownloadRequest) async throws -> API.Download {
        let start = ContinuousClock.now
        var pause = Self.shortestWait
        var isFirst = true
        while true {
            let reason: String
            do throws(APIError) {
                // The notice would break the line about the wait, which is drawn before each later attempt.
                if isFirst {
                    return try await client.start(request)
                }
                return try await client.call(Endpoints.addDownload, body: request)
            } catch {
                guard waits, error.mayBeginLater else { throw error }
                reason = error.message
            }
            isFirst = false
            try await wait(pause, because: reason, since: start)
            pause = min(pause * 2, Self.longestWait)
        }
    }

    /// Waits before the next look for the stream, and reports the wait each second.
    private func wait(_ pause: Duration, because reason: String, since start: ContinuousClock.Instant) async throws {
        let end = ContinuousClock.now + pause
        while case let rest = end - .now, rest > .zero {
            perform { $0.wait(for: .now - start, because: reason, rest: rest) }
            do {
                try await Task.sleep(for: min(rest, .seconds(1)))
            } catch {
                throw EndedWait(waited: .now - start)
            }
        }
    }

    /// The intervals at which a stream that has not begun is looked for.
    private static let shortestWait = Duration.seconds(1)
    private static let longestWait = Duration.seconds(15)

    /// Follows the event stream until the download or the stream ends. Returns the last known state.
    private func followEvents(
        of first: API.Download, since start: ContinuousClock.Instant, _ record: (API.Download) -> Void
    ) async -> API.Download {
        var current = first
        do {
            for try await event in client.events() {
                guard event.concerns(first.id) else { continue }
                // A download that is gone is polled, so that the daemon reports its fate.
                guard let next = event.download(first.id) else { return current }
                current = next
                record(next)
                report(next, since: start)
                if next.endsFollowing {
                    return next
                }
            }
        } catch {
            // The end of the stream says nothing about the download.
        }
        return current
    }

    /// Polls the download until it ends, or is gone because new content has replaced it. Does nothing if it has already ended.
    private func poll(
        _ first: API.Download, since start: ContinuousClock.Instant, _ record: (API.Download) -> Void
    ) async throws {
        let clock = ContinuousClock()
        var current = first
        while !current.endsFollowing {
            try await clock.sleep(for: pace)
            do throws(APIError) {
                current = try await client.call(Endpoints.download, current.id)
            } catch {
                guard error.code == .noSuchDownload else { throw error }
                do throws(APIError) {
                    guard try await replacement(of: current) != nil else { throw error }
                } catch {
                    guard error.code == .noSuchAsset else { throw error }
                    throw APIError(
                        .noSuchAsset, "\(current.asset) was removed while it was downloaded", next: "weir list")
                }
                return
            }
            record(current)
            report(current, since: start)
        }
    }

    /// The download of the new revision, if the followed one ended, or is gone, because the origin's content changed.
    private func successor(of download: API.Download?) async throws -> API.Download? {
        guard let download, !download.endsFollowing || download.error?.code == .otherContent,
            let id = try await replacement(of: download)
        else { return nil }
        return try await client.call(Endpoints.download, id)
    }

    /// The id of another download of the same asset, which fetches new content; nil if there is none.
    private func replacement(of download: API.Download) async throws(APIError) -> String? {
        let id = try await client.call(Endpoints.asset, download.asset).download
        guard id != download.id else { return nil }
        return id
    }

    private func report(_ download: API.Download, since start: ContinuousClock.Instant) {
        perform { $0.report(download, at: .now - start, columns: Terminal.columns()) }
    }

    /// Prints a summary and how to play it, without following.
    func introduce(_ download: API.Download) {
        perform { $0.report(download, at: .zero, columns: Terminal.columns()) }
        perform { $0.leave() }
    }

    /// The failure for the command's exit code; nil if the outcome is good.
    func failure(_ outcome: Outcome) -> CommandFailure? {
        if let error = outcome.error as? EndedWait {
            let waited = Format.clock(Double(error.waited.components.seconds))
            return CommandFailure(
                "the stream has not begun in \(waited), and nothing is recorded",
                next: "repeat the command, to wait again",
                exitCode: 130, code: "interrupted")
        }
        if outcome.error is CancellationError {
            return Self.interrupted(outcome.download)
        }
        if let error = outcome.error {
            return CommandFailure(error, state: state)
        }

        guard let download = outcome.download else { return nil }
        let again = "weir get \(download.asset)"
        if download.state == .complete {
            return download.shortfall.map { shortfall in
                guard shortfall.reason != .holes else {
                    return CommandFailure([shortfall], next: "weir show \(download.asset)")
                }
                return CommandFailure([shortfall], next: "\(again), to try what was selected again")
            }
        }
        if download.state == .waiting {
            return Self.needsUser(download)
        }

        guard let reason = download.error else {
            let word = download.state == .cancelled ? "was cancelled" : "failed"
            return CommandFailure(
                "the download of \(download.asset) \(word)", next: again, exitCode: 1, code: "cancelled")
        }

        let next = reason.code == .originRefused ? APIError.freshLink(for: download.asset) : again
        var failure = CommandFailure(
            reason.message, next: next, exitCode: reason.code.exitCode, code: reason.code.rawValue)
        // All but the pieces of a dead host is stored.
        if reason.code == .hostDead {
            failure.reasons = [.holes]
        }
        return failure
    }

    /// The failure for a download that waits until the user acts.
    private static func needsUser(_ download: API.Download) -> CommandFailure {
        var message = "\(download.asset) is \(download.stateWords), and continues by itself as soon as it can"
        if let cause = download.error {
            message += ": \(cause.message)"
        }

        if download.need == .volume {
            let next = APIError(.volumeAbsent, "").next
            return CommandFailure(message, next: next, exitCode: 75, code: APIError.Code.volumeAbsent.rawValue)
        }
        guard download.need == .space else {
            return CommandFailure(
                message, next: "weir resume \(download.asset) --url NEW, if the link has expired", exitCode: 77,
                code: APIError.Code.originRefused.rawValue)
        }
        return CommandFailure(
            message, next: "free space, for example with: weir remove NAME", exitCode: 74,
            code: APIError.Code.diskFull.rawValue)
    }

    private static func interrupted(_ download: API.Download?) -> CommandFailure {
        guard let download else {
            // The daemon may have received the request; its answer did not arrive.
            return CommandFailure(
                "interrupted before the daemon confirmed the download",
                next: "weir list, to see if the download has begun", exitCode: 130, code: "interrupted")
        }
        return CommandFailure(
            "detached; the download of \(download.asset) continues in the daemon",
            next: "weir get \(download.asset) to follow it again", exitCode: 130, code: "interrupted")
    }

    private func perform(_ actions: (inout ProgressReporter) -> [ProgressReporter.Action]) {
        for action in reporter.withLock({ actions(&$0) }) {
            switch action {
            case .output(let line): Output.record(line)
            case .drawing(let text): Output.draw(text)
            case .error(let text): Output.error(text)
            }
        }
    }
}

extension API.Download {
    /// True if the following ends: the download is final, or waits for something that only the user can provide.
    fileprivate var endsFollowing: Bool {
        state.isFinal || (state == .waiting && (need == .space || need == .key || need == .volume))
    }
}

extension API.Event {
    /// True if the event has the state of the download, or reports its removal.
    fileprivate func concerns(_ id: String) -> Bool {
        switch self {
        case .snapshot: true
        case .download(_, let download): download.id == id
        case .renditionComplete, .verification, .purged, .keys, .move, .changed, .contentChanged, .mode: false
        case .selectionResolved, .selectionsFurther, .selectionComplete: false
        case .removed(let reference): reference.id == id
        }
    }

    /// The state of the download in the event; nil if the download is gone.
    fileprivate func download(_ id: String) -> API.Download? {
        switch self {
        case .snapshot(let downloads): downloads.first { $0.id == id }
        case .download(_, let download): download
        case .renditionComplete, .removed, .verification, .purged, .keys, .move, .changed, .contentChanged, .mode: nil
        case .selectionResolved, .selectionsFurther, .selectionComplete: nil
        }
    }
}

extension APIError {
    /// True if the origin may have the stream later: it answers that there is none, or does not answer.
    fileprivate var mayBeginLater: Bool {
        switch code {
        case .badOrigin, .originAbsent, .notPlaylist, .originRefused: true
        default: false
        }
    }
}
