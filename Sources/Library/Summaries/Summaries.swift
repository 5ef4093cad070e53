public import EventLoop
public import Store

/// Knows the listed state of assets without loading them, so that a large store is listed quickly after a start.
///
/// At the start, a summary is valid if its rows and folders are unchanged (`SummaryRecord`); all others are computed
/// again, a few at a time. A summary becomes invalid with the first change, and is written again once the asset has not
/// changed for a while.
@LoopActor public final class Summaries {
    /// Computes the summary of an asset, and reads everything that is needed; set by the code that lists assets.
    public var describe: ((Asset) -> SummaryRecord?)?

    private weak var library: Library?
    private var known: [String: SummaryRecord] = [:]
    private var isChecked = false
    private var waiting: [() -> Void] = []
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

    init() {
        timer = LoopTimer { [weak self] in self?.look() }
    }

    // MARK: Reading

    /// The summary of an asset; nil if there is none, or the asset has been used since the start.
    public subscript(_ asset: Asset) -> SummaryRecord? {
        asset.isAsleep && isChecked && asset.isHome && asset.keys.areLasting ? known[asset.id] : nil
    }

    /// Calls `body` once the stored summaries have been checked.
    public func whenChecked(_ body: @escaping () -> Void) {
        if isChecked { body() } else { waiting.append(body) }
    }

    /// Waits until the stored summaries have been checked.
    public func check() async {
        guard !isChecked else { return }
        await withCheckedContinuation { continuation in whenChecked { continuation.resume() } }
    }

    /// Reads the summaries of an earlier process, and compares them with the folders. Runs on another thread from now
    /// on, because the loop has other work until Weir listens.
    ///
    /// - Returns: the valid summaries, by id of the asset; nil if there are none.
    nonisolated static func check(_ store: Store) -> Task<[String: SummaryRecord], Never>? {
        guard store.catalogue.hasSummaries else { return nil }
        return Task.detached {
            let current = try? await DiskWork.run { () throws(StoreError) in
                let records = store.catalogue.readSummaries()
                var current = Dictionary(records.map { ($0.asset, $0) }) { $1 }
                for id in store.outdated(records) { current[id] = nil }
                return current
            }
            return current ?? [:]
        }
    }

    /// Starts, once the library has its assets.
    ///
    /// - Parameter left: the result of `check`.
    func start(for library: Library, with left: Task<[String: SummaryRecord], Never>?) {
        self.library = library
        guard let left else { return settle([:]) }
        Task { @LoopActor in settle(await left.value) }
    }

    private func settle(_ current: [String: SummaryRecord]) {
        known = current
        // Drop summaries of assets that changed during or before the check.
        for id in changed.keys { known[id] = nil }
        isChecked = true
        let waiting = waiting
        self.waiting = []
        for body in waiting { body() }
        guard let library, library.readOnlyReason == nil else { return }
        for asset in library.assets where known[asset.id] == nil { note(asset) }
    }

    // MARK: Changes

    /// Invalidates the summary of an asset.
    package func note(_ asset: Asset) {
        known[asset.id] = nil
        guard !isOver, !asset.isPreview, library?.readOnlyReason == nil else { return }
        changed[asset.id] = .now
        if changed.count == 1 { timer?.schedule(after: Self.rest) }
    }

    /// Removes the summary of an asset.
    func forget(_ asset: Asset) {
        known[asset.id] = nil
        changed[asset.id] = nil
    }

    private func look() {
        guard !isWriting, !isOver, isChecked, let library, let describe else { return }
        let begin = ContinuousClock.now
        var records: [SummaryRecord] = []
        var isMore = false
        for (id, since) in changed where begin - since >= Self.rest {
            guard ContinuousClock.now - begin < Self.turn, records.count < Self.mostRows else {
                isMore = true
                break
            }
            changed[id] = nil
            guard let asset = library.asset(id: id), library.canSummarize(asset) else { continue }
            if let record = record(asset, describe) { records.append(record) }
        }
        guard !records.isEmpty else { return plan(isMore) }
        Task { @LoopActor in
            isWriting = true
            await write(records)
            isWriting = false
            plan(isMore)
        }
    }

    private func plan(_ isMore: Bool) {
        guard !changed.isEmpty, !isOver else { return }
        timer?.schedule(after: isMore ? Self.pause : Self.rest)
    }

    private func record(_ asset: Asset, _ describe: (Asset) -> SummaryRecord?) -> SummaryRecord? {
        // Read before the computation: rows that change during it have a later revision.
        let revision = library?.store.catalogue.revision(of: asset.id) ?? 0
        var record = describe(asset)
        record?.revision = revision
        return record
    }

    /// Writes computed summaries whose folders have not changed since.
    private func write(_ records: [SummaryRecord]) async {
        guard let store = library?.store else { return }
        let stamped = try? await DiskWork.run { () throws(StoreError) in
            records.map { record in
                var record = record
                let stamp = store.stamp(of: record.asset)
                record.stamp = stamp?.text ?? ""
                return (record, stamp?.isStable ?? false)
            }
        }
        // If a folder changed while it was checked, the computed summary is not valid.
        let unchanged = (stamped ?? []).filter { changed[$0.0.asset] == nil }
        for (record, isStable) in unchanged where !isStable { changed[record.asset] = .now }
        let settled = unchanged.filter(\.1).map(\.0)
        guard !settled.isEmpty else { return }
        do {
            try await store.catalogue.save(summaries: settled)
            hasFailed = false
        } catch {
            if !hasFailed {
                library?.report("what a list says is not noted, and worked out anew at the next start: \(error)")
            }
            hasFailed = true
        }
    }

    /// Writes all summaries that can be computed at once, for an orderly stop; later changes are ignored.
    public func close() async {
        guard !isOver, isChecked, let library, let describe else { return isOver = true }
        let begin = ContinuousClock.now
        var records: [SummaryRecord] = []
        for id in changed.keys where ContinuousClock.now - begin < .milliseconds(200) {
            guard let asset = library.asset(id: id), !asset.isAsleep, library.canSummarize(asset) else { continue }
            if let record = record(asset, describe) { records.append(record) }
        }
        changed = [:]
        if !records.isEmpty { await write(records) }
        isOver = true
    }
}

extension Library {
    /// True if nothing changes the asset now, so that its state can be summarized.
    fileprivate func canSummarize(_ asset: Asset) -> Bool {
        asset.isPersistent && asset.isHome && !asset.isRemoved && !asset.isRevision && asset.revision == nil
            && asset.refusal == nil
            && !asset.isRecording && !isFetched(asset) && asset.keys.areLasting
    }
}
