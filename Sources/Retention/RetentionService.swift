// The room Retention.
//
// Duty: how long stored content stays: expiry, priorities, eviction of cached segments, purge on a full disk.
// Entrance: `RetentionService`, with `Purger` for a full disk.
// Does not enter: downloads, and who plays: playheads are asked, never sessions.

package import Assets
public import EventLoop
import Extras
import Fetching
package import Orders
import Playheads
import SafeText
package import Store

/// Decides how long stored content stays: expiry, eviction of cached pieces, and purging of assets on a full disk.
@LoopActor public final class RetentionService {
    let library: Library
    let cache: PlayCache
    let purger: Purger
    private var subscription: Subscription?
    private var keyWatch: KeyWatch?

    /// Releases what is held for players of live streams, because the disk is full.
    package var releaseHeld: () -> Void = {}
    /// The lifetimes for keys of newly downloaded assets whose policy has none.
    package var newKeyTerms = KeyTerms()

    /// Starts to follow a library, without keeping it alive.
    ///
    /// - Parameter cacheLimit: maximum size of cached pieces in bytes; nil for no limit.
    package init(of library: Library, cacheLimit: Int64? = nil, purge: PurgePlan.Limit = .expired) {
        self.library = library
        cache = PlayCache(of: library, limit: cacheLimit)
        purger = Purger(limit: purge)
        for asset in library.assets {
            follow(asset)
        }
        subscription = library.events.subscribe { [weak self] event in
            switch event {
            case .registered(let asset): self?.cache.follow(asset)
            case .unregistered(let asset): self?.cache.forget(asset)
            default: break
            }
        }
        library.attach(purger)
        cache.start()
        purger.start(for: self)
        keyWatch = KeyWatch(of: library)
    }

    private func follow(_ asset: Asset) {
        cache.follow(asset)
        if let revision = asset.revision {
            cache.follow(revision)
        }
    }

    // MARK: Cached and pinned pieces

    /// Bytes of cached pieces in the folders read so far, and of what is held for players of live streams.
    package var cachedBytes: Int64 { cache.queue.size + cache.held }

    /// Maximum size of cached pieces in bytes, above which the least recently used are evicted; nil for no limit.
    package var cacheLimit: Int64? { cache.limit }

    /// Sets the bytes that are held for players of live streams: a part of the play cache that is no asset's.
    package func setHeld(_ bytes: Int64) { cache.setHeld(bytes) }

    /// Replaces the pinned content of an asset, which is never evicted. Unpinned content counts as just used.
    package func pin(_ content: PinnedContent, of asset: Asset) { cache.pin(content, of: asset) }

    package func pinned(of asset: Asset) -> PinnedContent { cache.pinned(of: asset) }

    /// Records that a session received a playlist of an asset, from the store alone if `isOffline`.
    package func expect(_ session: String, at asset: Asset, isOffline: Bool) {
        cache.expect(session, at: asset, isOffline: isOffline || library.isOffline || asset.isOriginAbsent)
    }

    // MARK: Room

    package var purgeLimit: PurgePlan.Limit { purger.limit }

    /// `Library.room(for:)` plus the bytes that a purge would free.
    package func roomAfterPurge(for asset: Asset) -> Int64? {
        guard let room = library.volumes.room(for: asset) else { return nil }
        // A purge frees no space on another volume.
        guard asset.isHome else { return room }
        return room + purger.purgeableBytes
    }

    /// Makes space soon, because something could not be stored on the full disk.
    package func recordDiskFull() { purger.recordDiskFull() }

    /// Evicts and purges to make space for content that could not be stored. Returns true if anything was deleted.
    package func makeRoom() async -> Bool { await purger.makeRoom() }

    /// True if the first playback of an asset starts a time limit, of the asset or of one of its keys, and has not happened.
    package func hasWaitingClock(_ asset: Asset) -> Bool {
        if asset.life.policy.afterFirstPlay != nil, asset.life.firstPlayed == nil {
            return true
        }
        guard asset.keys.terms.afterFirstPlay != nil else { return false }
        let keys = asset.keys
        return keys.allNumbers.contains { keys.isUsable($0) && keys.life(of: $0).firstPlayed == nil }
    }

    package func isExpired(_ asset: Asset) -> Bool { asset.life.isExpired(at: library.date()) }

    /// Throws `expired` for an expired asset, and `newerBundle` for one that this version cannot play.
    package func checkExpiry(of asset: Asset) throws(LibraryError) { try library.checkExpiry(of: asset) }

    /// Throws `expired` for an expired asset, unless the session began before: it may play to the end.
    package func checkExpiry(of asset: Asset, for session: String) throws(LibraryError) {
        try library.checkBundle(of: asset)
        guard asset.life.expiration != nil, !library.playheads.hasSession(session) else { return }
        try checkExpiry(of: asset)
    }

    /// Replaces the policy of an asset, in the catalogue and in its bundle.
    ///
    /// - Throws: `store` if the policy cannot be written; then nothing has changed.
    package func setPolicy(_ policy: StoragePolicy, of asset: Asset) async throws(LibraryError) {
        if let reason = library.readOnlyReason {
            throw LibraryError(reason, about: "the policy of \(asset.name) stays as it is")
        }
        let former = asset.life
        let formerKeys = asset.keys.lives
        let isPlaying = library.playheads.isPlayed(asset.id)
        asset.life.adopt(policy, isPlaying: isPlaying, at: library.date())
        let changed = library.keys.adoptTerms(of: asset, after: former.policy.keys, isPlaying: isPlaying)
        if !asset.isPersistent {
            await library.records.saveNew(asset)
        }
        let records = Catalogue.Contents(
            keys: asset.keys.records(of: asset.id, changed), storage: [asset.storageRecord])
        guard await library.records.write(records, about: asset) else {
            asset.life = former
            asset.keys.lives = formerKeys
            asset.keys.reconsider()
            if let error = asset.saveFailure {
                throw LibraryError(error, about: "the policy of \(asset.name) cannot be stored")
            }
            throw LibraryError(.missing, "\(asset.name) was removed")
        }
        library.events.send(.assetChanged(asset))
        guard asset.bundle.exists else { return }
        asset.bundle.performWrite {
            try? asset.bundle.directory(create: false).setExcludedFromBackups(policy.backup == .exclude)
        }
        library.writeBundle(of: asset)
        if !changed.isEmpty {
            library.rectify(asset)
        }
    }

    /// Applies `newKeyTerms` to the keys of a newly downloaded asset whose policy has no terms.
    package func applyNewKeyTerms(to asset: Asset) async {
        guard newKeyTerms != KeyTerms(), asset.life.policy.keys == KeyTerms(), !asset.keys.isEmpty else { return }
        var policy = asset.life.policy
        policy.keys = newKeyTerms
        do {
            try await setPolicy(policy, of: asset)
        } catch {
            library.report("\(asset.name): its keys have no terms: \(error)")
        }
    }

    /// Deletes everything stored of an asset that is not played, and of its revision. The asset stays in the list.
    func purge(_ asset: Asset, _ cause: Purge.Cause) async {
        asset.load()
        guard library.readOnlyReason == nil, !asset.isRemoved, asset.refusal == nil, !cache.isInUse(asset) else {
            return
        }
        let bytes = asset.bytes + (asset.revision?.bytes ?? 0)
        let purge = Purge(date: library.date(), bytes: bytes, cause: cause)
        let sentence = "\(asset.name) was purged, \(Quantity.bytes(Int(bytes))): \(reason(of: asset, cause))"
        asset.life.purge = purge
        library.events.send(.willPurge(asset, reason: sentence))
        if let revision = asset.revision {
            await library.revisions.abandon(revision)
        }
        let artwork = library.artwork.image(of: asset)
        let fault = await withCheckedContinuation { (done: CheckedContinuation<StoreError?, Never>) in
            do throws(StoreError) {
                cache.forget(asset)
                try library.empty(asset) { done.resume(returning: nil) }
            } catch {
                done.resume(returning: error)
            }
        }
        if let fault {
            asset.life.purge = nil
            return library.report("\(asset.name) could not be purged: \(fault)")
        }
        library.report(sentence)
        guard !asset.isRemoved else { return }
        await library.records.saveLife(of: asset)
        if let artwork, !asset.isRemoved {
            try? library.artwork.keep(artwork, of: asset)
        }
        library.events.send(.purged(asset, purge))
    }

    /// Removes the record of a purge, because the asset was requested again.
    package func forgetPurge(of asset: Asset) {
        guard asset.life.purge != nil else { return }
        asset.life.purge = nil
        Task { await library.records.saveLife(of: asset) }
    }

    private func reason(of asset: Asset, _ cause: Purge.Cause) -> String {
        switch cause {
        case .expired: "it expired at \(asset.life.expiration.map(Library.instant) ?? "some time")"
        case .space: "the disk was full, and it was played the longest ago"
        case .spaceThoughImportant: "the disk was full, and nothing of less importance was left"
        }
    }

    var purgeCandidates: [PurgePlan.Candidate] {
        // Purging assets on another volume frees no space here.
        library.assets.filter(\.isHome).map { asset in
            let summary = library.summaries?.summary(of: asset)
            let bytes = summary?.bytes ?? asset.bytes
            let cached = summary?.cachedBytes ?? asset.cachedBytes
            var candidate = PurgePlan.Candidate(
                id: asset.id, life: asset.life, created: asset.created, kept: bytes - cached, cached: cached)
            candidate.isPlaying = cache.isInUse(asset)
            candidate.isDownloading = asset.revision != nil || library.isFetched(asset)
            candidate.isIrreplaceable = asset.isRecorded || asset.isRecording
            return candidate
        }
    }
}
