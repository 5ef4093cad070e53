public import EventLoop
import Glibc
public import Integrity
public import Library
import Origin
public import Retention
import Store

/// All downloads. Accepts orders, runs a limited number at a time, continues those of an earlier process, and retries
/// after temporary errors.
@LoopActor public final class Downloader {
    /// Settings.
    public struct Configuration: Sendable {
        /// Maximum number of concurrent requests per download.
        public var parallel = 6
        /// Maximum number of running downloads.
        public var running = 3
        /// The first pause before a retry after a temporary error, and the longest. Pauses double in between.
        public var pauses: ClosedRange<Duration> = GiveUpRule.downloadPauses
        /// Read rate of verifications, in bytes per second; 0 for no limit.
        public var verifyRate: Int64 = 100 << 20

        /// Makes the default configuration.
        public init() {}
    }

    let library: Library
    let retention: Retention
    let integrity: Integrity
    /// Verifies assets.
    public private(set) lazy var verifier = Verifier(self)
    private lazy var scrubber = Scrubber(self, verifier)
    let configuration: Configuration
    let report: @Sendable (String) -> Void
    var byAsset: [String: Download] = [:] {
        didSet { byOrder = nil }
    }
    /// Sorted cache of `downloads`.
    private var byOrder: [Download]?
    private var observers: [Int: (Download, DownloadEvent) -> Void] = [:]
    private var lastObserver = 0
    private var lastNumber = 0
    private var subscription: Subscription?
    /// True if downloads may begin; false after `stop()`.
    var isOpen = true

    /// Makes a downloader with the downloads in the library's catalogue; none continues before `resume()`.
    ///
    /// - Parameter report: called with a sentence for the log about errors that no caller receives.
    public init(
        library: Library, retention: Retention, integrity: Integrity,
        configuration: Configuration = Configuration(),
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        (self.library, self.retention, self.integrity) = (library, retention, integrity)
        self.configuration = configuration
        self.report = report
        library.attach(self)
        subscription = library.events.subscribe { [weak self] in self?.react(to: $0) }
        var reader = TaskReader()
        for record in library.records.downloads {
            guard let asset = library.asset(id: record.asset) else { continue }
            enter(Download(record, of: asset, by: &reader))
        }
    }

    // MARK: Queries

    /// All downloads, in the order of requests.
    public var downloads: [Download] {
        if let byOrder { return byOrder }
        let sorted = byAsset.values.sorted { $0.number < $1.number }
        byOrder = sorted
        return sorted
    }

    /// Returns the asset's download, if there is one.
    public func download(of asset: Asset) -> Download? { byAsset[asset.id] }

    /// Calls `body` for each event of a download, until the returned id is passed to `ignore`.
    public func observe(_ body: @escaping (Download, DownloadEvent) -> Void) -> Int {
        lastObserver += 1
        observers[lastObserver] = body
        return lastObserver
    }

    /// Removes an observer.
    public func ignore(_ observer: Int) { observers[observer] = nil }

    func tell(_ download: Download, _ event: DownloadEvent) {
        for observer in observers.values { observer(download, event) }
    }

    // MARK: Orders

    /// Accepts an order: begins a download, adds to the existing one, or returns it if it already includes the order.
    ///
    /// Returns once the playlists are loaded and the content is known. A stopped download continues.
    ///
    /// If the origin is known to have new content, the order applies to that content: see `Library.revise`.
    public func start(_ asset: Asset, _ order: DownloadOrder) async throws(Refusal) -> Download {
        if byAsset[asset.id]?.isUnreadable ?? false { throw .unreadable(name: asset.name) }
        do { try retention.checkExpiry(of: asset) } catch { throw .library(error) }
        let subject = try await subject(of: asset)
        do throws(Refusal) {
            return try await start(subject.asset, order, beside: subject.task)
        } catch {
            await drop(subject.asset)
            throw error
        }
    }

    /// - Parameter task: the content that is already requested.
    private func start(
        _ asset: Asset, _ order: DownloadOrder, beside task: DownloadTask
    ) async throws(Refusal) -> Download {
        var items: [DownloadTask.Item] = []
        for selection in order.selections { items.append(try await item(selection, order, of: asset)) }
        guard library.asset(id: asset.id) === asset else {
            throw .library(LibraryError(.missing, "\(asset.name) was removed"))
        }
        var task = byAsset[asset.id]?.task ?? task
        let isCovered = items.allSatisfy(task.covers)
        for item in items.reversed() { task.add(item) }
        task.note = order.note ?? task.note
        task.priority = order.priority ?? task.priority
        task.recordsLive = order.recordsLive || task.recordsLive
        if let known = byAsset[asset.id], isCovered, known.state == .running || known.state == .queued {
            known.task = task
            await save(known)
            return known
        }
        if !order.ignoresRoom, !task.recordsLive { try checkRoom(for: task, of: asset) }
        return await begin(task, of: asset, isPaused: order.isPaused)
    }

    func begin(_ task: DownloadTask, of asset: Asset, isPaused: Bool) async -> Download {
        if byAsset[asset.id] == nil { await retention.giveTerms(to: asset) }
        let download = byAsset[asset.id] ?? enter(Download(asset, task, state: .queued, created: Int64(time(nil))))
        halt(download)
        retention.forgetPurge(of: asset)
        download.task = task
        download.retryBudget = RetryBudget()
        set(download, isPaused ? .paused : .queued)
        schedule()
        await save(download)
        return download
    }

    /// Adds a download at the end of the order.
    @discardableResult func enter(_ download: Download) -> Download {
        lastNumber += 1
        download.number = lastNumber
        byAsset[download.asset.id] = download
        pin(download)
        return download
    }

    /// Pauses a download until `resume` is called. Fetches that are nearly complete are still finished. Has no effect
    /// on a download that has ended.
    public func pause(_ download: Download) async {
        guard download.state.isActive else { return }
        await rest(download, .paused)
    }

    /// Cancels a download; stored pieces are kept. Has no effect on a complete download; a recording becomes complete.
    public func cancel(_ download: Download) async {
        guard download.state != .complete, !download.isUnreadable else { return }
        if download.asset.isRevision { return await abandon(download) }
        if finishRecording(download) {
            schedule()
            return await save(download)
        }
        await rest(download, .cancelled)
    }

    /// Cancels a revision: its pieces are deleted, and the old content stays.
    private func abandon(_ download: Download) async {
        halt(download)
        set(download, .cancelled)
        forget(download.asset)
        await library.revisions.abandon(download.asset)
    }

    private func rest(_ download: Download, _ state: Download.State) async {
        halt(download)
        set(download, state)
        schedule()
        await save(download)
    }

    /// Continues a stopped download; one that waits retries at once.
    public func resume(_ download: Download) async {
        guard download.state != .running, !download.isUnreadable, byAsset[download.asset.id] === download else {
            return
        }
        halt(download)
        retention.forgetPurge(of: download.asset)
        download.retryBudget = RetryBudget()
        set(download, .queued)
        schedule()
        await save(download)
    }

    /// Retries the downloads that wait for a condition which is now met.
    public func tryAgain(_ need: Download.Need, where isMeant: (Download) -> Bool = { _ in true }) {
        for download in downloads where download.state == .waiting && download.need == need && isMeant(download) {
            halt(download)
            set(download, .queued)
        }
        schedule()
    }

    /// Continues a complete download after one of its pieces was lost.
    func mend(_ asset: Asset) {
        guard let download = byAsset[asset.id], download.state == .complete, !download.isWhole, isOpen else { return }
        Task { await resume(download) }
    }

    // MARK: Start and stop

    /// Continues the downloads of an earlier process.
    public func resume() {
        for download in downloads where download.state.isActive { set(download, .queued) }
        schedule()
        for download in downloads { settle(download) }
        scrubber.start()
    }

    /// Removes the asset's download and that of its revision. Stored pieces are kept.
    public func forget(_ asset: Asset) {
        if let revision = asset.revision { forget(revision) }
        verifier.forget(asset)
        guard let download = byAsset.removeValue(forKey: asset.id) else { return }
        halt(download)
        retention.pin(.nothing, of: asset)
        tell(download, .removed)
        schedule()
    }

    /// Stops all work. The downloads continue at the next start.
    public func stop() {
        isOpen = false
        verifier.stop()
        for download in byAsset.values { halt(download) }
        byAsset = [:]
    }

    func set(
        _ download: Download, _ state: Download.State, _ need: Download.Need? = nil, _ failure: Download.Failure? = nil
    ) {
        (download.state, download.need, download.failure) = (state, need, failure)
        pin(download)
        tell(download, .state)
    }

    func save(_ download: Download) async {
        guard library.readOnlyReason == nil, byAsset[download.asset.id] === download, !download.isUnreadable else {
            return
        }
        do {
            try await library.records.save(download.record)
        } catch {
            report("\(download.asset.name): \(error)")
        }
    }
}

extension Download {
    /// True if the catalogue holds a task that this version cannot read and must not overwrite. Such a download can
    /// only be removed.
    public var isUnreadable: Bool { failure?.code == Self.unreadable }
}
