import EventLoop
public import Fetching
import HTTPMessage
import Playlist
import Store

/// Media playlists, and the fetches of what they name.
extension Library {
    /// The rendition's playlist, whole: the one in the store, or the origin's.
    ///
    /// A playlist that has ended is kept, and not asked for again. A live one is asked for again once that is due,
    /// whoever many players want it.
    public func source(of rendition: Rendition, in asset: Asset) async throws(LibraryError) -> Rendition.Source {
        if let source = rendition.source {
            if source.isDurable {
                if rendition.isSaved || readOnlyReason != nil || asset.isPreview { return source }
            } else if rendition.isFresh(now: .now) {
                return source
            }
        }
        if let task = rendition.loading { return try await task.value.get() }
        let task = Task { @LoopActor in await self.load(rendition, in: asset) }
        rendition.loading = task
        defer { rendition.loading = nil }
        return try await task.value.get()
    }

    private func load(_ rendition: Rendition, in asset: Asset) async -> Result<Rendition.Source, LibraryError> {
        do throws(LibraryError) {
            guard let known = rendition.source else {
                return .success(try await take(try await fetchSource(of: rendition, in: asset), rendition, in: asset))
            }
            // What is known for good, but could not be noted in the catalogue, is only to be noted.
            if known.isDurable { return .success(try await take(known, rendition, in: asset)) }
            return .success(try await reload(rendition, known, in: asset))
        } catch {
            return .failure(error)
        }
    }

    /// Takes a whole playlist: first on disk, then in sight, since what a player reads in it (a key's number) must hold
    /// after a crash.
    func take(
        _ source: Rendition.Source, _ rendition: Rendition, in asset: Asset, began: ContinuousClock.Instant = .now
    ) async throws(LibraryError) -> Rendition.Source {
        var source = source
        if rendition.recording != nil { source.isWindow = true }
        for url in source.keyURLs { rendition.keys.add(url) }
        if source.isDurable { rendition.isSaved = await save(source, of: rendition.name.id, in: asset) }
        if asset.isRemoved { throw LibraryError(.missing, "\(asset.name) was removed") }
        if !(rendition.source?.isDurable ?? false) { rendition.adopt(source, began: began) }
        return rendition.source ?? source
    }

    // MARK: Resources

    /// The fetch of a resource of the asset, retained for the caller, who releases it when it has no more use for it.
    ///
    /// It becomes a piece if its rendition's playlist has ended and stands in the catalogue, or is recorded; else it
    /// passes through.
    ///
    /// - Parameter fallback: what who asks has to play in its place: an origin that does not answer is not waited for then
    ///   as long as it is otherwise.
    /// - Throws: `missing` when the asset was removed, `store` when there is neither disk nor memory for the bytes.
    public func fetch(
        _ resource: Resource, in folder: PieceFolder, of asset: Asset, urgency: Fetch.Urgency,
        fallback: Fetch.Fallback = .none
    ) throws(LibraryError) -> Fetch {
        if asset.isRemoved { throw LibraryError(.missing, "\(asset.name) was removed") }
        let resource = current(resource, in: folder, of: asset)
        let isLasting = isLasting(folder, of: asset) || isRecorded(resource, in: folder, of: asset)
        do {
            let fetch = try loader.fetch(
                resource, folder: folder, isLasting: isLasting, keeping(resource, in: folder, of: asset),
                access: asset.access, urgency: urgency, fallback: fallback
            ) { ResourceSources(around: resource, in: folder, of: asset, library: self) }
            if case .key(let number) = resource.name.role { fetch.expectation = asset.keys.life(of: number).digest }
            return fetch
        } catch {
            throw LibraryError(error)
        }
    }

    /// Whether names in a folder stand for the same bytes for ever.
    func isLasting(_ folder: PieceFolder, of asset: Asset) -> Bool {
        asset.rendition(folder.id).map { $0.source?.isDurable ?? false } ?? true
    }

    /// Whether what a name stands for belongs to a recording that goes on.
    private func isRecorded(_ resource: Resource, in folder: PieceFolder, of asset: Asset) -> Bool {
        asset.rendition(folder.id)?.recording?.keeps(resource.name) ?? false
    }

    /// The resource with the URL that it has now: whoever made a plan may have done so before tokens expired.
    func current(_ resource: Resource, in folder: PieceFolder, of asset: Asset) -> Resource {
        if case .key(let number) = resource.name.role { return asset.keys.resource(number) ?? resource }
        guard let rendition = asset.rendition(folder.id), rendition.hasMoved else { return resource }
        return rendition.resource(named: resource.name) ?? resource
    }

    /// What becomes of a resource's bytes.
    func keeping(_ resource: Resource, in folder: PieceFolder, of asset: Asset) -> Loader.Keeping {
        if case .key(let number) = resource.name.role {
            // What may not be used any more comes back by a renewal alone; who plays from the origin has its key from there.
            guard asset.keys.isUsable(number) else { return .passing(because: nil) }
            return asset.keys.isSaved(number) ? .kept : .passing(because: asset.isLive ? nil : asset.saveFailure)
        }
        if case .data = resource.name.role {
            return asset.isPersistent ? .kept : .passing(because: asset.isLive ? nil : asset.saveFailure)
        }
        if isRecorded(resource, in: folder, of: asset) { return .kept }
        guard let rendition = asset.rendition(folder.id), rendition.source?.isDurable ?? false,
            rendition.isListed(resource.name)
        else { return .passing(because: nil) }
        return rendition.isSaved ? .kept : .passing(because: asset.saveFailure)
    }
}
