public import EventLoop
import HTTPMessage
public import HTTPServer
public import Library
public import Origin
import Playheads
import Playlist
public import Retention
public import Substitution

/// Answers players' requests: entry playlists, media playlists, segments, initialization sections, keys, session data
/// and interstitials.
@LoopActor public final class Playback {
    let library: Library
    let substitutions: Substitutions
    let retention: Retention
    /// The sessions of all players.
    public let sessions: Sessions
    private let report: @Sendable (String) -> Void
    let playerTimeout: Duration
    var shelf = PieceShelf()
    private var stretches = StretchesShelf()
    private var liveSessions: [String: Session] = [:]
    private static let liveSessionLimit = 256

    /// - Parameters:
    ///   - playerTimeout: how long a player waits for the first byte.
    ///   - logs: configuration of the session logs.
    ///   - report: called with a sentence for the log about each refused request.
    public init(
        library: Library, substitutions: Substitutions, retention: Retention,
        playerTimeout: Duration = GiveUpRule.playerTimeout,
        logs: Sessions.Configuration = Sessions.Configuration(),
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        (self.library, self.substitutions, self.retention) = (library, substitutions, retention)
        self.playerTimeout = playerTimeout
        self.report = report
        sessions = Sessions(library: library, logs, report: report)
    }

    /// Answers a player's request, now or later. Returns false if it is not a player's request.
    public func handle(_ exchange: Exchange) -> Bool {
        if exchange.head.method == .get, let (place, file) = shelf.find(exchange.head.targetBytes) {
            piece(exchange, place, file)
            return true
        }
        guard let route = Route(target: exchange.head.targetBytes) else { return false }
        guard exchange.head.method == .get || exchange.head.method == .head else {
            var head = ResponseHead(.methodNotAllowed)
            head.append(.allow, literal: "GET, HEAD, OPTIONS")
            exchange.reply(head)
            return true
        }
        switch route {
        case .piece(let asset, let session, let folder, let file): piece(exchange, asset, session, folder, file)
        case .interstitial(let asset, let session, let name): interstitial(exchange, asset, session, name)
        case .playlist(let asset, let session, let rendition): playlist(exchange, asset, session, rendition)
        case .entry(let name, let mode): entry(exchange, named: name, mode)
        case .origin(let text, let mode): entry(exchange, at: text, mode)
        }
        return true
    }

    // MARK: Playlists

    private func playlist(_ exchange: Exchange, _ id: String, _ session: Session, _ name: String) {
        guard let asset = library.presentation(id: id), let rendition = asset.rendition(name) else {
            return exchange.reply(.notFound, "There is no such asset or rendition.")
        }
        if expired(exchange, asset, session) { return }
        let isOffline = session.mode == .offline || library.isOffline
        if isOffline || session.mode == .local, let recorded = rendition.recording?.source {
            return send(exchange, .hit, live: recorded) { () in
                try view(of: asset, session, for: exchange).media(rendition, recorded)
            }
        }
        if session.mode == .auto, let last = rendition.lastWindow {
            return send(exchange, .hit) { () in
                try view(of: asset, session, for: exchange).media(rendition, last.source, isLast: true)
            }
        }
        if isOffline, let source = rendition.source,
            let cut = stretches.cut(of: rendition, in: asset, session, substitutions)
        {
            return send(exchange, .hit) { () in
                try view(of: asset, session, for: exchange).media(rendition, source, cut: cut)
            }
        }
        if isOffline, !rendition.isWhole,
            !(rendition.isStored && library.keys.mayUse(session.id, keysOf: rendition, of: asset))
        {
            let error =
                rendition.isStored
                ? asset.keyExpiry(of: rendition)
                : LibraryError(.notStored, "\(name) of \(asset.name) is not wholly stored, and Weir is offline")
            return refuse(exchange, error, about: Subject(session, asset, exchange.head.path))
        }
        if let source = rendition.source, source.isDurable {
            return send(exchange, .hit) { () in try view(of: asset, session, for: exchange).media(rendition, source) }
        }
        do throws(LibraryError) {
            let (directives, _) = try DeliveryDirectives.split(exchange.head.query)
            Task { @LoopActor in await playlist(exchange, rendition, asset, session, directives) }
        } catch {
            refuse(exchange, error, about: Subject(session, asset, exchange.head.path))
        }
    }

    /// Answers with a rendition's playlist, once the origin has delivered it.
    private func playlist(
        _ exchange: Exchange, _ rendition: Rendition, _ asset: Asset, _ session: Session,
        _ directives: DeliveryDirectives
    ) async {
        let wasLive = rendition.isLive
        // Live playlists are reloaded again and again by players that have already started, so a reload is no opening.
        if !wasLive { library.playheads.openingBegan() }
        defer { if !wasLive { library.playheads.openingEnded() } }
        let status = CacheStatus.playlist(isKnown: rendition.source != nil, isStored: false)
        do throws(LibraryError) {
            let source = try await library.playlists.source(of: rendition, in: asset, directives)
            send(exchange, status, live: source.isDurable ? nil : source) { () in
                try view(of: asset, session, for: exchange).media(rendition, source)
            }
        } catch {
            let subject = Subject(session, asset, exchange.head.path)
            refuse(exchange, error, as: wasLive ? error.liveStatus : error.status, about: subject)
        }
    }

    private func entry(_ exchange: Exchange, named name: String, _ mode: Session.Mode) {
        guard let asset = library.asset(named: name) ?? library.asset(formerlyNamed: name) else {
            if let stream = library.stream(named: name) { return entry(exchange, at: stream.url.text, mode) }
            return exchange.reply(
                .notFound, "There is no asset called \(name). \"weir list\" shows those that there are.")
        }
        if expired(exchange, asset) { return }
        if asset.isRecording, !asset.recordedRenditions.isEmpty { return recording(exchange, of: asset, mode.plain) }
        // A named asset plays what is stored. A URL plays what the origin has, and so does a session that needs the
        // best quality available.
        let isEnough = mode == .adaptive ? asset.isEverythingWhole : asset.isPlayableOffline
        let isStored = mode == .offline || library.isOffline || isEnough
        do throws(LibraryError) {
            let (directives, _) = try DeliveryDirectives.split(exchange.head.query)
            Task { @LoopActor in await entry(exchange, of: asset, mode, directives, isStored: isStored) }
        } catch {
            refuse(exchange, error)
        }
    }

    /// Answers with the growing recording. Its URL plays the live stream meanwhile.
    private func recording(_ exchange: Exchange, of asset: Asset, _ mode: Session.Mode) {
        let session = session(for: asset, mode == .auto ? .local : mode)
        sessions.enter(session, exchange)
        let view = view(of: asset, session, for: exchange)
        if asset.multivariant == nil, let lone = asset.renditions.first, let recorded = lone.recording?.source {
            return send(exchange, .hit, live: recorded) { () in try view.media(lone, recorded) }
        }
        send(exchange, .hit) { () in
            try view.entry(listing: asset.recordedRenditions)
                ?? {
                    throw LibraryError(.notStored, "too little of \(asset.name) is recorded to be played yet")
                }()
        }
    }

    private func entry(_ exchange: Exchange, at text: String, _ mode: Session.Mode) {
        let url: WebURL
        do {
            url = try WebURL(text)
        } catch {
            return exchange.reply(.forbidden, "Weir does not fetch this URL: \(error).")
        }
        Task { @LoopActor in
            library.playheads.openingBegan()
            defer { library.playheads.openingEnded() }
            do throws(LibraryError) {
                // If the entry is a media playlist, the player adds its delivery directives to the entry's URL.
                let (directives, rest) = try DeliveryDirectives.split(CMCD.removed(from: url.query))
                let asset = try await asset(at: url.replacingQuery(rest), mode, isUsers: exchange.mount.isEmpty)
                if expired(exchange, asset) { return }
                let isStored = mode == .offline || library.isOffline || isPreferred(asset, mode)
                await entry(exchange, of: asset, mode, directives, isStored: isStored)
            } catch {
                refuse(exchange, error, about: Subject(nil, nil, url.replacingQuery(nil).text))
            }
        }
    }

    /// - Parameter isUsers: true if the user gave the URL; URLs from elsewhere must not reach private addresses.
    private func asset(at url: WebURL, _ mode: Session.Mode, isUsers: Bool) async throws(LibraryError) -> Asset {
        guard mode == .offline else { return try await library.open(url, isUsers: isUsers) }
        if let known = library.asset(at: url) { return known }
        throw LibraryError(.notStored, "\(url.redacted) is not in the store, and this session asks nobody else for it")
    }

    /// True if the stored content is everything that a URL leads to, so that the origin is not asked.
    private func isPreferred(_ asset: Asset, _ mode: Session.Mode) -> Bool {
        if asset.isEverythingWhole || asset.isRecorded && !asset.isRecording { return true }
        return (mode == .local || library.mode == .local) && asset.isPlayableOffline
    }

    /// Answers with the entry playlist, once the origin is known to be present or absent.
    func entry(
        _ exchange: Exchange, of asset: Asset, _ mode: Session.Mode, _ directives: DeliveryDirectives, isStored: Bool
    ) async {
        if !isStored, asset.isLive, asset.multivariant == nil, let lone = asset.renditions.first {
            let session = session(for: asset, mode.plain)
            sessions.enter(session, exchange)
            return await playlist(exchange, lone, asset, session, directives)
        }
        if !isStored { library.playheads.openingBegan() }
        defer { if !isStored { library.playheads.openingEnded() } }
        do {
            let isPresent = isStored ? false : try await library.playlists.refresh(asset)
            if isPresent, case let current = await library.revisions.current(asset), current !== asset {
                return await entry(exchange, of: current, mode, directives, isStored: false)
            }
            if !isPresent, !asset.isPlayableOffline { return try entry(exchange, ofPartOf: asset, mode) }
            if mode == .adaptive,
                let ladder = await substitutions.ladder(of: asset, in: library, isStored: !isPresent)
            {
                let listed = isPresent ? nil : substitutions.offlineRenditions(of: asset)
                return adaptiveEntry(exchange, of: asset, ladder, listed: listed)
            }
            // A session that played the stream live a moment ago keeps its mode.
            let session = session(for: asset, mode.plain == .auto && asset.isRecorded ? .local : mode.plain)
            sessions.enter(session, exchange)
            send(exchange, .playlist(isKnown: true, isStored: !isPresent)) { () in
                // If the origin may still be asked, only complete renditions are listed: they need no substitutes.
                let isLeft = mode == .offline || library.isOffline || !isStored
                let listed: Set<Int>? =
                    isPresent ? nil : isLeft ? substitutions.offlineRenditions(of: asset) : asset.wholeRenditions
                return try view(of: asset, session, for: exchange).entry(stored: listed)
                    ?? { throw Self.nothing(of: asset) }()
            }
        } catch {
            refuse(exchange, error, about: Subject(nil, asset, asset.origin.replacingQuery(nil).text))
        }
    }

    /// Answers for an asset of which no rendition is complete: lists the playable ranges, in a session that never asks
    /// the origin.
    private func entry(_ exchange: Exchange, ofPartOf asset: Asset, _ mode: Session.Mode) throws(LibraryError) {
        guard let stored = substitutions.playableRanges(of: asset) else { throw Self.nothing(of: asset) }
        guard stored.isPlayable else { throw Self.nothing(of: asset, but: stored.seconds) }
        let session = Session(stored.isCut ? .offline : mode.plain)
        stretches.keep(stored, for: session)
        sessions.enter(session, exchange)
        send(exchange, .hit) { () in
            try view(of: asset, session, for: exchange).entry(stored) ?? { throw Self.nothing(of: asset) }()
        }
    }

    /// Answers with a single variant; Weir chooses the quality of each of its segments.
    private func adaptiveEntry(_ exchange: Exchange, of asset: Asset, _ ladder: Ladder, listed: Set<Int>?) {
        let session = Session(.adaptive)
        sessions.enter(session, exchange)
        send(exchange, .playlist(isKnown: true, isStored: listed != nil)) { () in
            try view(of: asset, session, for: exchange).entry(ladder, listing: listed)
                ?? { throw Self.nothing(of: asset) }()
        }
    }

    private static func nothing(of asset: Asset, but seconds: Double = 0) -> LibraryError {
        if let expiry = asset.keyExpiry { return expiry }
        let rest = seconds > 0 ? " and only \(Int(seconds.rounded())) s can be played" : ""
        return LibraryError(.notStored, "nothing of \(asset.name) is wholly stored\(rest); \"weir get\" fetches it")
    }

    private func view(of asset: Asset, _ session: Session, for exchange: Exchange) -> PlayerView {
        retention.expect(session.id, at: asset, isOffline: session.mode == .offline)
        return PlayerView(library: library, asset: asset, session: session, mount: exchange.mount)
    }

    /// Makes a new session. A lone live media playlist reuses its session, because players reload it and its URLs must
    /// stay the same.
    private func session(for asset: Asset, _ mode: Session.Mode) -> Session {
        guard asset.multivariant == nil, asset.isLive || asset.isRecording else { return Session(mode) }
        let key = asset.id + String(mode.rawValue)
        if let session = liveSessions[key] { return session }
        // A player whose session is dropped gets other URLs at its next reload, and continues.
        if liveSessions.count >= Self.liveSessionLimit { liveSessions.remove(at: liveSessions.startIndex) }
        let session = Session(mode)
        liveSessions[key] = session
        return session
    }

    /// Answers with a playlist.
    ///
    /// - Parameter live: the source of the playlist if it will change. Caches must then revalidate it each time, and
    ///   players use its age to compute their distance to the origin (rfc8216bis appendix C).
    private func send(
        _ exchange: Exchange, _ status: CacheStatus, live: Rendition.Source? = nil, _ render: () throws -> [UInt8]
    ) {
        do {
            let text = try render()
            var representation = Representation(size: Int64(text.count), mediaType: .playlist)
            representation.entityTag = EntityTag(String(Fingerprint.of(text), radix: 36))
            representation.fields.append(.cacheControl, literal: "no-cache")
            representation.fields.append(status)
            if let live {
                let age = max(.zero, .now - live.born)
                representation.fields.append(FieldName("Age"), number: age.components.seconds)
            }
            exchange.reply(representation, .bytes(text))
        } catch {
            refuse(exchange, error as? LibraryError ?? LibraryError(.notPlaylist, "\(error)"))
        }
    }

    /// Answers with an error, and records it.
    func refuse(
        _ exchange: Exchange, _ error: LibraryError, as status: HTTPStatus? = nil, about subject: Subject = Subject()
    ) {
        let status = status ?? error.status
        sessions.failed(Failure(error, status: status.code, about: subject))
        report("\(exchange.head.method) refused with \(status.code): \(error)")
        exchange.reply(status, "\(error).")
    }
}
