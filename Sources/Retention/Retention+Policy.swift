import EventLoop
import Fetching
public import Library
import Playheads
public import Store

/// Policies of assets, and their expiry.
extension Retention {
    /// True if an asset has expired.
    public func isExpired(_ asset: Asset) -> Bool { asset.life.isExpired(at: library.date()) }

    /// Throws `expired` for an expired asset, and `newerBundle` for one that this version cannot play.
    public func checkExpiry(of asset: Asset) throws(LibraryError) {
        try library.checkExpiry(of: asset)
    }

    /// Throws `expired` for an expired asset, except for a session that began before the expiry: it may play to the
    /// end.
    public func checkExpiry(of asset: Asset, for session: String) throws(LibraryError) {
        try library.checkBundle(of: asset)
        guard asset.life.expiration != nil, !library.playheads.hasSession(session) else { return }
        try checkExpiry(of: asset)
    }

    /// Replaces the policy of an asset, in the catalogue and in its bundle.
    ///
    /// - Throws: `store` if the policy cannot be written; then nothing has changed.
    public func setPolicy(_ policy: StoragePolicy, of asset: Asset) async throws(LibraryError) {
        if let reason = library.readOnlyReason {
            throw LibraryError(reason, about: "the policy of \(asset.name) stays as it is")
        }
        let (former, formerKeys, isPlaying) = (asset.life, asset.keys.lives, library.playheads.isPlayed(asset.id))
        asset.life.adopt(policy, isPlaying: isPlaying, at: library.date())
        let changed = library.adoptKeyTerms(of: asset, after: former.policy.keys, isPlaying: isPlaying)
        if !asset.isPersistent { await library.saveNew(asset) }
        let records = Catalogue.Contents(
            keys: asset.keys.records(of: asset.id, changed), storage: [asset.storageRecord])
        guard await library.write(records, about: asset) else {
            (asset.life, asset.keys.lives) = (former, formerKeys)
            asset.keys.reconsider()
            if let error = asset.saveFailure {
                throw LibraryError(error, about: "the policy of \(asset.name) is not kept")
            }
            throw LibraryError(.missing, "\(asset.name) was removed")
        }
        library.events.send(.assetChanged(asset))
        guard asset.bundle.exists else { return }
        asset.bundle.performWrite {
            try? asset.bundle.directory(create: false).setExcludedFromBackups(policy.isExcludedFromBackups)
        }
        library.writeBundle(of: asset)
        if !changed.isEmpty { library.rectify(asset) }
    }

    /// Applies `newKeyTerms` to the keys of an asset that is downloaded for the first time, unless its policy has terms
    /// or it has no keys.
    public func giveTerms(to asset: Asset) async {
        guard newKeyTerms != KeyTerms(), asset.life.policy.keys == KeyTerms(), !asset.keys.isEmpty else { return }
        var policy = asset.life.policy
        policy.keys = newKeyTerms
        do {
            try await setPolicy(policy, of: asset)
        } catch {
            library.report("\(asset.name): its keys have no terms: \(error)")
        }
    }
}
