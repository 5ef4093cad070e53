import EventLoop
import Fetching
import Playheads
import Store

/// Assets whose origin has other content now: the new is a revision, an asset of its own beside the old one, which plays
/// until the new is whole.
///
/// A revision is known by its id alone; name and URL lead to what it revises. There is one at a time. It takes the
/// place of the old when whoever fetches it says that it is whole, and nobody plays the old.
extension Library {
    /// The asset's new content, as an asset beside it: with its entry playlist loaded, and nothing stored.
    ///
    /// - Throws: `otherContent` for what was recorded, which no origin has any more; `urlTaken` where there is a
    ///   revision already; or why the entry cannot be had. Nothing has changed then.
    public func revise(_ asset: Asset) async throws(LibraryError) -> Asset {
        if let readOnlyReason { throw LibraryError(readOnlyReason, about: "\(asset.name) stays as it is") }
        guard !asset.isRecorded, !asset.isRevision else {
            throw LibraryError(.otherContent, "\(asset.name) cannot be revised")
        }
        let revision = Asset(
            id: AssetNaming.id(forName: asset.name, isTaken: isTakenID), name: asset.name, title: asset.title,
            origin: asset.origin, access: asset.access, created: asset.created, store: store)
        revision.revises = asset.id
        revision.bundle.settle(in: asset.bundle.place)
        try await loadEntry(of: revision)
        guard !asset.isRemoved else { throw LibraryError(.missing, "\(asset.name) was removed") }
        guard asset.revision == nil else {
            throw LibraryError(.urlTaken, "the new content of \(asset.name) is being fetched already")
        }
        register(revision, of: asset)
        return revision
    }

    /// Lets a revision take the place of what it revises, which is deleted, unless somebody plays that at this moment.
    ///
    /// At each instant a restart finds one of the two whole: what is stored of the new is on the disk before what is old
    /// goes.
    ///
    /// - Returns: whether it has.
    public func supersede(_ asset: Asset) async -> Bool {
        guard let revision = asset.revision, readOnlyReason == nil else { return false }
        if revision.bytes > 0 { await store.sync() }
        guard asset.revision === revision, !asset.isRemoved, !playheads.isPlayed(asset.id) else { return false }
        if revision.artworkKind == nil, let artwork = artwork(of: asset) { try? keep(artwork, of: revision) }
        (revision.title, revision.life) = (asset.title, asset.life)
        unregister(asset)
        asset.revision = nil
        register(revision)
        do {
            try asset.bundle.remove()
            let isKept = revision.isPersistent
            try await store.catalogue.supersede(
                asset.id, by: isKept ? settled(revision) : nil, isKept ? revision.storageRecord : nil)
            revision.revises = nil
        } catch {
            report("\(asset.name): the new content has not wholly taken the place of the old: \(error)")
        }
        publish(revision)
        report("\(revision.name): the new content has taken the place of the old")
        return true
    }

    private func settled(_ revision: Asset) -> AssetRecord {
        var record = revision.record
        record.revises = nil
        return record
    }

    /// The asset whose new content another one is, as long as that is not in its place.
    public func revised(by revision: Asset) -> Asset? {
        revision.revises.flatMap { asset(id: $0) }.flatMap { $0.revision === revision ? $0 : nil }
    }

    /// Deletes a revision with all that is stored of it; what it revises stays.
    public func abandon(_ revision: Asset) async {
        guard let asset = revised(by: revision) else { return }
        asset.revision = nil
        do {
            try await discard(revision)
        } catch {
            report("\(asset.name): the part of the new content is not wholly removed: \(error)")
        }
    }

    /// What is to be played where an asset was asked for: where its origin has other content, and nobody wants the old
    /// to be kept, nor plays it, that.
    public func current(_ asset: Asset) async -> Asset {
        let isKept = downloads?.isKept(asset) ?? false
        guard asset.hasChanged, asset.revision == nil, !asset.isRecorded, !isOffline, !isKept,
            !playheads.isPlayed(asset.id)
        else { return asset }
        guard let revision = try? await revise(asset) else { return asset }
        guard await supersede(asset) else {
            await abandon(revision)
            return asset
        }
        return revision
    }

    // MARK: Reading back

    /// Registers the assets of a catalogue: first those that have names, then what revises them.
    func register(restored assets: [Asset]) {
        for asset in assets where !asset.isRevision { register(asset) }
        for revision in assets {
            guard let asset = revision.revises.flatMap({ self.asset(id: $0) }) else { continue }
            revision.access = asset.access
            register(revision, of: asset)
        }
    }
}

extension Asset {
    /// Whether it is the new content of another asset, and not yet in the place of that.
    public var isRevision: Bool { revises != nil }
}
