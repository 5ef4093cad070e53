public import EventLoop
import Fetching
import HLS
import HTTPMessage
import Origin
import SegmentFormat

/// Loads playlists: of renditions, from any mirror that answers and with freshly signed URLs, and of assets.
@LoopActor public struct PlaylistLoader {
    /// The loads under way, which other callers join.
    @LoopActor final class Tasks {
        typealias Loads<Key: Hashable & Sendable> = SharedTasks<Key, Result<Rendition.Source, LibraryError>>

        let checks = SharedTasks<ObjectIdentifier, Result<Bool, LibraryError>>()
        let entryRenewals = SharedTasks<ObjectIdentifier, Void>()
        let loads = Loads<ObjectIdentifier>()
        let relays = Loads<Relay>()
        let renewals = SharedTasks<ObjectIdentifier, Rendition.Source?>()
        let visits = SharedTasks<Visit, Rendition.Source?>()
    }

    struct Visit: Hashable, Sendable {
        let rendition: ObjectIdentifier
        let mirror: Int
    }

    struct Relay: Hashable, Sendable {
        let rendition: ObjectIdentifier
        let directives: DeliveryDirectives
    }

    let library: Library
    var tasks: Tasks { library.playlistTasks }

    /// Returns the rendition's full playlist. One that has ended is stored, and not fetched again. A live one is
    /// fetched again once that is due, regardless of the number of players.
    public func source(of rendition: Rendition, in asset: Asset) async throws(LibraryError) -> Rendition.Source {
        if let live = try await channelRendition(of: rendition, in: asset) {
            return try await copySource(of: live, to: rendition, in: asset)
        }
        if let source = rendition.source {
            if source.isDurable {
                let isStale = asset.content.mayBeginAnew(rendition) && !rendition.isFresh(now: library.now())
                if !isStale || library.isOffline, !needsSaving(rendition, in: asset) {
                    return source
                }
            } else if rendition.isFresh(now: library.now()) {
                return source
            }
        }
        return try await tasks.loads.run(ObjectIdentifier(rendition)) { await load(rendition, in: asset) }.get()
    }

    /// True if an ended playlist can be written to the catalogue, and is not.
    private func needsSaving(_ rendition: Rendition, in asset: Asset) -> Bool {
        !rendition.isSaved && library.readOnlyReason == nil && !asset.isPreview
    }

    private func load(_ rendition: Rendition, in asset: Asset) async -> Result<Rendition.Source, LibraryError> {
        do throws(LibraryError) {
            guard let known = rendition.source else {
                return .success(try await adopt(try await fetchSource(of: rendition, in: asset), rendition, in: asset))
            }
            guard known.isDurable else { return .success(try await reload(rendition, known, in: asset)) }
            if asset.content.mayBeginAnew(rendition), let source = await beginAnew(rendition, known, in: asset) {
                return .success(source)
            }
            // An ended playlist that could not be written to the catalogue only needs to be written.
            guard needsSaving(rendition, in: asset) else { return .success(known) }
            return .success(try await adopt(known, rendition, in: asset))
        } catch {
            return .failure(error)
        }
    }

    /// Loads a playlist again that ended while it was live. Returns nil unless another broadcast has begun at its URL.
    private func beginAnew(
        _ rendition: Rendition, _ known: Rendition.Source, in asset: Asset
    ) async -> Rendition.Source? {
        let began = library.now()
        let fetched = try? await fetchSource(of: rendition, in: asset, .none, .patient.hasty)
        rendition.schedule.record(began: began, targetDuration: known.playlist.interval, hasChanged: false)
        guard let fetched, asset.content.mayBeginAnew(rendition) else { return nil }
        if await rendition.hasSameContent(as: fetched, owner: asset.access) {
            return nil
        }
        library.loader.forget([rendition.folder])
        rendition.beginAnew()
        return try? await adopt(rendition.numbered(fetched, replaces: true).source, rendition, in: asset, began: began)
    }

    /// Adopts a full playlist. It is written to disk first, because its names (a key's number) must survive a crash.
    func adopt(
        _ source: Rendition.Source, _ rendition: Rendition, in asset: Asset, began: ContinuousClock.Instant = .now
    ) async throws(LibraryError) -> Rendition.Source {
        guard asset.rendition(rendition.name.id) === rendition else {
            throw LibraryError(.missing, "the entry of \(asset.name) does not list \(rendition.name.id) any more")
        }
        var source = source
        if rendition.recording != nil {
            source.isWindow = true
        }
        for url in source.keyURLs {
            rendition.keys.add(url)
        }
        if source.isDurable {
            rendition.isSaved = await library.records.save(source, of: rendition.name.id, in: asset)
        }
        try asset.checkNotRemoved()
        if !rendition.hasEnded {
            rendition.adopt(source, began: began)
        }
        return rendition.source ?? source
    }

    // MARK: Mirrors

    /// Fetches the rendition's playlist; after a refusal with the entry's new URL, which may be freshly signed.
    func fetchSource(
        of rendition: Rendition, in asset: Asset, _ directives: DeliveryDirectives = .none,
        _ manner: PlaylistFetcher.Manner = .patient
    ) async throws(LibraryError) -> Rendition.Source {
        if asset.isLive {
            try library.checkOnline("\(asset.name) is live, so that it plays only online, and Weir is offline")
        } else {
            try library.checkOnline("\(rendition.name.id) of \(asset.name) is not in the store")
        }
        let urls = asset.urls(of: rendition)
        do throws(LibraryError) {
            return try await fetchFromMirrors(of: rendition, in: asset, directives, manner)
        } catch {
            guard error.code == .originRefused, asset.multivariant != nil else { throw error }
            await renewEntry(of: asset)
            guard asset.urls(of: rendition) != urls else { throw error }
            let source = try await fetchFromMirrors(of: rendition, in: asset, directives, manner)
            asset.entryChecks.pace.recordArrival()
            return source
        }
    }

    /// Fetches the playlist from the mirror that answered last, then from the others, at most `MirrorPace.quick` of them: the next
    /// load begins with those that were not asked. One that does not match the known playlist is not used. Throws `originAbsent` if a
    /// mirror is absent, because that may be temporary; otherwise the first error.
    private func fetchFromMirrors(
        of rendition: Rendition, in asset: Asset, _ directives: DeliveryDirectives, _ manner: PlaylistFetcher.Manner
    ) async throws(LibraryError) -> Rendition.Source {
        let first = rendition.urls.mirror
        let count = asset.candidateURLs(of: rendition).count
        let certain = asset.urls(of: rendition).count
        var failure: LibraryError?
        for turn in 0..<count {
            let mirror = (first + turn) % count
            if turn == MirrorPace.quick {
                rendition.urls.mirror = mirror
                break
            }
            // A line that may be a mirror is on the same host, which must have answered.
            if turn >= certain, let failure, failure.originStatus == nil {
                break
            }
            do throws(LibraryError) {
                // Only the last certain mirror is waited for.
                let isLastCertain = turn + 1 == certain
                let manner = isLastCertain ? manner : manner.hasty
                let source = try await fetchSource(of: rendition, at: mirror, in: asset, directives, manner)
                let isUsable =
                    if turn == 0 {
                        true
                    } else {
                        await rendition.mayContinue(with: source, owner: asset.access)
                    }
                if isUsable {
                    rendition.urls.mirror = mirror
                    return source
                }
            } catch {
                if error.code == .originAbsent || failure == nil {
                    failure = error
                }
            }
        }
        throw failure ?? LibraryError(.notPlaylist, "\(rendition.name.id) of \(asset.name) has no usable URL")
    }

    private func fetchSource(
        of rendition: Rendition, at mirror: Int, in asset: Asset, _ directives: DeliveryDirectives,
        _ manner: PlaylistFetcher.Manner
    ) async throws(LibraryError) -> Rendition.Source {
        let urls = asset.candidateURLs(of: rendition)
        guard urls.indices.contains(mirror) else { throw LibraryError(.missing, "the mirror is gone") }
        let imports = asset.multivariant?.variables
        let answer = try await library.playlistFetcher.playlist(
            at: directives.added(to: urls[mirror]), access: asset.access, imports: imports, manner)
        guard case .media(let media) = answer.playlist else {
            var sentence = "\(rendition.name.id): \(answer.base.redacted)"
            sentence += " is a multivariant playlist where a media playlist should be"
            if answer.playlist.text.write() == asset.multivariant?.text.write() {
                sentence += ": it names itself"
            }
            throw LibraryError(.notPlaylist, sentence)
        }
        var source = Rendition.Source(playlist: media, base: answer.base, imports: imports, born: answer.born)
        source.mirror = mirror
        return await source.prepared(as: rendition.name.content, owner: asset.access)
    }

    /// Fetches the playlist from another mirror and checks it against the known one. If it matches, an ended playlist
    /// gets its URLs from that mirror, and a live one is next loaded there. Where only attributes say that it is a mirror,
    /// the media of the resource `name` must fit what is stored.
    func visit(
        _ mirror: Int, of rendition: Rendition, in asset: Asset, for name: PieceName
    ) async -> Rendition.Source? {
        await tasks.visits.run(Visit(rendition: ObjectIdentifier(rendition), mirror: mirror)) {
            let fetched = try? await fetchSource(of: rendition, at: mirror, in: asset, .none, .patient.hasty)
            guard var source = fetched, await rendition.mayContinue(with: source, owner: asset.access) else {
                return nil
            }
            if !source.isDurable {
                source.shift = rendition.source?.shift ?? 0
            }
            if asset.content.hasPossibleMirrors(rendition), await !fits(source, rendition, of: asset, for: name) {
                return nil
            }
            rendition.urls.mirror = mirror
            if source.isDurable, rendition.hasEnded {
                rendition.move(to: source)
            }
            return source
        }
    }

    /// Compares the beginning of media of a possible mirror with that of a stored piece. True if nothing is stored: then
    /// everything comes from there.
    private func fits(
        _ source: Rendition.Source, _ rendition: Rendition, of asset: Asset, for name: PieceName
    ) async -> Bool {
        guard let stored = rendition.storedSample else { return true }
        // A fragmented segment shows nothing without its initialization section.
        let wanted = if case .initialization = stored.role { stored } else { name }
        guard let resource = rendition.resource(named: wanted, in: source) else { return false }
        var request = library.playlistFetcher.request(resource.url, asset.access)
        request.range = resource.range
        request.acceptsCompression = false
        request.limit = .max
        let bytes = try? await library.client.fetchBeginning(of: request, count: CodecComparison.length)
        guard let bytes, await rendition.folder.isFoundSound(stored.description) else { return false }
        let known = rendition.folder.beginning(of: stored.description, count: CodecComparison.length)
        return CodecComparison.decoders(of: known, and: bytes) == .same
    }

    // MARK: Renewal of signed URLs

    /// Fetches the rendition's playlist with fresh URLs, once for all callers. Returns nil if the fetch fails, if a
    /// recent one did not help, or if the origin has other content now.
    func renew(_ rendition: Rendition, in asset: Asset) async -> Rendition.Source? {
        let id = ObjectIdentifier(rendition)
        guard tasks.renewals.isRunning(id) || rendition.urls.pace.begin(now: .now) else { return nil }
        return await tasks.renewals.run(id) { await renewed(rendition, in: asset) }
    }

    private func renewed(_ rendition: Rendition, in asset: Asset) async -> Rendition.Source? {
        await renewEntry(of: asset)
        if asset.content.lone === rendition {
            return rendition.source
        }
        let source: Rendition.Source
        do throws(LibraryError) {
            source = try await fetchSource(of: rendition, in: asset, .none, .renewal)
        } catch {
            rendition.urls.isPlaylistRefused = error.originStatus == 403
            return nil
        }
        rendition.urls.isPlaylistRefused = false
        asset.entryChecks.pace.recordArrival()
        guard let known = rendition.source, known.isDurable else {
            let isUsable = await rendition.mayContinue(with: source, owner: asset.access)
            return isUsable ? source : nil
        }
        guard await rendition.hasSameContent(as: source, owner: asset.access) else {
            reportChange(&rendition.isOutdated, of: asset)
            rendition.urls.otherSession = source
            return nil
        }
        rendition.move(to: source)
        return source
    }

    /// Allows the next renewal at once, for a caller that keeps its own pause between attempts.
    public func allowRenewal(of asset: Asset) {
        asset.entryChecks.pace.reset()
        for rendition in asset.renditions {
            rendition.urls.pace.reset()
        }
    }

    /// Checks if the origin still has the known content of these renditions: see `Asset.hasChanged`.
    public func checkContent(of renditions: [Rendition], in asset: Asset) async {
        allowRenewal(of: asset)
        for rendition in renditions where !asset.hasChanged {
            _ = await renew(rendition, in: asset)
        }
    }

    /// Checks if another broadcast has begun at the URLs of renditions that ended while they were live, and of which pieces are
    /// stored: see `Asset.hasChanged`.
    func checkBroadcasts(of asset: Asset) async {
        for rendition in asset.renditions
        where rendition.isPastBroadcast && rendition.folder.bytes > 0 && !rendition.isFresh(now: library.now()) {
            guard let known = rendition.source else { continue }
            let began = library.now()
            let fetched = try? await fetchSource(of: rendition, in: asset, .none, .patient.hasty)
            rendition.schedule.record(began: began, targetDuration: known.playlist.interval, hasChanged: false)
            if let fetched, fetched.isOtherBroadcast(than: known) {
                return reportChange(&rendition.isOutdated, of: asset)
            }
        }
    }

    /// Fetches the entry again, unless a recent fetch did not help.
    private func renewEntry(of asset: Asset) async {
        let id = ObjectIdentifier(asset)
        guard tasks.entryRenewals.isRunning(id) || asset.entryChecks.pace.begin(now: .now) else { return }
        await tasks.entryRenewals.run(id) {
            do throws(LibraryError) {
                try await loadEntry(of: asset, .renewal)
                asset.content.lone?.urls.isPlaylistRefused = false
            } catch {
                asset.content.lone?.urls.isPlaylistRefused = error.originStatus == 403
                library.report("\(asset.name): the URLs of its media cannot be renewed: \(error)")
            }
        }
    }
}

/// Limits the rate of renewals of URLs. Signed URLs may be valid for seconds only, so a resource that arrived since the
/// last renewal makes the next one due at once. An origin that always refuses is asked again only after a pause.
struct RenewalPace {
    /// Number of resources that arrived completely or in part.
    private(set) var arrivals = 0
    private var last: (at: ContinuousClock.Instant, arrivals: Int)?
    /// The pause between renewals that do not help.
    private static let pause = Duration.seconds(5)

    /// Begins a renewal if one is due. Returns true if it is.
    mutating func begin(now: ContinuousClock.Instant) -> Bool {
        if let last, arrivals <= last.arrivals, now - last.at <= Self.pause {
            return false
        }
        last = (now, arrivals)
        return true
    }

    mutating func recordArrival() { arrivals += 1 }
    /// Allows the next renewal at once, because the URLs may be valid again.
    mutating func reset() { last = nil }
}

extension PlaylistFetcher.Manner {
    /// For a player that waits for a refused resource.
    fileprivate static let renewal = Self(deadline: GiveUpRule.deadline(with: .refusedURLs), retries: .hasty)

    /// For a request that has an alternative: leaves time for the alternative while a player waits.
    fileprivate var hasty: Self {
        var hasty = self
        hasty.retries = .hasty
        if !isHeldBack {
            hasty.deadline = GiveUpRule.deadline(with: .mirror(limit: deadline))
        }
        return hasty
    }
}
