package import Assets
package import EventLoop
package import Store
import WeirAPI

/// Knows the listed state of assets without loading them, so that a large store is listed quickly after a start.
///
/// At the start, a summary is valid if its rows and folders are unchanged (`SummaryRecord`); all others are computed
/// again, a few at a time. A summary becomes invalid with the first change, and is written again once the asset has not
/// changed for a while.
@LoopActor package final class Summaries: AssetSummaries {
    private let store: BundleStore
    /// Computes summaries, and knows the library; nil until `start`.
    private weak var service: LibraryService?
    private var known: [String: Known] = [:]
    /// The tracks of the latest one: those of many assets are the same text, which is kept once.
    private var latestTracks = ""

    /// A class, because a dictionary of these large values has room for as many more.
    private final class Known {
        let record: SummaryRecord
        init(_ record: SummaryRecord) { self.record = record }
    }

    private func insert(_ record: SummaryRecord) {
        var record = record
        if record.tracks == latestTracks {
            record.tracks = latestTracks
        } else {
            latestTracks = record.tracks
        }
        known[record.asset] = Known(record)
    }

    /// A summary whose tracks may still have to be written as text.
    private struct Draft {
        let asset: Asset
        var record: SummaryRecord
        /// Nil if the record has their text.
        let tracks: API.Tracks?
    }

    private var isChecked = false
    private let checked = EventStream<Void>()
    private var waiting: [Subscription] = []
    /// The ids of assets without a valid summary, and the time of their latest change.
    private var changed: [String: ContinuousClock.Instant] = [:]
    private var timer: LoopTimer?
    private var isWriting = false
    private var isOver = false
    private var hasFailed = false

    /// Time without changes before a summary is computed.
    private static let rest = Duration.seconds(2)
    /// Maximum duration of one turn on the loop.
    private static let turn = Duration.milliseconds(5)
    /// Pause between two turns, for other work on the loop.
    private static let pause = Duration.milliseconds(5)
    /// Maximum number of rows written in one step.
    private static let mostRows = 64

    /// Reads the summaries of an earlier process. Create it before the library, so that this runs while the library
    /// restores its assets.
    package init(_ store: BundleStore) {
        self.store = store
        timer = LoopTimer { [weak self] in self?.writeDue() }
        isChecked = !store.catalogue.hasSummaries
        if isChecked {
            return
        }
        let check = Self.check(store)
        Task { @LoopActor in complete(await check.value) }
    }

    /// Starts to compute summaries, once the library has its assets.
    func start(for service: LibraryService) {
        self.service = service
        if isChecked {
            invalidateUnknown()
        }
    }

    // MARK: Reading

    /// The summary of an asset; nil if there is none, or the asset has been used since the start.
    package func summary(of asset: Asset) -> SummaryRecord? {
        guard !asset.isLoaded, isChecked, asset.isHome, asset.hasLastingKeys else { return nil }
        return known[asset.id]?.record
    }

    /// Calls `body` once the stored summaries have been checked.
    package func whenChecked(_ body: @escaping @LoopActor () -> Void) {
        if isChecked {
            body()
        } else {
            waiting.append(checked.subscribe { _ in body() })
        }
    }

    /// Compares the stored summaries with the folders, on another thread: until Weir listens, the loop has other work.
    ///
    /// - Returns: the valid summaries, by id of the asset.
    private nonisolated static func check(_ store: BundleStore) -> Task<[String: SummaryRecord], Never> {
        Task.detached {
            let current = try? await DiskWork.run { () throws(StoreError) in
                // Another Weir may have written them, in a form that this one does not read.
                let records = store.catalogue.readSummaries().filter { $0.version == LibraryService.summaryVersion }
                var current = Dictionary(records.map { ($0.asset, $0) }) { $1 }
                for id in store.outdated(records) {
                    current[id] = nil
                }
                return current
            }
            return current ?? [:]
        }
    }

    private func complete(_ current: [String: SummaryRecord]) {
        for record in current.values {
            insert(record)
        }
        // Drop summaries of assets that changed during or before the check.
        for id in changed.keys {
            known[id] = nil
        }
        isChecked = true
        checked.send(())
        waiting = []
        invalidateUnknown()
    }

    private func invalidateUnknown() {
        guard let library = service?.library, library.readOnlyReason == nil else { return }
        for asset in library.assets where known[asset.id] == nil {
            invalidate(asset)
        }
    }

    // MARK: Changes

    /// Invalidates the summary of an asset, and computes it again once the asset has not changed for a while.
    package func invalidate(_ asset: Asset) {
        known[asset.id] = nil
        guard !isOver, !asset.isPreview, store.readOnlyReason == nil else { return }
        changed[asset.id] = .now
        if changed.count == 1 {
            timer?.schedule(after: Self.rest)
        }
    }

    /// Computes the summary of an asset whose playlists leave memory.
    package func settle(_ asset: Asset) async {
        guard let service else { return }
        let latestChange = changed[asset.id]
        let record = await service.found(asset)
        // A change between two slices makes it invalid.
        if changed[asset.id] == latestChange {
            insert(record)
        }
    }

    /// Removes the summary of an asset.
    package func remove(_ asset: Asset) {
        known[asset.id] = nil
        changed[asset.id] = nil
    }

    private func writeDue() {
        guard !isWriting, !isOver, isChecked, let service else { return }
        isWriting = true
        Task { @LoopActor in
            let isMore = await writeDue(service)
            isWriting = false
            schedule(isMore)
        }
    }

    /// Writes the summaries that are due, as many as fit in a turn. Returns true if more are due.
    private func writeDue(_ service: LibraryService) async -> Bool {
        let begin = ContinuousClock.now
        var drafts: [Draft] = []
        var isMore = false
        for (id, since) in changed where begin - since >= Self.rest {
            guard ContinuousClock.now - begin < Self.turn, drafts.count < Self.mostRows else {
                isMore = true
                break
            }
            changed[id] = nil
            guard let asset = service.library.asset(id: id) else { continue }
            await service.library.wake(asset)
            guard service.library.canSummarize(asset) else { continue }
            drafts.append(await draft(of: asset, service))
        }
        if !drafts.isEmpty {
            await write(drafts)
        }
        return isMore
    }

    private func schedule(_ isMore: Bool) {
        guard !changed.isEmpty, !isOver else { return }
        let pause = isMore ? Self.pause : Self.rest
        timer?.schedule(after: pause)
    }

    private func draft(of asset: Asset, _ service: LibraryService) async -> Draft {
        // Read before the computation: rows that change during it have a later revision.
        let revision = store.catalogue.revision(of: asset.id)
        var draft: Draft
        if let known = summary(of: asset) {
            draft = Draft(asset: asset, record: known, tracks: nil)
        } else {
            let (facts, tracks) = await service.foundWithTracksApart(asset)
            draft = Draft(asset: asset, record: facts, tracks: tracks)
        }
        draft.record.revision = revision
        return draft
    }

    /// Writes the text of a draft's tracks, outside the loop if it is long.
    private func complete(_ draft: Draft) async -> SummaryRecord {
        guard let tracks = draft.tracks else { return draft.record }
        var record = draft.record
        record.tracks = await LibraryService.text(of: tracks, for: draft.asset)
        return record
    }

    /// Writes computed summaries whose folders have not changed since.
    private func write(_ drafts: [Draft]) async {
        var completed: [SummaryRecord] = []
        for draft in drafts {
            completed.append(await complete(draft))
        }
        let stamped = try? await DiskWork.run { [store, records = completed] () throws(StoreError) in
            records.map { record in
                var record = record
                let stamp = store.stamp(of: record.asset)
                record.stamp = stamp?.text ?? ""
                return (record, stamp?.isStable ?? false)
            }
        }
        // If a folder changed while it was checked, the computed summary is not valid.
        let unchanged = (stamped ?? []).filter { changed[$0.0.asset] == nil }
        for (record, isStable) in unchanged where !isStable {
            changed[record.asset] = .now
        }
        let settled = unchanged.filter(\.1).map(\.0)
        guard !settled.isEmpty else { return }
        do {
            try await store.catalogue.save(summaries: settled)
            hasFailed = false
        } catch {
            if !hasFailed {
                service?.library.report(
                    "the summaries of assets cannot be stored, and are computed again at the next start: \(error)")
            }
            hasFailed = true
        }
    }

    /// Writes all summaries that can be computed at once, for an orderly stop; later changes are ignored.
    package func close() async {
        guard !isOver, isChecked, let service else { return isOver = true }
        let begin = ContinuousClock.now
        var drafts: [Draft] = []
        for id in changed.keys where ContinuousClock.now - begin < .milliseconds(200) {
            guard let asset = service.library.asset(id: id), asset.isLoaded, service.library.canSummarize(asset) else {
                continue
            }
            drafts.append(await draft(of: asset, service))
        }
        changed = [:]
        if !drafts.isEmpty {
            await write(drafts)
        }
        isOver = true
    }
}

extension Library {
    /// True if nothing changes the asset now, so that its state can be summarized.
    fileprivate func canSummarize(_ asset: Asset) -> Bool {
        asset.isPersistent && asset.isHome && !asset.isRemoved && !asset.isRevision && asset.revision == nil
            && asset.refusal == nil
            && !asset.isRecording && !isFetched(asset) && asset.hasLastingKeys
    }
}
