import EventLoop
import Fetching
public import Store

/// How long what is stored is kept, and what that comes to.
extension Library {
    /// Whether the time for which an asset was to be played is over.
    public func isExpired(_ asset: Asset) -> Bool { asset.life.isExpired(at: date()) }

    /// Throws `expired` for what is not to be played any more, and `newerBundle` for what cannot be.
    public func checkExpiry(of asset: Asset) throws(LibraryError) {
        try checkBundle(of: asset)
        guard let end = asset.life.expiration, end <= date() else { return }
        let option = end == asset.life.policy.expires ? "--expires" : "--after-first-play"
        throw LibraryError(
            .expired,
            "\(asset.name) has expired (\(Self.instant(end))); \"weir policy \(asset.name) \(option) never\" lets it play again"
        )
    }

    /// Throws `expired` for what is not to be played any more, but by a session that began before: that may go on to its
    /// end.
    public func checkExpiry(of asset: Asset, for session: String) throws(LibraryError) {
        try checkBundle(of: asset)
        guard asset.life.expiration != nil, !audience.attends(session) else { return }
        try checkExpiry(of: asset)
    }

    /// Gives an asset another policy, in the catalogue and in its bundle.
    ///
    /// - Throws: `store` when it cannot be kept; nothing has changed then.
    public func setPolicy(_ policy: StoragePolicy, of asset: Asset) async throws(LibraryError) {
        if let readOnlyReason {
            throw LibraryError(readOnlyReason, about: "the policy of \(asset.name) stays as it is")
        }
        let (former, formerKeys, isPlaying) = (asset.life, asset.keys.lives, audience.isWatching(asset))
        asset.life.adopt(policy, isPlaying: isPlaying, at: date())
        let changed = adoptKeyTerms(of: asset, after: former.policy.keys, isPlaying: isPlaying)
        if !asset.isPersistent { await saveNew(asset) }
        let records = Catalogue.Contents(
            keys: asset.keys.records(of: asset.id, changed), storage: [asset.storageRecord])
        guard await write(records, about: asset) else {
            (asset.life, asset.keys.lives) = (former, formerKeys)
            asset.keys.reconsider()
            if let error = asset.saveFailure {
                throw LibraryError(error, about: "the policy of \(asset.name) is not kept")
            }
            throw LibraryError(.missing, "\(asset.name) was removed")
        }
        events.send(.assetChanged(asset))
        guard asset.bundle.exists else { return }
        asset.bundle.whenFree {
            try? asset.bundle.directory(create: false).setExcludedFromBackups(policy.isExcludedFromBackups)
        }
        writeBundle(of: asset)
        if !changed.isEmpty { rectify(asset) }
    }

    /// Somebody begins to play an asset, or ceases to.
    func notePlay(of asset: Asset) {
        guard self.asset(id: asset.id) === asset else { return }
        let isFirst = asset.life.firstPlayed == nil
        asset.life.notePlay(at: date())
        events.send(.assetChanged(asset))
        noteKeyUse(of: asset)
        guard asset.isPersistent, readOnlyReason == nil else { return }
        if isFirst, asset.life.policy.afterFirstPlay != nil, asset.bundle.exists { writeBundle(of: asset) }
        Task { await saveLife(of: asset) }
    }

    /// What was purged is asked for anew.
    public func forgetPurge(of asset: Asset) {
        guard asset.life.purge != nil else { return }
        asset.life.purge = nil
        Task { await saveLife(of: asset) }
    }

    /// Writes what the catalogue has of an asset's life.
    func saveLife(of asset: Asset) async {
        guard asset.isPersistent else { return }
        await write(.init(storage: [asset.storageRecord]), about: asset)
    }
}

extension Asset {
    /// Its life as the catalogue keeps it.
    var storageRecord: StorageRecord { StorageRecord(asset: id, life) }
}
