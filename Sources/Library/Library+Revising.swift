import EventLoop
import Fetching
import Playheads
import Store

/// Handles new content of an origin: a revision, which is an asset of its own beside the old one. The old asset plays
/// until the revision is complete.
///
/// A revision is available by its id only; name and URL lead to the asset that it revises. An asset has at most one
/// revision. The revision replaces the asset when its download reports that it is complete, and no session plays the
/// old asset.
extension Library {
    /// Creates a revision of the asset, with its entry playlist loaded and nothing stored.
    ///
    /// - Throws: `otherContent` for a recording, which no origin has any more; `urlTaken` if there is a revision
    ///   already; or the reason why the entry cannot be fetched. Nothing has changed then.
    public func revise(_ asset: Asset) async throws(LibraryError) -> Asset {
        if let readOnlyReason { throw LibraryError(readOnlyReason, about: "\(asset.name) stays as it is") }
        guard !asset.isRecorded, !asset.isRevision else {
            throw LibraryError(.otherContent, "\(asset.name) cannot be revised")
        }
        let revision = Asset(
            id: AssetNaming.id(forName: asset.name, isTaken: isTakenID), name: asset.name, title: asset.title,
            origin: asset.origin, access: asset.access, created: asset.created, store: store)
        revision.revises = asset.id
        revision.bundle.relocate(to: asset.bundle.place)
        try await loadEntry(of: revision)
        guard !asset.isRemoved else { throw LibraryError(.missing, "\(asset.name) was removed") }
        guard asset.revision == nil else {
            throw LibraryError(.urlTaken, "the new content of \(asset.name) is being fetched already")
        }
        register(revision, of: asset)
        return revision
    }

    /// Replaces an asset by its revision and deletes the old asset, unless a session plays it.
    ///
    /// A restart at any instant finds one of the two complete: the new pieces are on disk before the old ones are
    /// deleted.
    ///
    /// - Returns: true if the asset was replaced.
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

    /// Returns the asset that a revision revises, until it is replaced.
    public func revised(by revision: Asset) -> Asset? {
        revision.revises.flatMap { asset(id: $0) }.flatMap { $0.revision === revision ? $0 : nil }
    }

    /// Deletes a revision and its stored files; the asset that it revises stays.
    public func abandon(_ revision: Asset) async {
        guard let asset = revised(by: revision) else { return }
        asset.revision = nil
        do {
            try await discard(revision)
        } catch {
            report("\(asset.name): the part of the new content is not wholly removed: \(error)")
        }
    }

    /// Returns the asset to play for a requested one: its revision, if the origin has other content and the old asset
    /// is neither downloaded nor played.
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

    // MARK: Restoring

    /// Registers the assets of a catalogue: first the named ones, then their revisions.
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
    /// True if the asset is the revision of another asset, and has not replaced it yet.
    public var isRevision: Bool { revises != nil }
}
