public import EventLoop
import Glibc
import Integrity
public import Library
import Store

/// Verifies assets, when somebody asks for it or when it is time, and has fetched what they lack.
@LoopActor public final class Verifier {
    private unowned let downloader: Downloader
    private let bytesPerSecond: Int64
    /// Seconds since 1970.
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

    // MARK: Asking

    /// The last verification of an asset that was begun, over or not; nil where there was none in this process.
    public func job(of asset: Asset) -> VerificationJob? {
        jobs[asset.id].flatMap { $0.asset === asset ? $0 : nil }
    }

    /// Verifies an asset; where that goes on already, that one goes on, unless it would not fetch what this one is to.
    ///
    /// - Parameter isRepair: whether what a download wants is fetched where it is missing, and what else was wrong.
    /// - Throws: `store` when the system gives no descriptor.
    public func start(_ asset: Asset, isRepair: Bool) throws(LibraryError) -> VerificationJob {
        if let known = job(of: asset), !known.state.isFinal, !known.isScrub, known.isRepair || !isRepair {
            return known
        }
        // Nobody waits for what goes on by itself, and the disk is one.
        for other in jobs.values where other.isScrub { cancel(other) }
        jobs[asset.id].map(cancel)
        return try begin(asset, isRepair: isRepair)
    }

    /// Gives a verification up: nothing more is read or fetched; what is mended stays so.
    public func cancel(_ job: VerificationJob) {
        guard !job.state.isFinal else { return }
        job.verification.pace.cancel()
        end(job, .cancelled)
        job.stopWaiting?()
    }

    /// Gives up a verification that nobody has asked for, since something else is to be done with its asset.
    ///
    /// - Returns: whether nobody had.
    public func giveWay(_ job: VerificationJob) -> Bool {
        if job.isScrub { cancel(job) }
        return job.isScrub
    }

    /// Calls back whenever a verification has come further, four times a second at most, and when it ends.
    public func observe(_ body: @escaping (VerificationJob) -> Void) { observers.append(body) }

    // MARK: What the scrubber and the end of all want

    /// Whether nothing is verified.
    var isIdle: Bool { jobs.values.allSatisfy(\.state.isFinal) }

    /// Verifies an asset because it is time.
    func scrub(_ asset: Asset) throws(LibraryError) -> VerificationJob {
        try begin(asset, isRepair: false, isScrub: true)
    }

    /// Ends everything, and begins nothing any more.
    func stop() {
        isStopped = true
        for job in jobs.values { cancel(job) }
    }

    /// Forgets what was found of an asset that is removed.
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
