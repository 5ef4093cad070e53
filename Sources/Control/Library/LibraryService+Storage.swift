import Assets
import Downloads
import EventLoop
import Extras
import HTTPMessage
import HTTPServer
package import Orders
import Origin
import Retention
import SafeText
import Store
import Substitution
package import WeirAPI

/// Policies, names, titles and header fields of assets.
extension LibraryService {
    package func setPolicy(_ policy: StoragePolicy, ofAsset name: String) async throws(APIError) -> API.Asset {
        if let contradiction = policy.contradiction {
            throw APIError(.badRequest, contradiction)
        }
        let asset = try find(name)
        do {
            try await retention.setPolicy(policy, of: asset)
        } catch {
            throw APIError(error, asset: asset.name)
        }
        return await shape(asset)
    }

    package func change(_ change: API.AssetChange, ofAsset name: String) async throws(APIError) -> API.Asset {
        let asset = try find(name)
        let fields = try OriginOrder(asset.origin.text, headers: change.headers).fields
        var order = API.DownloadRequest(source: name)
        order.artwork = change.artwork?.nonEmpty
        let artwork = try await artwork(order, for: asset)
        if let name = change.name, !AssetNaming.isName(name) {
            throw APIError(invalid: name, for: asset.name)
        }
        do {
            if let name = change.name {
                try await library.rename(asset, to: name)
            }
            if let fields {
                try await library.setFields(fields, of: asset)
            }
            if change.artwork == "" {
                try library.artwork.remove(of: asset)
            }
        } catch {
            throw APIError(error, asset: asset.name)
        }
        if let artwork {
            try store(artwork, of: asset)
        }
        if let note = change.note {
            try await describe(asset, note.nonEmpty)
        }
        if let title = change.title {
            await library.setTitle(title.nonEmpty, of: asset)
        }
        downloader.renamed(asset)
        return await shape(asset)
    }

    /// The description that came with a download is replaced, too.
    private func describe(_ asset: Asset, _ note: String?) async throws(APIError) {
        if let download = downloader.download(of: asset) {
            if download.isUnreadable {
                throw APIError(unreadable: asset.name)
            }
            await downloader.setNote(note, of: download)
        }
        await library.describe(asset, note)
        library.events.send(.assetChanged(asset))
    }

    func storage(of asset: Asset) -> API.Storage {
        let life = asset.life
        var storage = API.Storage(
            policy: life.policy, expiration: life.expiration.map(Int.init),
            isExpired: retention.isExpired(asset))
        storage.firstPlayed = life.firstPlayed.map(Int.init)
        storage.lastPlayed = life.lastPlayed.map(Int.init)
        storage.purge = life.purge
        return storage
    }
}

extension APIError {
    /// Creates the error of a new name that is not one, with the nearest that is.
    fileprivate init(invalid name: String, for asset: String) {
        let near = KnownStream.name(forTitle: name)
        let titled = "--title \(ShellWord.quoted(name)), which lists show"
        var next = "weir rename \(asset) \(near) \(titled)"
        if near.isEmpty || near == asset {
            next = "weir set \(asset) \(titled)"
        }
        self.init(.nameTaken, AssetNaming.flaw(of: name), next: next)
    }
}

/// The store's totals.
extension LibraryService {
    package func store() async throws(APIError) -> API.Store {
        // Assets that were not opened since the start are not opened for this.
        let bytes = library.assets.map { asset in
            if let summary = summaries.summary(of: asset) {
                return summary.bytes
            }
            guard asset.isLoaded else { return 0 }
            return asset.bytes + (asset.revision?.bytes ?? 0)
        }
        let store = library.store
        let cache = API.PlayCache(bytes: Int(retention.cachedBytes), limit: retention.cacheLimit.map { Int($0) })
        var shape = API.Store(path: store.root.path, playCache: cache, purge: retention.purgeLimit.rawValue)
        shape.problem = library.readOnlyReason.map { "\($0)" }
        shape.assets = library.assets.count
        shape.bytes = Int(bytes.reduce(0, +))
        shape.disk = store.space.map { space in
            .init(
                totalBytes: Int(space.total), freeBytes: Int(min(space.free, space.total)),
                reservedBytes: Int(store.reserve))
        }
        shape.heldBytes = heldBytes { $0.isDeleted }
        return shape
    }

    /// The bytes of an asset's files that players are reading; nil if there are none. A reader keeps the space of a file that is
    /// removed, and may be paused for hours.
    func heldBytes(of asset: Asset) -> Int? {
        let folders = [asset, asset.revision].compactMap(\.self).map { "/assets/\($0.id)/" }
        return heldBytes { file in folders.contains { file.path.contains($0) } }
    }

    private func heldBytes(where isMeant: (UnreadFile) -> Bool) -> Int? {
        let bytes = (pool?.unreadFiles ?? []).filter(isMeant).reduce(0) { $0 + Int($1.bytes) }
        guard bytes > 0 else { return nil }
        return bytes
    }
}

/// Playability of stored assets.
extension LibraryService {
    /// The playability of an asset without its origin, judged from the disk.
    func playable(_ asset: Asset) async -> Playability {
        await library.survey(asset)
        do { try retention.checkExpiry(of: asset) } catch { return Playability(.no, error.message) }
        return await substitutions.playability(of: asset)
    }
}

/// The network mode.
extension LibraryService {
    package func mode() async throws(APIError) -> API.Mode { API.Mode(library.mode) }

    func limit() -> API.Limit { API.Limit(bytesPerSecond: library.client.backgroundRate.map { Int($0) }) }

    func change(to limit: API.Limit) throws(APIError) -> API.Limit {
        if let rate = limit.bytesPerSecond, !(Self.lowestRate...Self.highestRate).contains(rate) {
            throw APIError(
                .badRequest, "bytesPerSecond must be a number from \(Self.lowestRate) to \(Self.highestRate)")
        }
        library.client.backgroundRate = limit.bytesPerSecond.map(Int64.init)
        return limit
    }

    private static let lowestRate = 1_024
    private static let highestRate = 1 << 40

    package func change(to mode: API.Mode) async throws(APIError) -> API.Mode {
        let before = library.mode
        library.mode = mode.mode
        if before == .offline, library.mode != .offline {
            downloader.retry(.network)
        }
        return mode
    }
}
