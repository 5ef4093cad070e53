import Downloader
import EventLoop
import Library
import Retention
import Store

/// How long assets are kept, and what they are called.
extension LibraryService {
    /// See `ControlService`.
    public func setPolicy(_ policy: API.Policy, ofAsset name: String) async throws(ControlError) -> API.Asset {
        if let contradiction = policy.contradiction { throw ControlError(.badRequest, contradiction) }
        let asset = try find(name)
        do {
            try await retention.setPolicy(StoragePolicy(policy), of: asset)
        } catch {
            throw ControlError(error, asset: asset.name)
        }
        return shape(asset)
    }

    /// See `ControlService`.
    public func change(_ change: API.AssetChange, ofAsset name: String) async throws(ControlError) -> API.Asset {
        let asset = try find(name)
        if let name = change.name {
            do {
                try await library.rename(asset, to: name)
            } catch {
                throw ControlError(error, asset: asset.name)
            }
        }
        if let title = change.title { await library.entitle(asset, title.isEmpty ? nil : title) }
        downloader.renamed(asset)
        return shape(asset)
    }

    /// What becomes of an asset's storage.
    func storage(of asset: Asset) -> API.Storage {
        let life = asset.life
        var storage = API.Storage(
            policy: API.Policy(life.policy), expiration: life.expiration.map(Int.init),
            isExpired: retention.isExpired(asset))
        storage.firstPlayed = life.firstPlayed.map(Int.init)
        storage.lastPlayed = life.lastPlayed.map(Int.init)
        storage.purge = life.purge.map(API.Storage.Purge.init)
        return storage
    }
}

extension StoragePolicy {
    fileprivate init(_ policy: API.Policy) {
        self.init(
            expires: policy.expires.map(Int64.init), afterFirstPlay: policy.afterFirstPlay.map(Int64.init),
            priority: policy.priority == .important ? .important : .default,
            isExcludedFromBackups: policy.backup == .exclude,
            keys: KeyTerms(
                lifetime: policy.keysExpire.map(Int64.init), afterFirstPlay: policy.keysAfterFirstPlay.map(Int64.init)))
    }
}

extension API.Policy {
    fileprivate init(_ policy: StoragePolicy) {
        self.init(
            expires: policy.expires.map(Int.init), afterFirstPlay: policy.afterFirstPlay.map(Int.init),
            priority: policy.priority == .important ? .important : .default,
            backup: policy.isExcludedFromBackups ? .exclude : .include,
            keysExpire: policy.keys.lifetime.map(Int.init),
            keysAfterFirstPlay: policy.keys.afterFirstPlay.map(Int.init))
    }
}

extension API.Storage.Purge {
    init(_ purge: StorageLife.Purge) {
        self.init(date: Int(purge.date), bytes: Int(purge.bytes), cause: purge.cause == .expired ? .expired : .space)
    }
}
