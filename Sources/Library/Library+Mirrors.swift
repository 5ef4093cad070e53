import EventLoop
import Fetching
import HTTPMessage
import Origin
import Playlist

/// Fetches media playlists from any mirror that answers.
extension Library {
    /// Fetches the rendition's playlist. If the origin refuses, fetches the entry again, which may have a freshly
    /// signed URL.
    func fetchSource(
        of rendition: Rendition, in asset: Asset, _ directives: DeliveryDirectives = .none,
        _ manner: PlaylistFetcher.Manner = .patient
    ) async throws(LibraryError) -> Rendition.Source {
        guard !isOffline else {
            throw LibraryError(.notStored, "\(rendition.name.id) of \(asset.name) is not in the store")
        }
        let urls = asset.urls(of: rendition)
        do throws(LibraryError) {
            return try await fetchFromMirrors(rendition, in: asset, directives, manner)
        } catch {
            guard error.code == .originRefused, asset.multivariant != nil else { throw error }
            await renewEntry(of: asset)
            guard asset.urls(of: rendition) != urls else { throw error }
            let source = try await fetchFromMirrors(rendition, in: asset, directives, manner)
            asset.pace.arrived()
            return source
        }
    }

    /// Fetches the playlist from the mirror that answered last, then from the others. A playlist that does not match
    /// the known one is not used.
    ///
    /// - Throws: `originAbsent` if a mirror is absent, because that may be temporary; otherwise the first error.
    private func fetchFromMirrors(
        _ rendition: Rendition, in asset: Asset, _ directives: DeliveryDirectives, _ manner: PlaylistFetcher.Manner
    ) async throws(LibraryError) -> Rendition.Source {
        let (first, count) = (rendition.mirror, asset.urls(of: rendition).count)
        var failure: LibraryError?
        for turn in 0..<count {
            let place = (first + turn) % count
            do throws(LibraryError) {
                let manner = turn + 1 < count ? manner.hasty : manner
                let source = try await fetchSource(of: rendition, at: place, in: asset, directives, manner)
                if turn == 0 || rendition.stands(source) {
                    rendition.mirror = place
                    return source
                }
            } catch {
                failure = error.code == .originAbsent ? error : failure ?? error
            }
        }
        throw failure ?? LibraryError(.notPlaylist, "\(rendition.name.id) of \(asset.name) has no usable URL")
    }

    /// Fetches the playlist from one of the rendition's mirrors.
    private func fetchSource(
        of rendition: Rendition, at place: Int, in asset: Asset, _ directives: DeliveryDirectives,
        _ manner: PlaylistFetcher.Manner
    ) async throws(LibraryError) -> Rendition.Source {
        let urls = asset.urls(of: rendition)
        guard urls.indices.contains(place) else { throw LibraryError(.missing, "the mirror is gone") }
        let imports = asset.multivariant?.variables
        let answer = try await playlistFetcher.playlist(
            at: directives.added(to: urls[place]), access: asset.access, imports: imports, manner)
        guard case .media(let media) = answer.playlist else {
            let isItself = answer.playlist.text.write() == asset.multivariant?.text.write()
            throw LibraryError(
                .notPlaylist,
                "\(answer.base.redacted) is a multivariant playlist where a media playlist should be"
                    + (isItself ? ": it names itself" : ""))
        }
        return Rendition.Source(playlist: media, base: answer.base, imports: imports, born: answer.born)
    }

    /// Fetches the playlist from another mirror and checks it against the known one. If it matches, an ended playlist
    /// takes its URLs from that mirror, and a live one is next loaded there.
    func visit(_ place: Int, of rendition: Rendition, in asset: Asset) async -> Rendition.Source? {
        if let visit = rendition.visits[place] { return await visit.value }
        let visit = Task { @LoopActor () -> Rendition.Source? in
            let source = try? await self.fetchSource(of: rendition, at: place, in: asset, .none, .patient.hasty)
            guard let source, rendition.stands(source) else { return nil }
            rendition.mirror = place
            if source.isDurable, rendition.source?.isDurable ?? false { rendition.move(to: source) }
            return source
        }
        rendition.visits[place] = visit
        defer { rendition.visits[place] = nil }
        return await visit.value
    }
}

extension PlaylistFetcher.Manner {
    /// For a request that has an alternative: leaves time for the alternative while a player waits.
    fileprivate var hasty: Self {
        var hasty = self
        hasty.retries = .hasty
        if !isHeldBack { hasty.deadline = GiveUpRule.deadline(with: .mirror(limit: deadline)) }
        return hasty
    }
}
