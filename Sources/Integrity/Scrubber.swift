import Assets
package import EventLoop
import Fetching
import Orders
import Playheads
import Store

/// Verifies every asset every thirty days, one at a time, while nothing is played or downloaded.
@LoopActor package final class Scrubber {
    private unowned let integrity: IntegrityService
    private var timer: LoopTimer?
    private var subscription: Subscription?
    private var job: VerificationJob?
    private var isStarted = false
    /// Time of the last failed verification of an asset, in seconds since 1970.
    private var failed: [String: Int64] = [:]

    /// Interval between two verifications of an asset, in seconds.
    static let span: Int64 = 30 * 86_400
    private static let retrySpan: Int64 = 86_400
    /// The pause between two searches for an asset that is due.
    private static let idlePause = Duration.seconds(600)
    private static let firstPause = Duration.seconds(60)
    /// Bounds the time until a verification pauses for a player, and until the next asset begins.
    private static let busyPause = Duration.seconds(1)

    init(_ integrity: IntegrityService) {
        self.integrity = integrity
        timer = LoopTimer { [weak self] in self?.turn() }
        subscription = integrity.jobs.changes.subscribe { [weak self] in self?.jobChanged($0) }
    }

    package func start() {
        isStarted = true
        timer?.schedule(after: Self.firstPause)
    }

    private func turn() {
        check()
        if job == nil {
            timer?.schedule(after: Self.idlePause)
        } else {
            timer?.schedule(after: Self.busyPause)
        }
    }

    /// Starts a verification that is due; pauses or continues the running one.
    func check() {
        if let job {
            return job.verification.pace.isPaused = isBusy
        }
        guard !isBusy, integrity.isIdle else { return }
        let now = integrity.now()
        let due = integrity.assetToVerify(before: now - Self.span, at: now) { asset in
            guard let failure = self.failed[asset.id] else { return false }
            return now - failure < Self.retrySpan
        }
        guard let due else { return }
        job = try? integrity.begin(due, isRepair: false, isScrub: true)
    }

    private var isBusy: Bool { integrity.library.playheads.isAnyPlayed || integrity.downloads?.isAnyRunning ?? false }

    private func jobChanged(_ job: VerificationJob) {
        guard job === self.job, job.state.isFinal else { return }
        self.job = nil
        if isStarted {
            timer?.schedule(after: Self.busyPause)
        }
        let asset = job.asset
        if let failure = job.failure {
            failed[asset.id] = integrity.now()
            integrity.library.report("\(asset.name): \(failure.message)")
        }
        guard job.verification.faultCount > 0 || job.found > 0 else { return }
        report(job)
        if !integrity.library.isOffline {
            integrity.downloads?.resumeIncomplete(asset)
        }
    }

    private func report(_ job: VerificationJob) {
        let wrong = job.verification.faults.sorted { $0.key < $1.key }.flatMap { folder, files in
            files.keys.sorted().map { "\(folder)/\($0)" }
        }
        var words: [String] = []
        if !wrong.isEmpty {
            var listed = wrong.prefix(8).joined(separator: ", ")
            if wrong.count > 8 {
                listed += " and \(wrong.count - 8) more"
            }
            words.append("damaged and set aside: \(listed)")
        }
        if job.found > 0 {
            words.append("pieces missing now: \(job.found)")
        }
        let findings = words.joined(separator: "; ")
        integrity.library.report("\(job.asset.name): found by the regular verification: \(findings)")
    }
}

extension IntegrityService {
    private static let mostLooks = 64

    /// The asset whose last verification, or creation if there was none, is the oldest before a time limit. Large
    /// stores are searched over several calls.
    ///
    /// - Parameters:
    ///   - limit: in seconds since 1970.
    ///   - now: a verification after this time is due to a wrong clock, and counts as old.
    func assetToVerify(before limit: Int64, at now: Int64, isPassedOver: (Asset) -> Bool) -> Asset? {
        var looks = 0
        var oldest: (asset: Asset, time: Int64)?
        for asset in library.assets where asset.isPersistent && asset.created < limit && !isPassedOver(asset) {
            if asset.bundle.absence != nil || library.volumes.isMoving(asset) {
                continue
            }
            if asset.knownVerified == nil {
                looks += 1
            }
            guard looks <= Self.mostLooks else { break }
            var verified = asset.verified ?? asset.created
            // The clock was set back since: nobody knows how long ago it was.
            if let last = asset.verified, last > now {
                verified = 0
            }
            if verified < limit, verified < oldest?.time ?? .max {
                oldest = (asset, verified)
            }
        }
        return oldest?.asset
    }
}
