public import EventLoop
import Glibc
public import Integrity
public import Library
public import Retention
import Store

/// All downloads: takes orders, runs so many at a time, goes on with those of an earlier process, and waits out what
/// passes.
@LoopActor public final class Downloader {
    /// What a user or a test may set.
    public struct Configuration: Sendable {
        /// The most requests that one download has under way.
        public var parallel = 6
        /// The most downloads that run at a time.
        public var running = 3
        /// The first pause before something that passes is tried again, which doubles, and the longest.
        public var pauses: ClosedRange<Duration> = .seconds(2)...(.seconds(60))
        /// Bytes a second at which pieces are read to be verified; 0 for as fast as the disk is.
        public var verifyRate: Int64 = 100 << 20

        /// The defaults.
        public init() {}
    }

    let library: Library
    let retention: Retention
    let integrity: Integrity
    /// What verifies assets.
    public private(set) lazy var verifier = Verifier(self)
    private lazy var scrubber = Scrubber(self, verifier)
    let configuration: Configuration
    let report: @Sendable (String) -> Void
    var byAsset: [String: Download] = [:] {
        didSet { byOrder = nil }
    }
    /// `downloads`, once they were sorted.
    private var byOrder: [Download]?
    private var observers: [Int: (Download, DownloadEvent) -> Void] = [:]
    private var lastObserver = 0
    private var lastNumber = 0
    private var subscription: Subscription?
    /// Whether downloads may begin: not before `resume()`, and not after `stop()`.
    var isOpen = true

    /// A downloader over what the library's catalogue has; nothing of it goes on before `resume()`.
    ///
    /// - Parameter report: told of trouble that nobody waits for, in a sentence for a log.
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
        for record in library.storedDownloads {
            guard let asset = library.asset(id: record.asset) else { continue }
            enter(Download(record, of: asset, by: &reader))
        }
    }

    // MARK: Looking

    /// All downloads, in the order in which they were asked for.
    public var downloads: [Download] {
        if let byOrder { return byOrder }
        let sorted = byAsset.values.sorted { $0.number < $1.number }
        byOrder = sorted
        return sorted
    }

    /// The asset's download, if there is one.
    public func download(of asset: Asset) -> Download? { byAsset[asset.id] }

    /// Tells of everything that happens to a download, until the id that is returned is given to `ignore`.
    public func observe(_ body: @escaping (Download, DownloadEvent) -> Void) -> Int {
        lastObserver += 1
        observers[lastObserver] = body
        return lastObserver
    }

    /// Ends what `observe` began.
    public func ignore(_ observer: Int) { observers[observer] = nil }

    func tell(_ download: Download, _ event: DownloadEvent) {
        for observer in observers.values { observer(download, event) }
    }

    // MARK: Orders

    /// Takes an order: begins a download, adds to the one that there is, or attaches to it if it wants that already.
    ///
    /// Returns when the playlists are read, so that it is known what will come. A download that was stopped, in
    /// whatever way, goes on.
    ///
    /// Where the origin is known to have other content than what is stored, it is about that: see `Library.revise`.
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

    /// - Parameter task: what is wanted already.
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
        download.patience = Patience()
        set(download, isPaused ? .paused : .queued)
        schedule()
        await save(download)
        return download
    }

    /// Counts a download among the others, behind them.
    @discardableResult func enter(_ download: Download) -> Download {
        lastNumber += 1
        download.number = lastNumber
        byAsset[download.asset.id] = download
        pin(download)
        return download
    }

    /// Stops a download until `resume` is called; what is under way and nearly done still comes. One that is over stays
    /// so.
    public func pause(_ download: Download) async {
        guard download.state.isActive else { return }
        await rest(download, .paused)
    }

    /// Gives a download up; what is stored is kept. One that is complete stays so; a recording becomes complete.
    public func cancel(_ download: Download) async {
        guard download.state != .complete, !download.isUnreadable else { return }
        if download.asset.isRevision { return await abandon(download) }
        if finishRecording(download) {
            schedule()
            return await save(download)
        }
        await rest(download, .cancelled)
    }

    /// Gives up the new content of an asset: what has come of it goes, and the old stays.
    private func abandon(_ download: Download) async {
        halt(download)
        set(download, .cancelled)
        forget(download.asset)
        await library.abandon(download.asset)
    }

    private func rest(_ download: Download, _ state: Download.State) async {
        halt(download)
        set(download, state)
        schedule()
        await save(download)
    }

    /// Lets a download go on that was stopped, in whatever way; one that waits tries at once.
    public func resume(_ download: Download) async {
        guard download.state != .running, !download.isUnreadable, byAsset[download.asset.id] === download else {
            return
        }
        halt(download)
        retention.forgetPurge(of: download.asset)
        download.patience = Patience()
        set(download, .queued)
        schedule()
        await save(download)
    }

    /// Lets those go on at once that wait for something which is there again.
    public func tryAgain(_ need: Download.Need, where isMeant: (Download) -> Bool = { _ in true }) {
        for download in downloads where download.state == .waiting && download.need == need && isMeant(download) {
            halt(download)
            set(download, .queued)
        }
        schedule()
    }

    /// Lets a download that was complete go on, since a piece of it is gone.
    func mend(_ asset: Asset) {
        guard let download = byAsset[asset.id], download.state == .complete, !download.isWhole, isOpen else { return }
        Task { await resume(download) }
    }

    // MARK: Beginning and ending

    /// Goes on with what an earlier process had begun.
    public func resume() {
        for download in downloads where download.state.isActive { set(download, .queued) }
        schedule()
        for download in downloads { settle(download) }
        scrubber.start()
    }

    /// Ends the asset's download, if there is one, and that of its revision, and forgets them. What is stored stays.
    public func forget(_ asset: Asset) {
        if let revision = asset.revision { forget(revision) }
        verifier.forget(asset)
        guard let download = byAsset.removeValue(forKey: asset.id) else { return }
        halt(download)
        retention.pin(.nothing, of: asset)
        tell(download, .removed)
        schedule()
    }

    /// Ends all work. The downloads go on at the next start.
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
            try await library.save(download.record)
        } catch {
            report("\(download.asset.name): \(error)")
        }
    }
}

extension Download {
    /// Whether its task is in the catalogue in a form that this process does not understand, and must not write over.
    /// Nothing can be done with it but to forget it.
    public var isUnreadable: Bool { failure?.code == Self.unreadable }
}
