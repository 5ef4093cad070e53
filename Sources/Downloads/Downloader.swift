// The room Downloads.
//
// Duty: downloads: selection, plan, queue, rules, progress, recording.
// Entrance: `Downloader` for orders, `DownloadEngine` for one download, `Plan` for what is fetched next.
// Does not enter: players and sessions: where a player is comes from `Playheads`.

package import Assets
package import EventLoop
import Glibc
package import Integrity
package import Orders
import Origin
package import Retention
import Store

/// All downloads: accepts orders, runs a limited number at a time, and retries after temporary errors.
@LoopActor package final class Downloader {
    package struct Configuration: Sendable {
        /// Maximum number of concurrent requests per download.
        package var parallel = 6
        /// Maximum number of running downloads.
        package var running = 3
        /// The first pause before a retry after a temporary error, and the longest. Pauses double in between.
        package var pauses: ClosedRange<Duration> = GiveUpRule.downloadPauses
        /// The conditions under which downloads run.
        package var rules = DownloadRules()

        package init() {}
    }

    let library: Library
    let retention: RetentionService
    package let integrity: IntegrityService
    let configuration: Configuration
    let report: @Sendable (String) -> Void
    /// Sends every change of a download.
    package let changes = EventStream<(download: Download, event: DownloadEvent)>()
    var byAsset: [String: Download] = [:] { didSet { byOrder = nil } }
    private var byOrder: [Download]?
    private var lastNumber = 0
    private var subscription: Subscription?
    var isOpen = true
    /// The machine's state, by which rules stop downloads.
    var conditions = Conditions()
    /// Time of the latest look at the room that recordings need.
    var latestRoomLook = ContinuousClock.now
    /// True while what a live stream's players have not asked for may be fetched for them.
    package var isLiveWatched: () -> Bool = { false }

    /// Makes a downloader with the downloads in the library's catalogue; none continues before `resume()`.
    ///
    /// - Parameter report: called with a sentence for the log about errors that no caller receives.
    package init(
        library: Library, retention: RetentionService, integrity: IntegrityService,
        configuration: Configuration = Configuration(),
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.library = library
        self.retention = retention
        self.integrity = integrity
        self.configuration = configuration
        self.report = report
        library.attach(self)
        integrity.attach(self)
        subscription = library.events.subscribe { [weak self] in self?.react(to: $0) }
        var reader = TaskReader()
        for record in library.records.downloads {
            guard let asset = library.asset(id: record.asset) else { continue }
            insert(Download(record, of: asset, by: &reader))
        }
    }

    // MARK: Queries

    /// All downloads, in the order of requests.
    package var downloads: [Download] {
        if let byOrder {
            return byOrder
        }
        let sorted = byAsset.values.sorted { $0.number < $1.number }
        byOrder = sorted
        return sorted
    }

    package func download(of asset: Asset) -> Download? { byAsset[asset.id] }

    func notify(_ download: Download, _ event: DownloadEvent) { changes.send((download, event)) }

    // MARK: Orders

    /// Accepts an order: begins a download, adds to the existing one, or returns it if it already includes the order.
    ///
    /// Returns once the playlists are loaded. A stopped download continues. If the origin is known to have new content,
    /// the order applies to that, also if that is being fetched already: see `Revisions.revise`.
    package func start(_ asset: Asset, _ order: DownloadOrder) async throws(Refusal) -> Download {
        try await start(asset, order, selecting: order.selections)
    }

    /// Fetches the new content of an asset, of which its origin is known to have some, with the selections of the old.
    package func update(_ asset: Asset) async throws(Refusal) -> Download {
        try await start(asset, DownloadOrder(), selecting: [])
    }

    private func start(
        _ asset: Asset, _ order: DownloadOrder, selecting selections: [Selection]
    ) async throws(Refusal) -> Download {
        if byAsset[asset.id]?.isUnreadable ?? false {
            throw .unreadable(name: asset.name)
        }
        do { try retention.checkExpiry(of: asset) } catch { throw .library(error) }
        let download = try await withTarget(for: asset) { target throws(Refusal) in
            let task = try await task(for: target, of: asset)
            return try await start(target, order, selecting: selections, beside: task)
        }
        // The download may have found the new content before it was saved.
        if let revision = asset.revision, let newer = byAsset[revision.id] {
            return newer
        }
        return download
    }

    private func start(
        _ asset: Asset, _ order: DownloadOrder, selecting selections: [Selection], beside task: DownloadTask
    ) async throws(Refusal) -> Download {
        var items: [DownloadTask.Item] = []
        for selection in selections {
            items.append(try await item(selection, order, of: asset))
        }
        try checkNotRemoved(asset)
        if let download = await join(items, order, of: asset) {
            return download
        }

        let expected = merged(items, order, into: task, of: asset)
        if order.ignoreSpace != true, !expected.recordsLive {
            try await checkRoom(for: expected, of: asset)
        }
        await applyNewKeyTerms(to: asset)
        try checkNotRemoved(asset)
        // Another order may have come meanwhile.
        if let download = await join(items, order, of: asset) {
            return download
        }
        return await begin(merged(items, order, into: task, of: asset), of: asset, isPaused: order.paused == true)
    }

    func checkNotRemoved(_ asset: Asset) throws(Refusal) {
        guard library.asset(id: asset.id) === asset else {
            throw .library(LibraryError(.missing, "\(asset.name) was removed"))
        }
    }

    /// Returns the asset's download with an order's wishes, if it is under way and includes the order's items; nil otherwise.
    private func join(_ items: [DownloadTask.Item], _ order: DownloadOrder, of asset: Asset) async -> Download? {
        guard let known = byAsset[asset.id], known.state == .running || known.state == .queued,
            items.allSatisfy(known.task.covers)
        else { return nil }
        let all = merged(items, order, into: known.task, of: asset)
        let hasOtherRules = all.rules != known.task.rules
        known.task = all
        // Other rules need other facts of the machine, which its subscribers read.
        if hasOtherRules {
            notify(known, .state)
        }
        schedule()
        await save(known)
        return known
    }

    /// The asset's present task, or `task` if it has none, with an order's items and wishes.
    private func merged(
        _ items: [DownloadTask.Item], _ order: DownloadOrder, into task: DownloadTask, of asset: Asset
    ) -> DownloadTask {
        var task = byAsset[asset.id]?.task ?? task
        for item in items.reversed() {
            task.add(item)
        }
        task.note = order.note ?? task.note
        task.priority = order.priority ?? task.priority
        task.recordsLive = order.record == true || task.recordsLive
        if let seconds = order.recordSeconds {
            task.recordEnd = library.date() + seconds
            if case .ago(let ago) = order.recordFrom {
                task.recordEnd = library.date() + seconds - ago
            }
        }
        task.recordFrom = order.recordFrom ?? task.recordFrom
        if let rules = order.rules {
            task.rules.apply(rules)
        }
        return task
    }

    func begin(_ task: DownloadTask, of asset: Asset, isPaused: Bool) async -> Download {
        let known = byAsset[asset.id]?.task.items.map(\.identity) ?? []
        let download = prepare(task, of: asset)
        download.reported.removeAll { identity in !task.items.contains { $0.identity == identity } }
        let new = task.items.filter { !known.contains($0.identity) }
        for item in new {
            notify(download, .selectionResolved(Download.Selected(item)))
        }
        if !new.isEmpty, download.hasUnselected {
            notify(download, .selectionsFurther)
        }
        await restart(download, isPaused ? .paused : .queued)
        return download
    }

    /// The terms of keys that the first download of an asset brings.
    func applyNewKeyTerms(to asset: Asset) async {
        if byAsset[asset.id] == nil {
            await retention.applyNewKeyTerms(to: asset)
        }
    }

    /// Returns the asset's download with that task; a new one if there is none.
    func prepare(_ task: DownloadTask, of asset: Asset) -> Download {
        let download = byAsset[asset.id] ?? insert(Download(asset, task, state: .queued, created: Int64(time(nil))))
        download.task = task
        return download
    }

    @discardableResult func insert(_ download: Download) -> Download {
        lastNumber += 1
        download.number = lastNumber
        byAsset[download.asset.id] = download
        pin(download)
        return download
    }

    /// Pauses a download that has not ended. Fetches that are nearly complete are still finished.
    /// - Parameter reason: the user's reason, shown until the download is resumed; nil keeps a former one.
    package func pause(_ download: Download, reason: String? = nil) async {
        guard download.state.isActive || download.state == .paused else { return }
        if let reason {
            download.task.pauseReason = reason.isEmpty ? nil : reason
        }
        guard download.state != .paused || reason != nil else { return }
        await stop(download, as: .paused)
    }

    /// Cancels a download that is not complete, and keeps its pieces except those of a revision. Completes a recording.
    package func cancel(_ download: Download) async {
        guard download.state != .complete, !download.isUnreadable else { return }
        if download.asset.isRevision {
            halt(download)
            set(download, .cancelled)
            forget(download.asset)
            return await library.revisions.abandon(download.asset)
        }
        if finishRecording(download) {
            schedule()
            return await save(download)
        }
        await stop(download, as: .cancelled)
    }

    /// Lets a download begin before all others that wait for their turn. The order is that of the requests again after a restart.
    package func moveToFront(_ download: Download) async {
        guard byAsset[download.asset.id] === download else { return }
        let others = byAsset.values.filter { $0 !== download }
        download.number = (others.map(\.number).min() ?? 0) - 1
        byOrder = nil
        // Important ones would begin before it.
        if others.contains(where: { $0.state == .queued && $0.task.priority == .important }) {
            download.task.priority = .important
        }
        notify(download, .state)
        schedule()
        await save(download)
    }

    private func stop(_ download: Download, as state: JobState) async {
        halt(download)
        set(download, state)
        schedule()
        await save(download)
    }

    /// Continues a stopped download; one that waits retries at once.
    package func resume(_ download: Download) async {
        guard download.state != .running, !download.isUnreadable, byAsset[download.asset.id] === download else {
            return
        }
        await restart(download, .queued)
    }

    func restart(_ download: Download, _ state: JobState) async {
        retention.forgetPurge(of: download.asset)
        download.retryBudget = RetryBudget()
        download.isOrdered = true
        download.distrustsKeys = download.failure?.code == .library(.keyUnfit)
        if state != .paused {
            download.task.pauseReason = nil
        }
        await stop(download, as: state)
    }

    /// Retries the downloads that wait for a condition which is now met.
    package func retry(_ need: Need, where isMeant: (Download) -> Bool = { _ in true }) {
        for download in downloads where download.state == .waiting && download.need == need && isMeant(download) {
            halt(download)
            set(download, .queued)
        }
        schedule()
    }

    // MARK: Start and stop

    /// Continues the downloads of an earlier process.
    package func resume() {
        for download in downloads where download.state.isActive {
            set(download, .queued)
        }
        schedule()
        for download in downloads {
            replaceOldContent(with: download)
        }
        integrity.scrubber.start()
    }

    /// Removes the asset's download and that of its revision. Stored pieces are kept.
    package func forget(_ asset: Asset) {
        if let revision = asset.revision {
            forget(revision)
        }
        integrity.forget(asset)
        guard let download = byAsset.removeValue(forKey: asset.id) else { return }
        halt(download)
        retention.pin(.nothing, of: asset)
        notify(download, .removed)
        schedule()
    }

    /// Stops all work, as `stop`, and saves the accounts of what was running.
    package func close() async {
        isOpen = false
        let running = byAsset.values.filter { $0.state == .running }
        for download in running {
            halt(download)
        }
        for download in running {
            await save(download)
        }
        stop()
    }

    /// Stops all work. The downloads continue at the next start.
    package func stop() {
        isOpen = false
        integrity.stop()
        for download in byAsset.values {
            halt(download)
        }
        byAsset = [:]
    }

    func set(_ download: Download, _ state: JobState, need: Need? = nil, failure: JobFailure? = nil) {
        download.state = state
        download.need = need
        download.failure = failure
        if state != .waiting {
            download.holds = []
        }
        if state.isFinal {
            download.book.end(at: Int64(time(nil)))
        }
        pin(download)
        notify(download, .state)
    }

    /// Writes downloads to the catalogue in one step.
    func save(_ downloads: Download...) async {
        let saved = downloads.filter { byAsset[$0.asset.id] === $0 && !$0.isUnreadable }
        guard library.readOnlyReason == nil, let first = saved.first else { return }
        do {
            try await library.records.save(saved.map(\.record))
        } catch {
            report("\(first.asset.name): \(error)")
        }
    }

    func saveSoon(_ download: Download) { Task { @LoopActor in await save(download) } }
}
