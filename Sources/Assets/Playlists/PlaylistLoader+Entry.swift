import EventLoop
import Fetching
import HLS
import HTTPMessage
import Origin

/// Fetches the entry playlist of an asset, and checks if its origin is present.
extension PlaylistLoader {
    /// For a playlist whose stored pieces can replace the origin.
    private static let impatient = PlaylistFetcher.Manner(
        deadline: GiveUpRule.deadline(with: .complete), retries: .never)
    /// For a playlist in place of which too little is stored: as long as players wait.
    private static let hesitant = PlaylistFetcher.Manner(deadline: GiveUpRule.deadline(with: .part))
    /// As `hesitant`, before it is known what is stored.
    private static let single = PlaylistFetcher.Manner(deadline: GiveUpRule.deadline(with: .part), retries: .never)
    /// Lifetime of an answer of the origin: players load an entry twice. That of a live stream lives a target duration.
    private static let checkLife = Duration.seconds(5)

    /// The origin's answer to a request for the entry playlist.
    public enum EntryAnswer: Sendable {
        case answered
        /// It does not answer so far, and something stored can be played meanwhile. It may be slow.
        case silent
        /// It cannot be reached, or answers with an error, and something stored can be played instead.
        case absent

        fileprivate init(isPresent: Bool) { self = isPresent ? .answered : .absent }
    }

    /// Fetches the entry playlist again, unless a fetch was just done. Throws if the origin does not answer, and nothing stored
    /// could be played instead. If something can, the caller waits for at most `GiveUpRule.entrySilence`; if the origin is
    /// presumed absent, no request is made, and the caller does not wait. An error of the origin counts as absence, whatever it is. A
    /// live playlist that is the entry is fetched only by its reload.
    public func refresh(_ asset: Asset) async throws(LibraryError) -> EntryAnswer {
        await asset.readPieces()
        if library.isOffline {
            return .absent
        }
        if let lone = asset.content.lone, asset.isLive {
            _ = try await source(of: lone, in: asset)
            return .answered
        }
        let isAsked = tasks.checks.isRunning(ObjectIdentifier(asset))
        // Any response since then would have made it present.
        if !isAsked, library.client.isPresumedAbsent(asset.origin), await isPlayable(asset) {
            return .absent
        }
        if let known = knownAnswer(of: asset) {
            return known
        }
        // Nothing of an empty asset can be played meanwhile.
        guard asset.bytes > 0 else { return try await answer(of: asset) }

        let result = await tasks.checks.run(ObjectIdentifier(asset), within: silenceLeft(of: asset)) {
            await check(asset)
        }
        if let result {
            return EntryAnswer(isPresent: try result.get())
        }
        guard await isPlayable(asset) else { return try await answer(of: asset) }
        doubtOrigin(of: asset)
        guard library.client.isFailing(asset.origin) else { return .silent }
        return .absent
    }

    /// Fetches the entry of an asset that has none; once for all callers.
    func loadMissingEntry(of asset: Asset) async throws(LibraryError) {
        _ = try await answer(of: asset)
    }

    private func answer(of asset: Asset) async throws(LibraryError) -> EntryAnswer {
        let result = await tasks.checks.run(ObjectIdentifier(asset)) { await check(asset) }
        return EntryAnswer(isPresent: try result.get())
    }

    /// The origin's answer to the latest request for the entry; nil if it must be asked again.
    private func knownAnswer(of asset: Asset) -> EntryAnswer? {
        // A session relies on the origin now. An answer to a download may be old.
        guard let checked = asset.entryChecks.latest, checked.isForPlayer || asset.bytes == 0 else { return nil }
        let live = asset.renditions.filter { $0.isLive || $0.isPastBroadcast }
        let spans = live.compactMap { $0.source?.playlist.interval }
        let life = min(spans.min() ?? Self.checkLife, Self.checkLife)
        guard library.now() - checked.at < life else { return nil }
        return EntryAnswer(isPresent: checked.isPresent)
    }

    /// The time for which the present request for the entry may be silent, before what is stored is played.
    private func silenceLeft(of asset: Asset) -> Duration {
        let limit = GiveUpRule.entrySilence
        guard let began = asset.entryChecks.began else { return limit }
        return max(.zero, limit - (library.now() - began))
    }

    /// Records that the origin does not answer: what is stored goes before its answers for a while.
    private func doubtOrigin(of asset: Asset) {
        let request = library.playlistFetcher.request(asset.origin, asset.access)
        if !library.client.isHandled(request) {
            library.client.presumeAbsent(after: request)
        }
    }

    /// True if something of the asset can be played instead of the origin.
    private func isPlayable(_ asset: Asset) async -> Bool {
        if asset.isPlayableOffline {
            return true
        }
        return await library.partialPlayback?.isPlayableInPart(asset) ?? false
    }

    private func check(_ asset: Asset) async -> Result<Bool, LibraryError> {
        asset.entryChecks.began = library.now()
        defer { asset.entryChecks.began = nil }
        do {
            try await loadEntryOnce(of: asset)
            asset.entryChecks.latest?.isForPlayer = true
            return .success(true)
        } catch {
            // Playable ranges are computed only when needed, because that reads files.
            guard asset.bytes > 0, await isPlayable(asset) else {
                return await checkAgain(asset, after: error)
            }
            let isAbsent = error.isUnanswered
            library.report("\(asset.name): the stored media is played, since \(error)")
            let request = library.playlistFetcher.request(asset.origin, asset.access)
            if isAbsent, !library.client.isHandled(request) {
                library.client.presumeAbsent(after: request)
            } else {
                asset.entryChecks.latest = Asset.EntryCheck(at: library.now(), isPresent: false, isForPlayer: true)
            }
            return .success(false)
        }
    }

    /// Fetches the entry without retries if something is stored.
    private func loadEntryOnce(of asset: Asset) async throws(LibraryError) {
        if asset.isPlayableOffline {
            try await loadEntry(of: asset, Self.impatient)
        } else {
            let manner = asset.bytes > 0 ? Self.single : .patient
            try await loadEntry(of: asset, manner)
        }
    }

    /// Fetches the entry with retries after an error that came at once and may pass, because nothing stored can be played.
    /// An expired key says more than the origin's error: renewed, it lets what is stored play.
    private func checkAgain(_ asset: Asset, after error: LibraryError) async -> Result<Bool, LibraryError> {
        var isRefusal = error.code == .notPlaylist
        if let status = error.originStatus {
            isRefusal = status < 500 && status != 429
        }
        var took = Duration.zero
        if let began = asset.entryChecks.began {
            took = library.now() - began
        }
        guard asset.bytes > 0, !isRefusal, took < GiveUpRule.entrySilence else {
            return .failure(asset.keyExpiry ?? error)
        }
        do {
            try await loadEntry(of: asset, Self.hesitant)
            asset.entryChecks.latest?.isForPlayer = true
            return .success(true)
        } catch {
            return .failure(asset.keyExpiry ?? error)
        }
    }

    /// Fetches the entry, and adopts it if it fits the known one.
    func loadEntry(of asset: Asset, _ manner: PlaylistFetcher.Manner = .patient) async throws(LibraryError) {
        let began = library.now()
        let origin = asset.origin
        let answer = try await library.playlistFetcher.playlist(at: origin, access: asset.access, manner)
        // A response from a URL that is no longer the asset's does not count.
        guard origin == asset.origin else { return }
        asset.entryChecks.latest = Asset.EntryCheck(at: library.now(), isPresent: true)
        if let terms = answer.terms {
            asset.access.handled = terms
            if asset.title == nil {
                asset.title = terms.title
            }
        }
        switch answer.playlist {
        case .media where asset.isComposed: return
        case .media(let media):
            let source = await Rendition.Source(playlist: media, base: answer.base, born: answer.born)
                .prepared(as: RenditionNaming.lone.content, owner: asset.access)
            guard origin == asset.origin else { return }
            await adopt(source, began, for: asset)
        case .multivariant(let multivariant):
            // Later, a missing title is one that the user has removed.
            if asset.title == nil, asset.content.entry == nil {
                asset.title = multivariant.sessionData.title
            }
            try await adopt(multivariant, base: answer.base, of: origin, for: asset)
        }
    }

    /// Adopts a lone media playlist. Replaces other content that has ended only if that orphans no piece.
    private func adopt(_ source: Rendition.Source, _ began: ContinuousClock.Instant, for asset: Asset) async {
        var source = source
        if asset.content.lone?.recording != nil {
            source.isWindow = true
        }
        if let lone = asset.content.lone, let known = lone.source, known.isDurable {
            if await lone.hasSameContent(as: source, owner: asset.access) {
                return lone.move(to: source)
            }
            // The rest of a broadcast that has ended is not another one.
            if asset.bytes > 0, lone.isPastBroadcast, !source.isOtherBroadcast(than: known) {
                return
            }
            guard asset.bytes == 0 else { return reportChange(&lone.isOutdated, of: asset) }
            library.loader.forget([lone.folder])
            lone.beginAnew()
            source = lone.numbered(source, replaces: true).source
        } else if asset.multivariant != nil {
            guard asset.bytes == 0 else { return reportChange(&asset.content.isOutdated, of: asset) }
            library.loader.forget(asset.folders)
        }
        var isSaved = false
        if source.isDurable {
            isSaved = await library.records.save(source, of: RenditionNaming.lone.id, in: asset)
        }
        asset.adopt(source, began: began)
        asset.content.lone?.isSaved = isSaved
    }

    /// Adopts a multivariant playlist, unless it lacks a rendition with stored pieces. Then only its URLs are used.
    private func adopt(
        _ playlist: MultivariantPlaylist, base: WebURL, of origin: WebURL, for asset: Asset
    ) async throws(LibraryError) {
        var isNew = asset.multivariant?.text.write() != playlist.text.write()
        var gone: [Rendition] = []
        if !isNew, case .multivariant(let known, base)? = asset.content.entry, known.hasSameText(as: playlist) {
            asset.content.acceptChoice()
        } else {
            let plan = try await asset.plan(playlist)
            guard origin == asset.origin else { return }
            isNew = asset.multivariant?.text.write() != playlist.text.write()
            guard asset.fits(plan) else {
                if !asset.content.relocate(by: plan, base: base) {
                    reportChange(&asset.content.isOutdated, of: asset)
                }
                return
            }
            gone = asset.adopt(playlist, base: base, plan)
        }
        for rendition in asset.renditions where rendition.isOutdated && rendition.folder.bytes == 0 {
            library.loader.forget([rendition.folder])
            rendition.forget()
        }
        library.loader.forget(gone.map(\.folder))
        if asset.isPersistent, isNew {
            await library.records.saveEntry(of: asset, without: gone)
        }
        if asset.isPlayableOffline {
            library.keepSessionData(of: asset)
        }
    }

    /// Reports once that the origin has other content than the store.
    func reportOtherSegments(of asset: Asset) { reportChange(&asset.hasOtherSegments, of: asset) }

    func reportChange(_ isKnown: inout Bool, of asset: Asset) {
        guard !isKnown else { return }
        isKnown = true
        library.report(
            "\(asset.name): the origin has other content now. What is stored goes on as it was, and nothing of the new is "
                + "mixed into it; \"weir get \(asset.name)\" fetches the new beside it.")
        library.events.send(.contentChanged(asset))
        library.events.send(.assetChanged(asset))
    }
}
