public import EventLoop
import Glibc
import Integrity
public import Library
import Store

/// Verifies assets, on request or periodically, and repairs them.
@LoopActor public final class Verifier {
    private unowned let downloader: Downloader
    private let bytesPerSecond: Int64
    /// Returns the time in seconds since 1970.
    let now: () -> Int64
    private var jobs: [String: VerificationJob] = [:]
    private var observers: [(VerificationJob) -> Void] = []
    private var ticker: LoopTimer?
    private var isStopped = false

    private static let interval = Duration.milliseconds(250)

    init(_ downloader: Downloader, now: @escaping () -> Int64 = { Int64(time(nil)) }) {
        self.downloader = downloader
        self.now = now
        bytesPerSecond = downloader.configuration.verifyRate
        ticker = LoopTimer { [weak self] in self?.tick() }
    }

    // MARK: Requests

    /// Returns the latest verification of an asset, running or ended; nil if there was none in this process.
    public func job(of asset: Asset) -> VerificationJob? {
        jobs[asset.id].flatMap { $0.asset === asset ? $0 : nil }
    }

    /// Verifies an asset. If a requested verification is already running, it is returned, unless it does not repair and
    /// the new one must.
    ///
    /// - Parameter isRepair: true to fetch the asset's requested holes and the damaged pieces.
    /// - Throws: `store` if the system has no free file descriptor.
    public func start(_ asset: Asset, isRepair: Bool) throws(LibraryError) -> VerificationJob {
        if let known = job(of: asset), !known.state.isFinal, !known.isScrub, known.isRepair || !isRepair {
            return known
        }
        // A requested verification cancels the periodic ones, because they share the disk.
        for other in jobs.values where other.isScrub { cancel(other) }
        jobs[asset.id].map(cancel)
        return try begin(asset, isRepair: isRepair)
    }

    /// Cancels a verification. Pieces that were repaired stay repaired.
    public func cancel(_ job: VerificationJob) {
        guard !job.state.isFinal else { return }
        job.verification.pace.cancel()
        end(job, .cancelled)
        job.stopWaiting?()
    }

    /// Cancels a periodic verification because its asset is needed for something else.
    ///
    /// - Returns: true if the verification was periodic.
    public func giveWay(_ job: VerificationJob) -> Bool {
        if job.isScrub { cancel(job) }
        return job.isScrub
    }

    /// Adds an observer, called at most four times a second while a verification makes progress, and at its end.
    public func observe(_ body: @escaping (VerificationJob) -> Void) { observers.append(body) }

    // MARK: Scrubbing and shutdown

    /// True if no verification runs.
    var isIdle: Bool { jobs.values.allSatisfy(\.state.isFinal) }

    /// Begins a periodic verification of an asset.
    func scrub(_ asset: Asset) throws(LibraryError) -> VerificationJob {
        try begin(asset, isRepair: false, isScrub: true)
    }

    /// Cancels all verifications and accepts no new ones.
    func stop() {
        isStopped = true
        for job in jobs.values { cancel(job) }
    }

    /// Drops the results for an asset that is removed.
    func forget(_ asset: Asset) {
        guard let job = job(of: asset) else { return }
        cancel(job)
        jobs[asset.id] = nil
    }

    // MARK: Work

    private func begin(_ asset: Asset, isRepair: Bool, isScrub: Bool = false) throws(LibraryError) -> VerificationJob {
        let verification = try downloader.integrity.verification(of: asset, bytesPerSecond: bytesPerSecond)
        let job = VerificationJob(verification, in: downloader.integrity, isRepair: isRepair, isScrub: isScrub)
        jobs[asset.id] = job
        if isStopped {
            cancel(job)
            return job
        }
        ticker?.schedule(after: Self.interval)
        Task { @LoopActor [downloader] in
            await run(job)
            withExtendedLifetime(downloader) {}
        }
        return job
    }

    private func run(_ job: VerificationJob) async {
        do throws(LibraryError) {
            try await downloader.integrity.verify(job.verification, at: now())
        } catch {
            return end(job, .failed, Download.Failure(error))
        }
        guard !job.state.isFinal else { return }
        job.found = job.report.remaining
        guard job.isRepair, job.found > 0 else { return end(job, .done) }
        job.state = .repairing
        tell(job)
        let failure = await downloader.repair(job)
        end(job, failure == nil ? .done : .failed, failure)
    }

    private func end(_ job: VerificationJob, _ state: JobState, _ failure: Download.Failure? = nil) {
        guard !job.state.isFinal else { return }
        (job.state, job.failure) = (state, failure)
        tell(job)
    }

    private func tick() {
        let running = jobs.values.filter { !$0.state.isFinal }
        for job in running { tell(job) }
        if !running.isEmpty { ticker?.schedule(after: Self.interval) }
    }

    private func tell(_ job: VerificationJob) {
        for observer in observers { observer(job) }
    }
}
