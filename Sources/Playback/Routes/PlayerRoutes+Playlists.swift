import Assets
import EventLoop
import HLS
import HTTPMessage
import HTTPServer
import Orders
import Origin
import Playheads
import Retention
import Sessions
import Substitution

/// Serves entry playlists and media playlists.
extension PlayerRoutes {
    /// Answers with a media playlist, by the ids of an asset and of a rendition.
    func servePlaylist(_ exchange: Exchange, assetID: String, session: Session, renditionID: String) {
        guard let asset = library.presentation(id: assetID), let rendition = asset.rendition(renditionID) else {
            return exchange.reply(.notFound, "There is no such asset or rendition.")
        }
        if refuseIfExpired(exchange, asset, in: session) {
            return
        }
        let request = PlaylistRequest(exchange: exchange, asset: asset, session: session)
        let isOffline = session.mode == .offline || library.isOffline
        if isOffline || session.mode == .local, let recording = rendition.recording, recording.count > 0 {
            Task { @LoopActor in await sendRecording(recording, of: rendition, to: request) }
            return
        }
        if isOffline {
            Task { @LoopActor in await serveOffline(rendition, to: request) }
            return
        }
        timeShifts?.recordPlaylist(of: rendition, for: session.id)
        if let ended = timeShifts?.endedSource(of: rendition, for: session.id) {
            let view = view(for: request)
            Task { @LoopActor in await sendPlaylist(to: request, status: .hit) { await view.draft(rendition, ended) } }
            return
        }
        // Stored pieces are sent meanwhile; the first missing one waits for the result.
        if !library.playheads.isPlaying(session.id, asset.id) {
            library.revisions.beginCheck(beforePlaying: rendition, of: asset)
        }
        serveOnline(rendition, to: request)
    }

    /// Answers with the playlist that is known, or with the origin's.
    private func serveOnline(_ rendition: Rendition, to request: PlaylistRequest) {
        let asset = request.asset
        if let source = rendition.source, source.isDurable, !asset.content.mayBeginAnew(rendition) {
            let view = view(for: request)
            Task { @LoopActor in
                await sendPlaylist(to: request, status: .hit) {
                    var cut: MediaPlaylistCut?
                    if !rendition.isComplete {
                        cut = try await deadCut(of: rendition, in: asset, request.session)
                    }
                    return await view.draft(rendition, source, cut: cut)
                }
            }
            return
        }
        serveReloaded(rendition, to: request)
    }

    /// Answers without the origin.
    private func serveOffline(_ rendition: Rendition, to request: PlaylistRequest) async {
        let asset = request.asset
        let session = request.session
        if let cut = await stretches.cut(of: rendition, in: asset, session, substitutions),
            let source = rendition.source
        {
            let view = view(for: request)
            return await sendPlaylist(to: request, status: .hit) {
                await view.draft(rendition, source, cut: cut)
            }
        }
        if !rendition.isComplete,
            !(rendition.isStored && library.keys.mayUse(session.id, keysOf: rendition, of: asset))
        {
            let state = rendition.isLive ? "live, so that it plays only online" : "not completely stored"
            let reason = "\(rendition.name.id) of \(asset.name) is \(state), and Weir is offline"
            var error = LibraryError(.notStored, reason)
            if rendition.isStored {
                error = asset.keyExpiry(of: rendition)
            }
            return refuse(request.exchange, error, about: request.subject)
        }
        guard let source = rendition.source, source.isDurable else {
            return serveReloaded(rendition, to: request)
        }
        let view = view(for: request)
        await sendPlaylist(to: request, status: .hit) { await view.draft(rendition, source) }
    }

    /// Answers with the playlist of the moment.
    private func serveReloaded(_ rendition: Rendition, to request: PlaylistRequest) {
        do throws(LibraryError) {
            let (directives, _) = try DeliveryDirectives.split(request.exchange.head.query)
            Task { @LoopActor in await serveReloaded(rendition, directives: directives, to: request) }
        } catch {
            refuse(request.exchange, error, about: request.subject)
        }
    }

    private func serveReloaded(
        _ rendition: Rendition, directives: DeliveryDirectives, to request: PlaylistRequest
    ) async {
        let asset = request.asset
        let wasLive = rendition.isLive
        // Live playlists are reloaded again and again by players that have already started, so a reload is no opening.
        if !wasLive {
            library.playheads.openingBegan()
        }
        defer {
            if !wasLive {
                library.playheads.openingEnded()
            }
        }
        var reason = CacheStatus.Forward.stale
        if rendition.source == nil {
            reason = .uriMiss
        }
        let status = CacheStatus.forwarded(reason, isStored: true)
        do throws(LibraryError) {
            // The directives name numbers of the origin, which are others once a segment was left out.
            var isPlain = request.session.mode == .timeshift
            if let live = rendition.live, !live.omissions.isEmpty {
                isPlain = true
            }
            let directives = isPlain ? .none : directives
            var latest = try await library.playlists.source(of: rendition, in: asset, directives)
            if let past = timeShifts?.endedSource(of: rendition, for: request.session.id) {
                latest = past
            } else if let timeShift = rendition.live?.timeShift, !latest.isDurable {
                latest = timeShift.extended(latest)
            }
            let (source, omissions) = try await shown(latest, of: rendition, in: asset, request.session)
            var view = view(for: request)
            var cut = omissions
            if request.session.mode == .timeshift, !source.isDurable {
                view.seeksInAll = true
                view.startsAtBeginning = true
                cut = omissions ?? beginning(of: source, for: request)
            }
            await sendPlaylist(to: request, status: status, live: source.isDurable ? nil : source) {
                [view, cut] in await view.draft(rendition, source, cut: cut)
            }
        } catch {
            refuse(playlist: request.exchange, error, isLive: wasLive, about: request.subject)
        }
    }

    /// Answers with the entry playlist of a known asset, or of a stream of the streams file.
    func serveEntry(_ exchange: Exchange, named name: String, mode: Session.Mode, choosing choice: Selection?) {
        if library.listedReading.isInProgress, mayNeedList(exchange, name) {
            Task { @LoopActor in
                await library.listedReading.waitForNext()
                serveEntry(exchange, named: name, mode: mode, choosing: choice)
            }
            return
        }
        if let stream = catchUp(exchange, named: name) {
            return serveEntry(exchange, at: stream.url.text, mode: mode, choosing: choice, isUsers: stream.namesHost)
        }
        guard let asset = asset(inURL: name) else {
            if let stream = library.stream(named: name) {
                return serveEntry(
                    exchange, at: stream.url.text, mode: mode, choosing: choice, isUsers: stream.namesHost)
            }
            return exchange.reply(
                .notFound, "There is no asset called \(name). \"weir list\" shows those that there are.")
        }
        if refuseIfExpired(exchange, asset) {
            return
        }
        if asset.isRecording, !asset.content.recordedRenditions.isEmpty {
            return recording(exchange, of: asset, mode.plain, choosing: choice)
        }
        // A name plays what is stored. A URL, or a session that needs the best quality, plays what the origin has.
        let isEnough: Bool
        if mode == .adaptive {
            isEnough = asset.content.isEverythingComplete
        } else {
            isEnough = entries.isPlayableOffline(asset, choosing: choice)
        }
        let isLocal = mode == .local || library.mode == .local
        let isStored = mode == .offline || library.isOffline || isEnough && (isLocal || !mayBeReplaced(asset))
        do throws(LibraryError) {
            let (directives, _) = try DeliveryDirectives.split(exchange.head.query)
            Task { @LoopActor in
                await serveEntry(
                    exchange, of: asset, mode: mode, directives: directives, choosing: choice, isStored: isStored)
            }
        } catch {
            refuse(exchange, error)
        }
    }

    /// True if a list that is being read may have a channel of the name, or the way to its earlier broadcasts.
    private func mayNeedList(_ exchange: Exchange, _ name: String) -> Bool {
        if asset(inURL: name) == nil {
            return library.stream(named: name) == nil
        }
        return asksForPast(exchange) != nil && catchUp(exchange, named: name) == nil
    }

    /// Answers with the growing recording, from its beginning.
    private func recording(_ exchange: Exchange, of asset: Asset, _ mode: Session.Mode, choosing choice: Selection?) {
        let isOffline = mode == .offline
        if asset.multivariant == nil, let lone = asset.renditions.first, let recording = lone.recording,
            recording.count > 0
        {
            return loneRecording(exchange, recording, of: lone, in: asset, mode: isOffline ? .offline : .local)
        }
        let session = session(for: asset, isOffline ? .offline : .local)
        sessions.enter(session.id, exchange)
        let request = PlaylistRequest(exchange: exchange, asset: asset, session: session)
        let view = view(for: request)
        let reason = "too little of \(asset.name) is recorded to be played yet"
        Task { @LoopActor in
            await sendPlaylist(to: request, status: .hit, orElse: LibraryError(.notStored, reason)) {
                let chosen = try self.renditions(chosenBy: choice, of: asset) ?? asset.content.recordedRenditions
                return view.draft(listing: asset.content.recordedRenditions.intersection(chosen))
            }
        }
    }

    /// Answers with the growing recording of an asset's only rendition.
    private func loneRecording(
        _ exchange: Exchange, _ recording: any RenditionRecording, of rendition: Rendition, in asset: Asset,
        mode: Session.Mode
    ) {
        // Each playing needs a session of its own: its first playlist is another one than the next. Whoever reloads the entry keeps
        // its session.
        let beginsAtEnd = KnownPlayer(exchange.head).beginsAtEnd
        let session = beginsAtEnd ? Session(mode) : session(for: asset, mode)
        sessions.enter(session.id, exchange)
        let request = PlaylistRequest(exchange: exchange, asset: asset, session: session)
        guard beginsAtEnd else {
            Task { @LoopActor in await sendRecording(recording, of: rendition, to: request) }
            return
        }
        let view = view(for: request)
        Task { @LoopActor in await sendPlaylist(to: request, status: .hit) { view.draft(listingOnly: rendition) } }
    }

    /// Answers with the growing playlist of a recording.
    private func sendRecording(
        _ recording: any RenditionRecording, of rendition: Rendition, to request: PlaylistRequest
    ) async {
        var view = view(for: request)
        guard let source = await recording.current() else {
            return refuse(request.exchange, LibraryError(.missing, "there is no such playlist"))
        }
        view.startsAtBeginning = true
        let cut = beginning(of: source, for: request)
        await sendPlaylist(to: request, status: .hit, live: source) {
            [view] in await view.draft(rendition, source, cut: cut)
        }
    }

    /// The cut of a playlist that grows, for a player that is to begin with its first segment, and begins three segments before the
    /// end: its first playlist ends behind the third one. Nil for all others, and once it plays.
    private func beginning(of source: Rendition.Source, for request: PlaylistRequest) -> MediaPlaylistCut? {
        guard KnownPlayer(request.exchange.head).beginsAtEnd, source.playlist.isLive,
            !library.playheads.isPlaying(request.session.id, request.asset.id)
        else { return nil }
        let listed = source.playlist.segments.lazy.filter { !$0.isGap }.prefix(Self.openedSegments)
        guard let last = listed.last else { return nil }
        return MediaPlaylistCut(stays: [Bool](repeating: true, count: last.index + 1), isMarked: false)
    }

    private static let openedSegments = 3

    /// Answers with the entry playlist at an origin's URL.
    /// - Parameter isUsers: false for a URL that a list named, whose host must not be private.
    func serveEntry(
        _ exchange: Exchange, at text: String, mode: Session.Mode, choosing choice: Selection?, isUsers: Bool = true
    ) {
        let url: WebURL
        let split = UserInformation(splitting: text)
        do {
            url = try WebURL(split.url)
        } catch {
            return exchange.reply(.forbidden, "Weir does not fetch this URL: \(error).")
        }
        if exchange.isFromOtherUser, url.needsHandler || library.isHandled(url) {
            let reason = "only the owner's programs run its handlers; play the asset by its name"
            return refuse(exchange, LibraryError(.refusedURL, reason))
        }
        var player: PlayerFields?
        // A player on the network names no private host, and gives no credentials.
        if exchange.mount.isEmpty {
            var secrets = ownTokens
            if let changingToken {
                secrets.append(changingToken.text)
            }
            player = PlayerFields(of: exchange.head, isOwners: exchange.isFromOwner, secrets: secrets)
            player?.password = split.field
            player?.isOtherUsers = exchange.isFromOtherUser
        }
        Task { @LoopActor in
            library.playheads.openingBegan()
            defer { library.playheads.openingEnded() }
            do throws(LibraryError) {
                // If the entry is a media playlist, the player adds its delivery directives to the entry's URL.
                let (directives, rest) = try DeliveryDirectives.split(CMCD.removed(from: url.query))
                let asset = try await asset(at: url.replacingQuery(rest), mode, player, isUsers: isUsers)
                if refuseIfExpired(exchange, asset) {
                    return
                }
                if choice == nil, showsStored(asset, mode: mode, to: exchange) {
                    return await entryFromStore(exchange, of: asset)
                }
                let isStored = mode == .offline || library.isOffline || isPreferred(asset, mode, choosing: choice)
                await serveEntry(
                    exchange, of: asset, mode: mode, directives: directives, choosing: choice, isStored: isStored)
            } catch {
                refuse(playlist: exchange, error, about: RequestSubject(uri: url.replacingQuery(nil).redacted))
            }
        }
    }

    /// - Parameter player: the fields of the player; nil if the URL is not the user's, so that it must not reach private
    ///   addresses.
    private func asset(
        at url: WebURL, _ mode: Session.Mode, _ player: PlayerFields?, isUsers: Bool
    ) async throws(LibraryError) -> Asset {
        let known = library.asset(at: url)
        guard mode != .offline else {
            if let known {
                return known
            }
            throw LibraryError(
                .notStored, "\(url.redacted) is not in the store, and this session makes no requests to the origin")
        }
        guard var player else { return try await library.open(url, isUsers: false) }
        if known != nil, player.isOtherUsers {
            player.password = nil
        }
        let fields = known?.fields ?? UserFields()
        if let known, fields.contradict(player.lines) {
            guard isUsers else { return try await library.open(url, isUsers: false) }
            let isUsed = known.bytes > 0 || library.playheads.isPlayed(known.id)
            if isUsed || fields.given.contradict(player.lines) {
                return try await library.open(url, apart: player.added(to: UserFields()))
            }
        }
        return try await library.open(url, fields: player.added(to: fields), isUsers: isUsers)
    }

    /// True if the stored content is everything that a URL leads to, so that the origin is not asked.
    private func isPreferred(_ asset: Asset, _ mode: Session.Mode, choosing choice: Selection? = nil) -> Bool {
        if asset.isRecorded && !asset.isRecording {
            return true
        }
        if asset.content.isEverythingComplete, !mayBeReplaced(asset) {
            return true
        }
        return (mode == .local || library.mode == .local) && entries.isPlayableOffline(asset, choosing: choice)
    }

    /// The renditions that a choice leaves; nil for all.
    private func renditions(chosenBy choice: Selection?, of asset: Asset) throws(LibraryError) -> Set<Int>? {
        try entries.renditions(chosenBy: choice, of: asset)
    }

    private var entries: EntryDecision { EntryDecision(library: library, substitutions: substitutions) }

    /// True if a broadcast has ended that nobody has saved: at its URL another one may have begun.
    private func mayBeReplaced(_ asset: Asset) -> Bool {
        asset.content.isPastBroadcast && !(library.downloads?.isKept(asset) ?? false)
    }

    /// True for a player that loads all variants to show one, if the highest is downloaded: it would wait for those that are not
    /// stored, and then show the stored one. What was only cached by playback is compared with the origin first.
    private func showsStored(_ asset: Asset, mode: Session.Mode, to exchange: Exchange) -> Bool {
        guard mode == .auto, !library.isOffline, KnownPlayer(exchange.head).isLibavformat,
            !isPreferred(asset, mode), !asset.hasChanged, library.downloads?.isKept(asset) ?? false
        else { return false }
        return asset.multivariant?.isHighestComplete(renditions: asset.content.completeRenditions) ?? false
    }

    /// Answers with the stored variants at once, and looks at the origin meanwhile.
    private func entryFromStore(_ exchange: Exchange, of asset: Asset) async {
        Task { @LoopActor in _ = try? await library.playlists.refresh(asset) }
        let session = session(for: asset, .auto)
        sessions.enter(session.id, exchange)
        let request = PlaylistRequest(exchange: exchange, asset: asset, session: session)
        let view = view(for: request)
        await sendPlaylist(to: request, status: .hit, orElse: .nothingStored(of: asset)) {
            view.draftOfStoredVariants()
        }
    }

    /// Answers with the entry playlist, once the origin is known to be present or absent.
    func serveEntry(
        _ exchange: Exchange, of asset: Asset, mode: Session.Mode, directives: DeliveryDirectives,
        choosing choice: Selection? = nil, isStored: Bool
    ) async {
        if await servePast(exchange, of: asset, mode: mode.plain) {
            return
        }
        if !isStored, asset.isLive, asset.multivariant == nil, let lone = asset.renditions.first {
            // See `loneRecording`.
            let beginsAtEnd = mode == .timeshift && KnownPlayer(exchange.head).beginsAtEnd
            let session = beginsAtEnd ? Session(mode) : session(for: asset, mode.plain)
            sessions.enter(session.id, exchange)
            timeShifts?.recordPlaylist(of: lone, for: session.id)
            let request = PlaylistRequest(exchange: exchange, asset: asset, session: session)
            if beginsAtEnd {
                let view = view(for: request)
                return await sendPlaylist(to: request, status: .hit) { view.draft(listingOnly: lone) }
            }
            return await serveReloaded(lone, directives: directives, to: request)
        }
        // A live stream is opened again while it is recorded: its segments are soon gone, so the recording does not yield to that.
        let isOpening = !isStored && !asset.isLive
        if isOpening {
            library.playheads.openingBegan()
        }
        defer {
            if isOpening {
                library.playheads.openingEnded()
            }
        }
        // Meanwhile the entry is asked for.
        if !isStored, !asset.isPlayableOffline {
            Task { @LoopActor in await library.revisions.checkBeforeFetching(into: asset, isStart: true) }
        }
        if isStored, mode != .offline, !library.isOffline {
            await library.revisions.finishComparison(of: asset)
            if asset.hasOtherSegments, !asset.isPlayableOffline {
                return await serveEntry(
                    exchange, of: asset, mode: mode, directives: directives, choosing: choice, isStored: false)
            }
        }
        do {
            let content = try await entries.content(of: asset, isStored: isStored, choosing: choice)
            var isPresent = false
            if case .origin = content {
                isPresent = true
            }
            if isPresent, case let current = await library.revisions.current(asset), current !== asset {
                return await serveEntry(
                    exchange, of: current, mode: mode, directives: directives, choosing: choice, isStored: false)
            }
            let chosen = try renditions(chosenBy: choice, of: asset)
            if case .part(let ranges, let mayContinue) = content {
                return await serveEntry(
                    exchange, of: ranges, of: asset, mode: mode, among: chosen, mayContinue: mayContinue)
            }
            if mode == .adaptive,
                let ladder = await substitutions.ladder(
                    of: asset, in: library, isStored: !isPresent, waitingFor: GiveUpRule.entrySilence)
            {
                var listed: Set<Int>?
                if !isPresent {
                    listed = await substitutions.offlineRenditions(of: asset)
                }
                return await serveAdaptiveEntry(exchange, of: asset, ladder: ladder, listed: listed)
            }
            // A session that played the stream live a moment ago keeps its mode.
            let session = session(for: asset, mode.isOrdinary && asset.isRecorded ? .local : mode.plain)
            sessions.enter(session.id, exchange)
            var status = CacheStatus.hit
            if isPresent {
                status = .forwarded(.stale, isStored: true)
            }
            // If the origin may still be asked, only complete renditions are listed: they need no substitutes.
            let isLeft = mode == .offline || library.isOffline || !isStored
            var listed: Set<Int>?
            if !isPresent, isLeft {
                listed = await substitutions.offlineRenditions(of: asset)
            } else if !isPresent {
                listed = asset.content.completeRenditions
            }
            var dead = DeadParts()
            if listed == nil {
                dead = try await deadParts(of: asset, session)
            }
            if let chosen {
                listed?.formIntersection(chosen)
                dead.renditions.formUnion(Set(asset.renditions.indices).subtracting(chosen))
            }
            let request = PlaylistRequest(exchange: exchange, asset: asset, session: session)
            let view = view(for: request)
            await sendPlaylist(to: request, status: status, orElse: .nothingStored(of: asset)) { [listed, dead] in
                try await view.draft(stored: listed, without: dead)
            }
            if isPresent {
                loadPlaylists(of: asset, for: exchange)
            }
        } catch {
            refuse(
                playlist: exchange, error,
                about: RequestSubject(asset: asset, uri: asset.origin.replacingQuery(nil).redacted))
        }
    }

    /// Answers a player that reloads a lone live playlist after the end of the broadcast, and is still far behind it. Returns false
    /// for any other.
    private func servePast(_ exchange: Exchange, of asset: Asset, mode: Session.Mode) async -> Bool {
        guard asset.multivariant == nil, !asset.isLive, let lone = asset.renditions.first,
            let session = liveSession(of: asset, mode), let past = timeShifts?.endedSource(of: lone, for: session.id)
        else { return false }
        sessions.enter(session.id, exchange)
        timeShifts?.recordPlaylist(of: lone, for: session.id)
        let request = PlaylistRequest(exchange: exchange, asset: asset, session: session)
        let view = view(for: request)
        await sendPlaylist(to: request, status: .hit) { await view.draft(lone, past) }
        return true
    }

    /// Lists the renditions of an asset without a complete one, as far as they are stored.
    /// - Parameter mayContinue: true if the origin may still answer: the session begins with what is stored, and asks the origin
    ///   for the rest. Otherwise it never asks the origin, and plays the playable ranges.
    private func serveEntry(
        _ exchange: Exchange, of stored: PlayableRanges, of asset: Asset, mode: Session.Mode, among chosen: Set<Int>?,
        mayContinue: Bool
    ) async {
        let isOffline = stored.isCut && !mayContinue
        var plain = mode.plain
        if isOffline {
            plain = .offline
        }
        let session = Session(plain)
        if !mayContinue {
            stretches.insert(stored, for: session)
        }
        sessions.enter(session.id, exchange)
        let request = PlaylistRequest(exchange: exchange, asset: asset, session: session)
        let view = view(for: request)
        await sendPlaylist(to: request, status: .hit, orElse: .nothingStored(of: asset)) {
            try await view.draft(stored, among: chosen, isCut: !mayContinue)
        }
    }

    /// Answers with a single variant; Weir chooses the quality of each of its segments.
    private func serveAdaptiveEntry(
        _ exchange: Exchange, of asset: Asset, ladder: Ladder, listed: Set<Int>?
    ) async {
        let session = Session(.adaptive)
        sessions.enter(session.id, exchange)
        var status = CacheStatus.hit
        if listed == nil {
            status = .forwarded(.stale, isStored: true)
        }
        let request = PlaylistRequest(exchange: exchange, asset: asset, session: session)
        let view = view(for: request)
        await sendPlaylist(to: request, status: status, orElse: .nothingStored(of: asset)) {
            view.draft(ladder, listing: listed)
        }
    }

    func view(for request: PlaylistRequest) -> PlayerView {
        let exchange = request.exchange
        let asset = request.asset
        let session = request.session
        retention.expect(session.id, at: asset, isOffline: session.mode == .offline)
        var view = PlayerView(library: library, asset: asset, session: session)
        view.mount = exchange.mount
        // Browsers send it to another origin than their page's.
        view.base = exchange.head.contains(.origin) ? exchange.head.base : ""
        view.keepsGaps = KnownPlayer(exchange.head).skipsGaps(isRange: exchange.head.contains(.range))
        view.isInFolder = Route(target: exchange.head.targetBytes)?.isInFolder ?? false
        return view
    }

    /// Answers with a playlist. A large one is written on a worker, unless the client has left.
    /// - Parameters:
    ///   - live: the source of the playlist if it will change. Caches must then revalidate it each time, and players use
    ///     its age to compute their distance to the origin (rfc8216bis appendix C).
    ///   - error: sent if there is nothing to play.
    ///   - draft: makes the playlist; nil if there is nothing to play.
    func sendPlaylist(
        to request: PlaylistRequest, status: CacheStatus, live: Rendition.Source? = nil,
        orElse error: @autoclosure () -> LibraryError = LibraryError(.missing, "there is no such playlist"),
        draft: @LoopActor () async throws -> PlaylistDraft?
    ) async {
        let exchange = request.exchange
        guard exchange.isOpen else { return }
        substitutions.beginTraits(of: request.asset)
        do {
            let draft = try await draft()
            guard exchange.isOpen else { return }
            guard let draft else { throw error() }
            let text = try await texts.text(of: draft, for: exchange, owner: request.asset)
            guard exchange.isOpen else { return }
            guard let text else { throw error() }
            send(text, to: request, status: status, live: live)
        } catch {
            refuse(exchange, error as? LibraryError ?? LibraryError(.notPlaylist, "\(error)"))
        }
    }

    private func send(
        _ text: SharedText, to request: PlaylistRequest, status: CacheStatus, live: Rendition.Source?
    ) {
        let exchange = request.exchange
        let session = request.session
        let body = SessionText(text, path: session.path(in: request.asset, behind: exchange.mount))
        var representation = Representation(size: Int64(body.count), mediaType: .playlist)
        representation.entityTag = text.tag(for: session)
        representation.fields.append(.cacheControl, literal: "no-cache")
        representation.fields.append(status)
        if let live {
            let age = max(.zero, .now - live.born)
            representation.fields.append(FieldName("Age"), number: age.components.seconds)
        }
        exchange.reply(representation, body.body)
    }
}
