import EventLoop
import HTTPMessage
import Playlist
import Store

/// Media playlists, and the flights of what they name.
extension Library {
    /// The rendition's playlist: the one in the store, or the origin's.
    ///
    /// A playlist that has ended is kept, and not asked for again. A live one is asked for again once half a target
    /// duration has passed, whoever many players want it (RFC 8216 §6.3.4).
    public func source(of rendition: Rendition, in asset: Asset) async throws(LibraryError) -> Rendition.Source {
        if let source = rendition.source {
            if source.isDurable && (rendition.isSaved || readOnlyReason != nil || asset.isPreview) { return source }
            if let fetched = rendition.fetched, !source.isDurable, .now - fetched < rendition.reloadInterval {
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
            // What is known for good, but could not be noted in the catalogue, is only to be noted.
            let known = rendition.source.flatMap { $0.isDurable ? $0 : nil }
            let source = if let known { known } else { try await fetchSource(of: rendition, in: asset) }
            for url in source.keyURLs { rendition.keys.add(url) }
            // First on disk, then in sight: what a player reads in it (a key's number) must hold after a crash.
            if source.isDurable {
                rendition.isSaved = await save(source, of: rendition.name.id, in: asset)
            }
            if asset.isRemoved { throw LibraryError(.missing, "\(asset.name) was removed") }
            if known == nil { rendition.adopt(source) }
            return .success(source)
        } catch {
            return .failure(error)
        }
    }

    private func fetchSource(
        of rendition: Rendition, in asset: Asset
    ) async throws(LibraryError) -> Rendition.Source {
        guard !isOffline else {
            throw LibraryError(.notStored, "\(rendition.name.id) of \(asset.name) is not in the store")
        }
        guard let url = asset.url(of: rendition) else {
            throw LibraryError(.notPlaylist, "\(rendition.name.id) of \(asset.name) has no usable URL")
        }
        let (playlist, base) = try await fetch.playlist(
            at: url, origin: asset.origin, deadline: Self.patience, isPatient: true)
        guard case .media(let media) = playlist else {
            throw LibraryError(
                .notPlaylist, "\(base.redacted) is a multivariant playlist where a media playlist should be")
        }
        return Rendition.Source(playlist: media, base: base)
    }

    // MARK: Resources

    /// The flight of a resource of the asset, retained for the caller, who releases it when it has no more use for it.
    ///
    /// It becomes a piece if its rendition's playlist has ended and stands in the catalogue; else it passes through.
    ///
    /// - Throws: `missing` when the asset was removed, `store` when there is neither disk nor memory for the bytes.
    public func flight(
        _ resource: Resource, in folder: PieceFolder, of asset: Asset, urgency: Flight.Urgency
    ) throws(LibraryError) -> Flight {
        if asset.isRemoved { throw LibraryError(.missing, "\(asset.name) was removed") }
        return try loader.flight(
            resource, folder: folder, keeping(resource, in: folder, of: asset), origin: asset.origin, urgency: urgency)
    }

    private func keeping(_ resource: Resource, in folder: PieceFolder, of asset: Asset) -> Loader.Keeping {
        if case .key(let number) = resource.name.role {
            return asset.keys.isSaved(number) ? .kept : .passing(because: asset.isLive ? nil : asset.saveFailure)
        }
        guard let rendition = asset.rendition(folder.id), rendition.source?.isDurable ?? false else {
            return .passing(because: nil)
        }
        return rendition.isSaved ? .kept : .passing(because: asset.saveFailure)
    }
}
