import EventLoop
import Fetching
import Playheads
import Store

/// Renames assets.
extension Library {
    /// Renames an asset: the new name leads to the asset, the old one to nothing. The id stays, and with it the
    /// bundle's folder and all URLs that players have loaded.
    ///
    /// - Throws: `nameTaken` if the name is invalid or taken; `store` if it cannot be stored. Nothing has changed then.
    public func rename(_ asset: Asset, to name: String) async throws(LibraryError) {
        guard name != asset.name else { return }
        if let readOnlyReason { throw LibraryError(readOnlyReason, about: "\(asset.name) keeps its name") }
        try checkFree(name)
        reserved.insert(name)
        defer { reserved.remove(name) }
        if asset.isPersistent { try await keep(name, of: asset) }
        if playheads.isPlayed(asset.id) { formerNames[asset.name] = asset.id }
        formerNames[name] = nil
        register(asset, as: name)
        asset.revision?.name = name
        if asset.bundle.exists { writeBundle(of: asset) }
    }

    private func keep(_ name: String, of asset: Asset) async throws(LibraryError) {
        var records = [asset, asset.revision].compactMap { $0 }.filter(\.isPersistent).map(\.record)
        for index in records.indices { records[index].name = name }
        do {
            try await store.catalogue.save(.init(assets: records))
            summaries.note(asset)
        } catch {
            throw LibraryError(error, about: "\(asset.name) keeps its name")
        }
        guard asset.isRemoved else { return }
        // The removal may have reached the catalogue first.
        try? await store.catalogue.removeAsset(asset.id)
        throw LibraryError(.missing, "\(asset.name) was removed")
    }

    /// Returns the asset with this former name, if a session that began under the name still plays it. Players of a
    /// recording reload the entry again and again.
    public func asset(formerlyNamed name: String) -> Asset? {
        guard let asset = formerNames[name].flatMap({ asset(id: $0) }), playheads.isPlayed(asset.id) else {
            formerNames[name] = nil
            return nil
        }
        return asset
    }
}
