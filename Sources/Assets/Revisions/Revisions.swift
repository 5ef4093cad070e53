public import EventLoop
import Fetching
import HTTPMessage
import Origin
import Playheads
import Store

/// Handles new content of an origin: a revision, which is an asset of its own beside the old one. A revision is
/// available by its id only; name and URL lead to the asset that it revises, which has at most one. It replaces the
/// asset when its download reports that it is complete, and no session plays the old asset.
@LoopActor public struct Revisions {
    let library: Library

    /// Returns the revision of the asset: the one that exists or is being created, else a new one with its entry playlist loaded and
    /// nothing stored. A player, a command and a download may each need it first. Throws `otherContent` for a recording, which no
    /// origin has any more.
    public func revise(_ asset: Asset) async throws(LibraryError) -> Asset {
        if let revision = asset.revision {
            return revision
        }
        return try await library.revisionChecks.creations.run(ObjectIdentifier(asset)) {
            do throws(LibraryError) {
                return .success(try await create(of: asset))
            } catch {
                return .failure(error)
            }
        }.get()
    }

    private func create(of asset: Asset) async throws(LibraryError) -> Asset {
        try library.checkWritable("\(asset.name) stays as it is")
        guard !asset.isRecorded, !asset.isRevision else {
            throw LibraryError(.otherContent, "\(asset.name) cannot be revised")
        }
        let revision = Asset(
            id: AssetNaming.id(forName: asset.name, isTaken: library.isTakenID), name: asset.name, title: asset.title,
            origin: asset.origin, access: asset.access, created: asset.created, store: library.store)
        revision.revises = asset.id
        revision.bundle.relocate(to: asset.bundle.volume)
        try await library.playlists.loadEntry(of: revision)
        // The catalogue has one revision of an asset: the row of an abandoned one would be taken for that of the next.
        let removals = library.revisionChecks.removals
        if removals.isRunning(ObjectIdentifier(asset)) {
            await removals.run(ObjectIdentifier(asset)) {}
        }
        try asset.checkNotRemoved()
        library.register(revision, of: asset)
        return revision
    }

    /// Replaces an asset by its revision and deletes the old asset, unless a session plays it. Returns true if it was
    /// replaced. A restart at any instant finds one of the two complete: the new pieces are on disk before the old ones
    /// are deleted.
    public func supersede(_ asset: Asset) async -> Bool {
        guard let revision = asset.revision, library.readOnlyReason == nil else { return false }
        if revision.bytes > 0 {
            await library.store.sync()
        }
        await verifyAttachments(of: asset)
        guard asset.revision === revision, !asset.isRemoved, !library.playheads.isPlayed(asset.id) else { return false }
        copyAdditions(of: asset, to: revision)
        revision.title = asset.title
        revision.life = asset.life
        library.unregister(asset)
        asset.access.renameCookies(to: revision.id)
        asset.revision = nil
        library.register(revision)
        do {
            var record: AssetRecord?
            var storage: StorageRecord?
            if revision.isPersistent {
                record = revision.record
                record?.revises = nil
                storage = revision.storageRecord
            }
            try await library.erase(asset) { [record, storage, store = library.store] awaited throws(StoreError) in
                try await store.catalogue.supersede(asset.id, by: record, storage, awaiting: awaited)
            }
            revision.revises = nil
        } catch {
            library.report("\(asset.name): the new content could not completely replace the old: \(error)")
        }
        library.publish(revision)
        library.report("\(revision.name): the new content has replaced the old")
        return true
    }

    /// Verifies the attached tracks, which are copied: a copy of a damaged piece would count as sound.
    private func verifyAttachments(of asset: Asset) async {
        for rendition in asset.content.additions.renditions.values {
            _ = await rendition.folder.verifiedIdentities(of: Array(rendition.folder.sizes.keys))
        }
    }

    /// Copies the image and the attached tracks of an asset to the revision that takes its place.
    private func copyAdditions(of asset: Asset, to revision: Asset) {
        let additions = asset.content.additions
        let bundle = try? asset.bundle.directory(create: false)
        if revision.content.additions.artwork == nil, let kind = additions.artwork,
            let image = (try? bundle?.read(kind.fileName)) ?? nil
        {
            revision.bundle.performWrite { [weak library = library] in
                let folder = try? revision.bundle.directory(create: true)
                guard (try? folder?.write(image, as: kind.fileName)) != nil else { return }
                revision.content.additions.artwork = kind
                library?.writeBundle(of: revision)
            }
        }
        for attachment in additions.attachments {
            guard let rendition = additions.renditions[attachment.id], rendition.isComplete else {
                library.report(
                    "\(asset.name): the attached track \(attachment.id) is lost: a piece of it is missing or damaged")
                continue
            }
            do throws(StoreError) {
                try copy(attachment, rendition, to: revision)
            } catch {
                library.report("\(asset.name): the attached track \(attachment.id) is lost: \(error)")
            }
        }
    }

    private func copy(
        _ attachment: BundleIdentity.Attachment, _ rendition: Rendition, to revision: Asset
    ) throws(StoreError) {
        let content = revision.content
        guard let playlist = rendition.folder.read("media.m3u8"), let source = content.attachedSource(playlist) else {
            return
        }
        let copy = content.makeRendition(of: attachment)
        copy.adopt(source)
        // Known before its pieces are: those of an unknown folder count as cached.
        content.additions.renditions[attachment.id] = copy
        for (file, size) in rendition.folder.sizes {
            try copy.folder.put(rendition.folder.beginning(of: file, count: Int(size)), as: file)
        }
        try copy.folder.write(playlist, as: "media.m3u8")
        content.additions.attachments.append(attachment)
        library.writeBundle(of: revision)
    }

    /// Returns the asset that a revision revises, until it is replaced.
    public func revised(by revision: Asset) -> Asset? {
        guard let id = revision.revises, let asset = library.asset(id: id), asset.revision === revision else {
            return nil
        }
        return asset
    }

    /// Deletes a revision and its stored files; the asset that it revises stays.
    public func abandon(_ revision: Asset) async {
        guard let asset = revised(by: revision) else { return }
        asset.revision = nil
        // At once: whatever uses the revision must see that it is removed.
        library.unregister(revision)
        revision.bundle.forbidWrites()
        await library.revisionChecks.removals.run(ObjectIdentifier(asset)) {
            do {
                try await library.deleteUnregistered(revision)
            } catch {
                library.report("\(asset.name): what was fetched of the new content is not all removed: \(error)")
            }
        }
    }

    /// Returns the asset to play: a revision if the origin has other content, and the old does not suffice or is not needed any
    /// more. A session that plays the old content keeps it.
    public func current(_ asset: Asset) async -> Asset {
        let isKept = library.downloads?.isKept(asset) ?? false
        let mayBeReplaced = asset.content.isPastBroadcast && !isKept
        // One that plays without its origin is asked about only when a player needs more of it.
        if mayBeReplaced || !asset.isPlayableOffline {
            await checkBeforeFetching(into: asset, isStart: true)
        }
        guard !asset.isRecorded, !library.isOffline else { return asset }
        if mayBeReplaced, !asset.hasChanged {
            await library.playlists.checkBroadcasts(of: asset)
        }
        if isKept || library.playheads.isPlayed(asset.id) {
            // The old segments do not suffice, and the rest of them is nowhere; or nobody waits for the end of the old broadcast.
            let isUseless = asset.hasOtherSegments && !asset.isPlayableOffline || mayBeReplaced && asset.hasChanged
            guard isUseless else { return asset }
            await abandonOutdated(asset.revision)
            if asset.revision == nil {
                _ = try? await revise(asset)
            }
            return asset.revision ?? asset
        }

        await abandonOutdated(asset.revision)
        if asset.revision == nil {
            guard asset.hasChanged, (try? await revise(asset)) != nil else { return asset }
        }
        // One that is downloaded replaces the old when it is complete.
        guard let revision = asset.revision, !(library.downloads?.isKept(revision) ?? false) else { return asset }
        guard await supersede(asset) else {
            if !asset.hasOtherSegments, !mayBeReplaced {
                await abandon(revision)
            }
            return asset.revision ?? asset
        }
        return revision
    }

    /// Gives a revision up after which the origin has changed once more, unless it is downloaded or played.
    private func abandonOutdated(_ revision: Asset?) async {
        guard let revision, revision.hasOtherSegments, !(library.downloads?.isKept(revision) ?? false),
            !library.playheads.isPlayed(revision.id)
        else { return }
        await abandon(revision)
    }

    /// Registers the assets of a catalogue: first the named ones, then their revisions.
    func register(restored assets: [Asset]) {
        for asset in assets where !asset.isRevision {
            library.register(asset)
        }
        for revision in assets {
            guard let asset = revision.revises.flatMap({ library.asset(id: $0) }) else { continue }
            revision.access = asset.access
            // The origin has other content than this asset, whatever made it known.
            asset.hasOtherSegments = true
            library.register(revision, of: asset)
        }
    }
}
