import EventLoop
public import Fetching
import HTTPMessage
import Playlist
import Store

/// Returns media playlists, and fetches the resources that they name.
extension Library {
    /// Returns the rendition's full playlist, from the store or from the origin.
    ///
    /// A playlist that has ended is stored, and not fetched again. A live one is fetched again once that is due,
    /// regardless of the number of players.
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
            // An ended playlist that could not be written to the catalogue only needs to be written.
            if known.isDurable { return .success(try await take(known, rendition, in: asset)) }
            return .success(try await reload(rendition, known, in: asset))
        } catch {
            return .failure(error)
        }
    }

    /// Adopts a full playlist. It is written to disk before players see it, because the names in it (a key's number)
    /// must remain valid after a crash.
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

    /// Returns the fetch of a resource of the asset. The fetch is retained for the caller, who must release it.
    ///
    /// The resource becomes a piece if its rendition's playlist has ended and is in the catalogue, or is recorded.
    /// Otherwise it is not stored.
    ///
    /// - Parameter fallback: what the caller can play instead. With a fallback, an origin that does not answer gets
    ///   less time.
    /// - Throws: `missing` if the asset was removed, `store` if neither disk nor memory has space.
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

    /// True if each name in a folder identifies the same bytes forever.
    func isLasting(_ folder: PieceFolder, of asset: Asset) -> Bool {
        asset.rendition(folder.id).map { $0.source?.isDurable ?? false } ?? true
    }

    /// True if a resource belongs to a running recording.
    private func isRecorded(_ resource: Resource, in folder: PieceFolder, of asset: Asset) -> Bool {
        asset.rendition(folder.id)?.recording?.keeps(resource.name) ?? false
    }

    /// Returns the resource with its present URL: a download plan may be older than the tokens.
    func current(_ resource: Resource, in folder: PieceFolder, of asset: Asset) -> Resource {
        if case .key(let number) = resource.name.role { return asset.keys.resource(number) ?? resource }
        guard let rendition = asset.rendition(folder.id), rendition.hasMoved else { return resource }
        return rendition.resource(named: resource.name) ?? resource
    }

    /// Decides if a resource's bytes are stored.
    func keeping(_ resource: Resource, in folder: PieceFolder, of asset: Asset) -> Loader.Keeping {
        if case .key(let number) = resource.name.role {
            // An expired or revoked key returns to the store only by a renewal. A player that streams from the origin
            // gets the key from there.
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
