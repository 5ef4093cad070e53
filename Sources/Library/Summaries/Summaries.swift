public import EventLoop
public import Store

/// What is known of assets without their being looked into, so that a large store is listed at once after a start.
///
/// At the start the summaries count whose rows and folders are as they were (`SummaryRecord`); all others are worked out
/// anew, a few at a time. A summary ends with the first change, and is written again once the asset has been at rest for a
/// while.
@LoopActor public final class Summaries {
    /// Works out what is to be said of an asset, reading whatever has to be read; set by who lists.
    public var describe: ((Asset) -> SummaryRecord?)?

    private weak var library: Library?
    private var known: [String: SummaryRecord] = [:]
    private var isChecked = false
    private var waiting: [() -> Void] = []
    /// The ids of assets without a valid summary, and since when they are as they are.
    private var changed: [String: ContinuousClock.Instant] = [:]
    private var timer: LoopTimer?
    private var isWriting = false
    private var isOver = false
    private var hasFailed = false

    /// So long an asset must have been at rest.
    private static let rest = Duration.seconds(2)
    /// So long one turn may take.
    private static let turn = Duration.milliseconds(5)
    /// How long others have the loop between two turns.
    private static let pause = Duration.milliseconds(5)
    /// So many rows are written in one step.
    private static let mostRows = 64

    init() {
        timer = LoopTimer { [weak self] in self?.look() }
    }

    // MARK: Reading

    /// What is known of an asset without its being looked into; nil where nothing is, or it has been used since the start.
    public subscript(_ asset: Asset) -> SummaryRecord? {
        asset.isAsleep && isChecked && asset.isHome && asset.keys.areLasting ? known[asset.id] : nil
    }

    /// Does something once it is known which summaries hold.
    public func whenChecked(_ body: @escaping () -> Void) {
        if isChecked { body() } else { waiting.append(body) }
    }

    /// Waits until it is known which summaries hold.
    public func check() async {
        guard !isChecked else { return }
        await withCheckedContinuation { continuation in whenChecked { continuation.resume() } }
    }

    /// Reads what an earlier process has left, and compares it with the folders, on another thread and from now on: until
    /// Weir listens, the loop has other things to do.
    ///
    /// - Returns: what holds, by the ids of assets; nil where nothing was left.
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

    /// Begins, for a library that knows its assets.
    ///
    /// - Parameter left: what `check` gave.
    func start(for library: Library, with left: Task<[String: SummaryRecord], Never>?) {
        self.library = library
        guard let left else { return settle([:]) }
        Task { @LoopActor in settle(await left.value) }
    }

    private func settle(_ current: [String: SummaryRecord]) {
        known = current
        // What has changed since it was looked at, or before.
        for id in changed.keys { known[id] = nil }
        isChecked = true
        let waiting = waiting
        self.waiting = []
        for body in waiting { body() }
        guard let library, library.readOnlyReason == nil else { return }
        for asset in library.assets where known[asset.id] == nil { note(asset) }
    }

    // MARK: Changes

    /// What is known of an asset does not hold any more.
    package func note(_ asset: Asset) {
        known[asset.id] = nil
        guard !isOver, !asset.isPreview, library?.readOnlyReason == nil else { return }
        changed[asset.id] = .now
        if changed.count == 1 { timer?.schedule(after: Self.rest) }
    }

    /// An asset is removed.
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
        // Before it is worked out: rows that change meanwhile are of a later revision.
        let revision = library?.store.catalogue.revision(of: asset.id) ?? 0
        var record = describe(asset)
        record?.revision = revision
        return record
    }

    /// Writes what was worked out, as far as folders have been at rest.
    private func write(_ records: [SummaryRecord]) async {
        guard let store = library?.store else { return }
        let stamped = try? await DiskWork.run { () throws(StoreError) in
            records.map { record in
                var record = record
                let stamp = store.stamp(of: record.asset)
                record.stamp = stamp?.text ?? ""
                return (record, stamp?.isSettled ?? false)
            }
        }
        // What has changed while its folders were looked at is not what was worked out.
        let unchanged = (stamped ?? []).filter { changed[$0.0.asset] == nil }
        for (record, isSettled) in unchanged where !isSettled { changed[record.asset] = .now }
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

    /// Writes what can be written at once, for an orderly stop; nothing is noted any more.
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
    /// Whether an asset is at rest, so that it can be said what is there of it.
    fileprivate func canSummarize(_ asset: Asset) -> Bool {
        asset.isPersistent && asset.isHome && !asset.isRemoved && !asset.isRevision && asset.revision == nil
            && asset.refusal == nil
            && !asset.isRecording && !isFetched(asset) && asset.keys.areLasting
    }
}
