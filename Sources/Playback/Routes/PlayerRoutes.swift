// The room Playback.
//
// Duty: players' requests: routes, playlists as players see them, one decision for each segment request.
// Entrance: `PlayerRoutes.handle`; the decision is `SegmentSource`, which is pure.
// Does not enter: downloads. What is stored, fetched or substituted comes from `Fetching` and `Substitution`.

public import Assets
public import EventLoop
import HTTPMessage
public import HTTPServer
public import Origin
public import Retention
public import Sessions
public import Substitution

/// Answers players' requests: entry playlists, media playlists, segments, initialization sections, keys, session data
/// and interstitials.
@LoopActor public final class PlayerRoutes {
    let library: Library
    let substitutions: Substitutions
    let retention: RetentionService
    /// The records of all players' sessions, for the logs and the API.
    public let sessions: SessionRecords
    /// The running sessions, by id.
    private var servedSessions: [String: ServedSession] = [:]
    /// Where it is kept in which form each segment was sent; nil to keep that in memory only.
    private let sessionFiles: SessionFiles?
    private var libraryEvents: Subscription?
    /// Weir's own tokens, which a player may send, and which no origin may get.
    public var ownTokens: [String] = []
    /// A further token, which changes while the daemon runs; nil without one.
    public var changingToken: (any ChangingToken)?
    private let report: @Sendable (String) -> Void
    let playerTimeout: Duration
    /// Keeps the last minutes of live streams; nil to keep none.
    public let timeShifts: TimeShifts?
    var shelf = PieceShelf()
    var stretches = StretchesShelf()
    let texts = SharedTexts()
    private var liveSessions: [String: Session] = [:]
    private static let liveSessionLimit = 256

    /// - Parameters:
    ///   - playerTimeout: how long a player waits for the first byte.
    ///   - timeShift: the limits of what is kept of live streams for players that pause; nil to keep nothing.
    ///   - logs: configuration of the session logs.
    ///   - sessionFolder: the folder in which the forms of sent segments are recorded; nil to keep them in memory only.
    ///   - report: called with a sentence for the log about each refused request.
    public init(
        library: Library, substitutions: Substitutions, retention: RetentionService,
        playerTimeout: Duration = GiveUpRule.playerTimeout, timeShift: TimeShifts.Limits? = nil,
        logs: SessionRecords.Configuration = .init(),
        sessionFolder: String? = nil, report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.library = library
        self.substitutions = substitutions
        self.retention = retention
        self.playerTimeout = playerTimeout
        self.report = report
        timeShifts = timeShift.map { TimeShifts(of: library, retention, $0) }
        sessions = SessionRecords(library: library, logs, report: report)
        sessionFiles = sessionFolder.map { SessionFiles(path: $0, now: logs.date) }
        sessions.whenEnded = { [weak self] session in self?.servedSessions[session] = nil }
        libraryEvents = library.events.subscribe { [weak self] event in
            if case .removed(let asset) = event {
                self?.sessionFiles?.remove(ofAsset: asset.id)
            }
        }
    }

    /// True if a request target is a player's: a playlist, a resource, or an origin's URL.
    public nonisolated static func isForPlayers(_ target: ArraySlice<UInt8>) -> Bool {
        Route(target: target) != nil || ClientDataEvents.isMeant(target)
    }

    /// Answers a player's request, now or later. Returns false if it is not a player's request.
    public func handle(_ exchange: Exchange) -> Bool {
        // Another user's request takes the long way, on which the clocks of rentals are guarded.
        if exchange.head.method == .get, !exchange.isFromOtherUser,
            let (sessionFolder, file) = shelf.find(exchange.head.targetBytes)
        {
            servePiece(exchange, in: sessionFolder, file: file)
            return true
        }
        guard let route = Route(target: exchange.head.targetBytes) else {
            return ClientDataEvents.answer(exchange, sessions)
        }
        guard exchange.head.method == .get || exchange.head.method == .head else {
            var head = ResponseHead(.methodNotAllowed)
            head.append(.allow, literal: "GET, HEAD, OPTIONS")
            exchange.reply(head)
            return true
        }
        serve(exchange, route)
        return true
    }

    private func serve(_ exchange: Exchange, _ route: Route) {
        // Its playlists may have a million lines, which are read on other threads.
        guard let asset = asset(of: route), !asset.isLoaded else { return serveLoaded(exchange, route) }
        Task { @LoopActor in
            await library.wake(asset)
            serveLoaded(exchange, route)
        }
    }

    /// Answers with what a route names, once the playlists of its asset are in memory.
    private func serveLoaded(_ exchange: Exchange, _ route: Route) {
        switch route {
        case .piece(let asset, let session, let folder, let file):
            servePiece(exchange, assetID: asset, session: session, folder: folder, file: file)
        case .interstitial(let asset, let session, let name):
            serveInterstitial(exchange, assetID: asset, session: session, name: name)
        case .playlist(let asset, let session, let rendition):
            servePlaylist(exchange, assetID: asset, session: session, renditionID: rendition)
        case .entry(let name, let mode, let choice):
            serveEntry(exchange, named: name, mode: mode, choosing: choice)
        case .origin(let text, let mode, let choice):
            serveEntry(exchange, at: text, mode: mode, choosing: choice)
        case .listed(let text): serveEntry(exchange, at: text, mode: .auto, choosing: nil, isUsers: false)
        case .badChoice(let reason): exchange.reply(.badRequest, "The choice behind /select/ is of no use: \(reason)")
        case .channels: serveChannels(exchange)
        }
    }

    /// The known asset that a route names; nil for a URL of an origin.
    private func asset(of route: Route) -> Asset? {
        switch route {
        case .piece(let id, _, _, _), .interstitial(let id, _, _), .playlist(let id, _, _): library.presentation(id: id)
        case .entry(let name, _, _):
            asset(inURL: name)
        case .origin, .listed, .badChoice, .channels: nil
        }
    }

    /// The known asset with a name or an id. An id outlasts every name.
    func asset(inURL word: String) -> Asset? {
        if let named = library.asset(named: word) {
            return named
        }
        return library.asset(id: word) ?? library.asset(formerlyNamed: word)
    }

    func refuse(
        _ exchange: Exchange, _ error: LibraryError, about subject: RequestSubject = RequestSubject()
    ) {
        let status = error.status
        sessions.recordFailure(FailedRequest(error, status: exchange.sentStatus(status), about: subject))
        report("\(exchange.head.method) refused with \(status.code): \(error)")
        exchange.reply(status, "\(error).")
    }

    /// Refuses a playlist, unless it is a channel list, which is served: with the origin's own status, its reason and the next command.
    func refuse(playlist exchange: Exchange, _ error: LibraryError, isLive: Bool = false, about subject: RequestSubject)
    {
        if let list = error.channelList {
            return serveList(list, to: exchange)
        }
        let status = isLive ? error.liveStatus : error.playlistStatus
        sessions.recordFailure(FailedRequest(error, status: status.code, about: subject))
        report("\(exchange.head.method) refused with \(status.code): \(error)")
        var sentence = "\(error)."
        if let command = error.nextCommand {
            sentence += "\nTry: \(command)"
        }
        exchange.reply(status, sentence)
    }

    /// Answers 410 and returns true if the asset has expired, unless the session (nil for a new one) began before that.
    /// Answers 403 to another user of this machine if a clock would begin with the playback.
    func refuseIfExpired(_ exchange: Exchange, _ asset: Asset, in session: Session? = nil) -> Bool {
        do throws(LibraryError) {
            if exchange.isFromOtherUser, retention.hasWaitingClock(asset) {
                throw LibraryError(.refusedURL, "a limited time of \(asset.name) begins when its owner plays it")
            }
            if let session {
                try retention.checkExpiry(of: asset, for: session.id)
            } else {
                try retention.checkExpiry(of: asset)
            }
            return false
        } catch {
            let uri = asset.origin.replacingQuery(nil).redacted
            refuse(exchange, error, about: RequestSubject(session: session?.id, asset: asset, uri: uri))
            return true
        }
    }

    /// Returns the state of a session that sends a request; makes it if the session is unknown.
    func servedSession(_ session: Session, of asset: Asset, for exchange: Exchange) -> ServedSession {
        let isAdaptive = session.mode == .adaptive
        let record = sessions.record(
            of: session.id, playing: asset, for: exchange, isOffline: session.mode == .offline, isAdaptive: isAdaptive)
        if let known = servedSessions[session.id], known.record === record {
            return known
        }
        var adapter: Adapter?
        if isAdaptive {
            adapter = Adapter(client: record.client)
        }
        let served = ServedSession(record, adapter: adapter, files: sessionFiles)
        servedSessions[session.id] = served
        return served
    }

    /// Makes a new session. A lone live media playlist reuses its session: players reload it, and its URLs must stay.
    func session(for asset: Asset, _ mode: Session.Mode) -> Session {
        guard asset.multivariant == nil, asset.isLive || asset.isRecording else { return Session(mode) }
        if let session = liveSession(of: asset, mode) {
            return session
        }
        // A player whose session is dropped gets other URLs at its next reload, and continues.
        if liveSessions.count >= Self.liveSessionLimit {
            liveSessions.remove(at: liveSessions.startIndex)
        }
        let session = Session(mode)
        liveSessions[Self.key(asset, mode)] = session
        return session
    }

    /// The session of the players of a lone live media playlist; nil if it had none.
    func liveSession(of asset: Asset, _ mode: Session.Mode) -> Session? { liveSessions[Self.key(asset, mode)] }

    private static func key(_ asset: Asset, _ mode: Session.Mode) -> String { asset.id + String(mode.rawValue) }
}

/// A token of Weir's that can be replaced by another one.
public protocol ChangingToken: Sendable {
    /// The present token.
    var text: String { get }
}
