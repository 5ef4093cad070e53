import EventLoop
import Integrity
import Library
import Playheads
import Store

/// Verifies every asset every thirty days, one at a time, while nothing is played or downloaded.
@LoopActor final class Scrubber {
    private unowned let downloader: Downloader
    private let library: Library
    private let verifier: Verifier
    private var timer: LoopTimer?
    private var job: VerificationJob?
    private var isStarted = false
    /// Time of the last failed verification of an asset, in seconds since 1970.
    private var failed: [String: Int64] = [:]

    /// Interval between two verifications of an asset, in seconds.
    static let span: Int64 = 30 * 86_400
    /// Time before a failed verification is repeated, in seconds.
    private static let retrySpan: Int64 = 86_400
    private static let idlePause = Duration.seconds(60)
    /// Interval between checks during a verification: bounds the time until it pauses for a player, and until the next
    /// asset begins.
    private static let busyPause = Duration.seconds(1)

    init(_ downloader: Downloader, _ verifier: Verifier) {
        self.downloader = downloader
        self.verifier = verifier
        library = downloader.library
        timer = LoopTimer { [weak self] in self?.turn() }
        verifier.observe { [weak self] job in self?.ended(job) }
    }

    /// Starts the periodic checks.
    func start() {
        isStarted = true
        timer?.schedule(after: Self.idlePause)
    }

    private func turn() {
        look()
        timer?.schedule(after: job == nil ? Self.idlePause : Self.busyPause)
    }

    /// Starts a verification that is due; pauses or continues the running one.
    func look() {
        if let job { return job.verification.pace.isPaused = isBusy }
        guard !isBusy, verifier.isIdle else { return }
        let now = verifier.now()
        let due = downloader.integrity.assetToVerify(before: now - Self.span, at: now) { asset in
            self.failed[asset.id].map { now - $0 < Self.retrySpan } ?? false
        }
        guard let due else { return }
        job = try? verifier.scrub(due)
    }

    /// True if disk and network are used by playback or downloads.
    private var isBusy: Bool {
        library.playheads.isAnyPlayed || downloader.byAsset.values.contains { $0.state == .running }
    }

    private func ended(_ job: VerificationJob) {
        guard job === self.job, job.state.isFinal else { return }
        self.job = nil
        if isStarted { timer?.schedule(after: Self.busyPause) }
        let asset = job.asset
        if let failure = job.failure {
            failed[asset.id] = verifier.now()
            downloader.report("\(asset.name): \(failure.message)")
        }
        guard job.verification.faultCount > 0 || job.found > 0 else { return }
        tell(job)
        if !library.isOffline { downloader.mend(asset) }
    }

    private func tell(_ job: VerificationJob) {
        let wrong = job.verification.faults.sorted { $0.key < $1.key }.flatMap { folder, files in
            files.keys.sorted().map { "\(folder)/\($0)" }
        }
        var words: [String] = []
        if !wrong.isEmpty {
            let more = wrong.count > 8 ? " and \(wrong.count - 8) more" : ""
            words.append("not what had come, and set aside: \(wrong.prefix(8).joined(separator: ", "))\(more)")
        }
        if job.found > 0 { words.append("\(job.found) in all are missing now") }
        downloader.report("\(job.asset.name): verified, since it was time: \(words.joined(separator: "; "))")
    }
}
