// The room Integrity.
//
// Duty: verifies and repairs assets, and chooses which one is verified next.
// Entrance: `IntegrityService`.
// Does not enter: how a piece is hashed (`Store`) or fetched again (`Fetching`).

package import Assets
package import EventLoop
import Fetching
import Glibc
package import Orders
package import Retention
import Store

/// The downloads, as far as a repair needs them.
@LoopActor package protocol RepairDownloads: AnyObject {
    /// True if a download is running.
    var isAnyRunning: Bool { get }
    /// Lets the download of the job's asset fetch its holes, unless it is stopped. Returns why holes remain.
    func fillHoles(for job: VerificationJob) async -> JobFailure?
    /// Resumes the asset's complete download after one of its pieces was lost.
    func resumeIncomplete(_ asset: Asset)
}

/// One verification of an asset, with its result and the repair of the damage.
@LoopActor package final class VerificationJob: AssetJob {
    package let verification: Verification
    /// True if missing pieces are fetched.
    package let isRepair: Bool
    package internal(set) var state = JobState.running
    package internal(set) var isRepairing = false
    package internal(set) var failure: JobFailure?
    /// Number of missing or damaged pieces before the repair; 0 until all pieces were read.
    package internal(set) var found = 0
    /// True if the scrubber started the job, not a user.
    let isScrub: Bool

    init(_ verification: Verification, isRepair: Bool, isScrub: Bool) {
        self.verification = verification
        self.isRepair = isRepair
        self.isScrub = isScrub
    }

    package var asset: Asset { verification.asset }
}

/// Verifies stored pieces against their ledgers, on request or periodically, and repairs damage.
@LoopActor package final class IntegrityService {
    let library: Library
    let retention: RetentionService
    private(set) weak var downloads: (any RepairDownloads)?
    /// Returns the time in seconds since 1970.
    let now: () -> Int64
    private let bytesPerSecond: Int64
    /// The verifications. A running one is sent at most four times a second.
    package let jobs = JobRegister<VerificationJob>()
    package private(set) lazy var scrubber = Scrubber(self)
    private var ticker: LoopTimer?
    private var isStopped = false

    private static let interval = Duration.milliseconds(250)

    /// - Parameters:
    ///   - retention: knows the content pinned by downloads.
    ///   - bytesPerSecond: maximum reading rate of a verification; 0 for no limit.
    ///   - now: returns the time in seconds since 1970; nil for the system's clock.
    package init(
        of library: Library, _ retention: RetentionService, bytesPerSecond: Int64 = 100 << 20,
        now: (() -> Int64)? = nil
    ) {
        self.library = library
        self.retention = retention
        self.bytesPerSecond = bytesPerSecond
        self.now = now ?? { Int64(time(nil)) }
        ticker = LoopTimer { [weak self] in self?.tick() }
    }

    /// Sets the downloads that repairs use.
    package func attach(_ downloads: any RepairDownloads) { self.downloads = downloads }

    // MARK: Jobs

    /// Verifies an asset, or returns the running verification unless the new one must repair and that does not.
    ///
    /// - Parameter isRepair: true to fetch the asset's requested holes and the damaged pieces.
    /// - Throws: `store` if the system has no free file descriptor.
    package func start(_ asset: Asset, isRepair: Bool) throws(LibraryError) -> VerificationJob {
        if let known = jobs[asset], !known.state.isFinal, !known.isScrub, known.isRepair || !isRepair {
            return known
        }
        // A requested verification cancels the periodic ones, because they share the disk.
        for other in jobs.all where other.isScrub {
            cancel(other)
        }
        jobs[asset].map(cancel)
        return try begin(asset, isRepair: isRepair)
    }

    /// Cancels a verification. Pieces that were repaired stay repaired.
    package func cancel(_ job: VerificationJob) {
        guard !job.state.isFinal else { return }
        job.verification.pace.cancel()
        end(job, as: .cancelled)
    }

    /// Cancels a verification that is periodic, because its asset is needed for something else; returns true if it is.
    package func cancelIfPeriodic(_ job: VerificationJob) -> Bool {
        if job.isScrub {
            cancel(job)
        }
        return job.isScrub
    }

    /// Cancels all verifications and accepts no new ones.
    package func stop() {
        isStopped = true
        for job in jobs.all {
            cancel(job)
        }
    }

    /// Drops the results for an asset that is removed.
    package func forget(_ asset: Asset) {
        jobs[asset].map(cancel)
        jobs.remove(asset)
    }

    var isIdle: Bool { jobs.all.allSatisfy(\.state.isFinal) }

    func begin(_ asset: Asset, isRepair: Bool, isScrub: Bool = false) throws(LibraryError) -> VerificationJob {
        let verification = try verification(of: asset, bytesPerSecond: bytesPerSecond)
        let job = VerificationJob(verification, isRepair: isRepair, isScrub: isScrub)
        jobs.insert(job)
        if isStopped {
            cancel(job)
            return job
        }
        ticker?.schedule(after: Self.interval)
        // Holds the downloads: the repair needs them to its end.
        Task { @LoopActor [downloads] in
            await run(job)
            withExtendedLifetime(downloads) {}
        }
        return job
    }

    private func run(_ job: VerificationJob) async {
        // Pieces of two contents are not sound together, although each of them is as it arrived.
        if !job.isScrub {
            await library.revisions.checkBeforeVerifying(job.asset)
        }
        do throws(LibraryError) {
            try await verify(job.verification, at: now())
        } catch {
            return end(job, as: .failed, because: JobFailure(error))
        }
        guard !job.state.isFinal else { return }
        job.found = job.verification.report.remaining
        guard job.isRepair, job.found > 0 else { return end(job, as: .complete) }
        job.isRepairing = true
        jobs.changes.send(job)
        let failure = await repair(job)
        await job.verification.workOutReport()
        if let failure {
            end(job, as: .failed, because: failure)
        } else {
            end(job, as: .complete)
        }
    }

    private func end(_ job: VerificationJob, as state: JobState, because failure: JobFailure? = nil) {
        guard !job.state.isFinal else { return }
        job.state = state
        job.isRepairing = false
        job.failure = failure
        jobs.changes.send(job)
    }

    private func tick() {
        let running = jobs.all.filter { !$0.state.isFinal }
        for job in running {
            jobs.changes.send(job)
        }
        if !running.isEmpty {
            ticker?.schedule(after: Self.interval)
        }
    }
}
