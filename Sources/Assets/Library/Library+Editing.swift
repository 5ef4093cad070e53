import EventLoop
import Fetching
import FoundationEssentials
package import HTTPMessage
import Orders
public import Origin
import Playheads
import Store

/// Changes what is known of an asset besides its content: name, title, header fields and playbacks.
extension Library {
    /// Renames an asset. The id stays, and with it the bundle's folder and all URLs that players have loaded. Throws
    /// `nameTaken` if the name is invalid or taken, and `store`; nothing has changed then.
    public func rename(_ asset: Asset, to name: String) async throws(LibraryError) {
        guard name != asset.name else { return }
        try checkWritable("\(asset.name) keeps its name")
        try checkFree(name)
        // As a name is kept: composed.
        let name = AssetNaming.slug(name[...])
        reserved.insert(name)
        defer { reserved.remove(name) }
        if asset.isPersistent {
            try await records.rename(asset, to: name)
        }
        if playheads.isPlayed(asset.id) {
            formerNames[asset.name] = asset.id
        }
        formerNames[name] = nil
        let former = asset.name
        register(asset, as: name)
        events.send(.renamed(asset, from: former))
        asset.revision?.name = name
        if asset.bundle.exists {
            writeBundle(of: asset)
        }
    }

    /// Sets the title for display; nil removes it.
    public func setTitle(_ title: String?, of asset: Asset) async {
        guard asset.title != title else { return }
        asset.title = title
        await keepWords(about: asset)
    }

    /// Sets the description; nil removes it.
    public func describe(_ asset: Asset, _ note: String?) async {
        guard asset.note != note else { return }
        asset.note = note
        await keepWords(about: asset)
    }

    private func keepWords(about asset: Asset) async {
        events.send(.assetChanged(asset))
        if asset.isPersistent {
            await records.save(asset)
        }
        if !asset.isRemoved, readOnlyReason == nil, asset.bundle.exists {
            writeBundle(of: asset)
        }
    }

    /// Replaces the header fields of an asset. They go with every request for the asset to the scheme, host and port of
    /// its URL, including requests that players cause, and are stored only in the catalogue. Throws `store`; nothing
    /// has changed then. In a read-only store they apply until the process ends.
    public func setFields(_ fields: UserFields, of asset: Asset) async throws(LibraryError) {
        guard fields != asset.access.fields else { return }
        // A player's User-Agent alone is not kept, and lets nothing in that was refused before.
        guard fields.record != asset.access.fields.record else {
            return asset.access.change(to: asset.origin, with: fields)
        }
        if asset.isPersistent, readOnlyReason == nil {
            var records = [asset, asset.revision].compactMap { $0?.record }
            for index in records.indices {
                records[index].fields = fields.record
            }
            do {
                try await store.catalogue.save(.init(assets: records))
            } catch {
                throw LibraryError(error, about: "the header fields of \(asset.name) cannot be stored")
            }
        }
        asset.access.change(to: asset.origin, with: fields)
        // The origin may now allow what it refused before.
        asset.entryChecks.latest = nil
        playlists.allowRenewal(of: asset)
    }

    /// Replaces the settings for the way to the origin of an asset. Throws `store`; nothing has changed then.
    public func setRoute(_ route: OriginRoute, of asset: Asset) async throws(LibraryError) {
        var route = route
        route.firstClass = asset.access.route.firstClass
        guard route != asset.access.route else { return }
        if asset.isPersistent, readOnlyReason == nil {
            var records = [asset, asset.revision].compactMap { $0?.record }
            for index in records.indices {
                records[index].route = route.record
            }
            do {
                try await store.catalogue.save(.init(assets: records))
            } catch {
                throw LibraryError(error, about: "the route to the origin of \(asset.name) cannot be stored")
            }
        }
        asset.access.change(route)
        reportInsecurity(of: asset)
        // Another way may reach hosts that could not be reached before.
        asset.entryChecks.latest = nil
        playlists.allowRenewal(of: asset)
    }

    /// Warns in the log that certificates are not verified.
    func reportInsecurity(of asset: Asset) {
        guard asset.access.route.isInsecure else { return }
        report(
            "\(asset.name): certificates are not verified (--insecure): anyone on the way to \(asset.origin.host) can read "
                + "and change what is fetched")
    }

    /// Offers cookies of the user's file to an asset.
    package func offer(_ cookies: [StoredCookie], to asset: Asset) {
        asset.access.cookies.offer(cookies)
        // The origin may now allow what it refused before.
        asset.entryChecks.latest = nil
        playlists.allowRenewal(of: asset)
    }

    /// Records that the user named the URL of an asset: it may lead to a private address from now on, and after a
    /// restart. If this cannot be stored, it applies until the process ends.
    func confirm(_ asset: Asset) async {
        guard asset.access.confirm() else { return }
        for asset in [asset, asset.revision].compactMap(\.self) where asset.isPersistent {
            await records.save(asset)
        }
        // Requests that were refused before may be allowed now.
        asset.entryChecks.latest = nil
        playlists.allowRenewal(of: asset)
    }

    func recordPlay(_ change: SessionChange) {
        guard let asset = asset(id: change.asset) else { return }
        let isFirst = asset.life.firstPlayed == nil
        asset.life.recordPlay(at: date())
        events.send(.assetChanged(asset))
        keys.recordPlay(of: asset)
        if case .ended = change {
            Task { @LoopActor in await revisions.sessionEnded(of: asset) }
        }
        guard asset.isPersistent, readOnlyReason == nil else { return }
        if isFirst, asset.life.policy.afterFirstPlay != nil, asset.bundle.exists {
            writeBundle(of: asset)
        }
        Task { await records.saveLife(of: asset) }
    }
}

extension OriginRoute {
    var record: String? {
        guard self != OriginRoute(), let data = try? JSONEncoder().encode(self) else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    init(record: String?) {
        guard let record, let route = try? JSONDecoder().decode(OriginRoute.self, from: Data(record.utf8)) else {
            self.init()
            return
        }
        self = route
    }
}
