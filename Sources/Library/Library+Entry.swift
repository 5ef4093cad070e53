import EventLoop
import Fetching
import HTTPMessage
import Origin
import Playlist

/// What an asset's URL leads to, and whether its origin is there.
extension Library {
    /// For a playlist where stored pieces can take the origin's place.
    private static let impatient = PlaylistFetcher.Manner(deadline: .seconds(3), retries: .never)
    /// For a playlist where only parts could take the origin's place: as long as players wait.
    private static let hesitant = PlaylistFetcher.Manner(deadline: .seconds(8))
    /// So long an answer of the origin counts: players load an entry twice.
    private static let checkLife = Duration.seconds(5)

    /// Asks the origin for the entry playlist anew, unless that was just done; tells whether it answered.
    ///
    /// Whether a false answer matters is for the caller to say: what is stored plays all the same. An origin that is
    /// presumed absent is not asked then, and nobody waits for it. A live playlist that is the entry is not asked for
    /// here, but where all live ones are.
    ///
    /// Who is stored in part alone does not spare the origin: it has all the time that players have, and its refusal
    /// counts.
    ///
    /// - Throws: `LibraryError` when the origin does not answer, and nothing is stored that could be played instead.
    public func refresh(_ asset: Asset) async throws(LibraryError) -> Bool {
        if isOffline { return false }
        if let lone = asset.lone, asset.isLive {
            _ = try await source(of: lone, in: asset)
            return true
        }
        // Any answer since would have made it present.
        if playlistFetcher.client.isPresumedAbsent(asset.origin), asset.substitute != nil { return false }
        if let checked = asset.checked, .now - checked.at < Self.checkLife { return checked.isPresent }
        if let task = asset.checking { return try await task.value.get() }
        let task = Task { @LoopActor in await self.check(asset) }
        asset.checking = task
        defer { asset.checking = nil }
        return try await task.value.get()
    }

    private func check(_ asset: Asset) async -> Result<Bool, LibraryError> {
        let hasWhole = asset.isPlayableOffline
        do {
            // Whether a part would do is found out when it is needed: files have to be looked into for that.
            try await loadEntry(of: asset, hasWhole ? Self.impatient : asset.bytes > 0 ? Self.hesitant : .patient)
            return .success(true)
        } catch {
            guard hasWhole || error.code == .originAbsent && asset.substitute != nil else { return .failure(error) }
            report("\(asset.name): playing what is stored, since \(error)")
            if error.code == .originAbsent {
                playlistFetcher.client.presumeAbsent(after: playlistFetcher.request(asset.origin, asset.access))
            } else {
                asset.checked = (.now, false)
            }
            return .success(false)
        }
    }

    /// Asks the origin, and takes what it answers if it fits what is known.
    func loadEntry(of asset: Asset, _ manner: PlaylistFetcher.Manner = .patient) async throws(LibraryError) {
        let began = ContinuousClock.now
        let origin = asset.origin
        let answer = try await playlistFetcher.playlist(at: origin, access: asset.access, manner)
        // Where the asset was before it moved does not count any more.
        guard origin == asset.origin else { return }
        asset.checked = (.now, true)
        switch answer.playlist {
        case .media(let media):
            await take(Rendition.Source(playlist: media, base: answer.base, born: answer.born), began, for: asset)
        case .multivariant(let multivariant): await take(multivariant, base: answer.base, for: asset)
        }
    }

    /// Takes a lone media playlist: in the place of a multivariant playlist, or of another content that has ended, only
    /// where that orphans no piece.
    private func take(_ source: Rendition.Source, _ began: ContinuousClock.Instant, for asset: Asset) async {
        var source = source
        if asset.lone?.recording != nil { source.isWindow = true }
        if let lone = asset.lone, let known = lone.source, known.isDurable {
            if lone.isAgain(source) { return lone.move(to: source) }
            guard asset.bytes == 0 else { return note(change: &lone.isOutdated, of: asset) }
            loader.forget([lone.folder])
            lone.forget()
        } else if asset.multivariant != nil {
            guard asset.bytes == 0 else { return note(change: &asset.isOutdated, of: asset) }
            loader.forget(asset.folders)
        }
        let isSaved = source.isDurable ? await save(source, of: RenditionNaming.lone.id, in: asset) : false
        asset.adopt(source, began: began)
        asset.lone?.isSaved = isSaved
    }

    /// Takes a multivariant playlist, unless pieces are stored that it has no place for. Then it only says where the
    /// rest is.
    private func take(_ playlist: MultivariantPlaylist, base: WebURL, for asset: Asset) async {
        guard asset.fits(playlist) else {
            if !asset.relocate(by: playlist, base: base) { note(change: &asset.isOutdated, of: asset) }
            return
        }
        let isNew = asset.multivariant?.text.write() != playlist.text.write()
        let gone = asset.adopt(playlist, base: base)
        for rendition in asset.renditions where rendition.isOutdated && rendition.folder.bytes == 0 {
            loader.forget([rendition.folder])
            rendition.forget()
        }
        loader.forget(gone.map(\.folder))
        if asset.isPersistent, isNew { await saveEntry(of: asset, without: gone) }
        if asset.isPlayableOffline { keepSessionData(of: asset) }
    }

    /// Tells a person, once, that the origin has other content than what is stored.
    func note(change: inout Bool, of asset: Asset) {
        guard !change else { return }
        change = true
        report(
            "\(asset.name): the origin has other content now. What is stored goes on as it was, and nothing of the new is "
                + "mixed into it; \"weir get \(asset.name)\" fetches the new beside it.")
    }
}
