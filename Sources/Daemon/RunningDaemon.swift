// The room Daemon.
//
// Duty: the daemon as a whole: configuration table, composition, handlers, hooks, sensors, doctor.
// Entrance: `Application` (run), `RunningDaemon` (composition), `Configuration`.
// Does not enter: behaviour that a lower room could have: here parts are only made and joined.

import Assets
import Control
import Downloads
import EventLoop
import Glibc
import HTTPMessage
import HTTPServer
import Integrity
import Logging
import Orders
import Origin
import Playback
import Recordings
import Retention
import Sessions
import Sharing
import Store
import Subprocess
import Substitution
import WeirAPI

/// Builds and owns the parts, in this order: store, origin client, substitution, library, retention, exchange, downloader,
/// playback, control, server.
@LoopActor final class RunningDaemon {
    private let client: OriginClient
    private let handlers: Handlers
    private let library: Library
    private let summaries: Summaries
    private let retention: RetentionService
    private let exchange: ExchangeServices
    private let downloader: Downloader
    private let events: EventFeed
    private let sessions: SessionRecords
    private let server: WebServer
    /// The connections of both servers.
    let pool: ConnectionPool
    private let control: ControlRoutes
    private let page: PageRoutes
    /// The server for the network; nil if none is configured.
    private var network: WebServer?
    /// The literal address at which `network` listens.
    private var networkHost: String?
    /// The address for the network, where it is looked up; nil if there is none, or a literal one.
    private var networkWish: NetworkWish?
    private let playback: PlayerRoutes
    private let subtitles: SubtitleRoutes
    private let limits: WebServer.Configuration
    private let metrics: Metrics
    private let conditions: ConditionMonitor
    /// Nil if the machine may sleep.
    private let sleepGuard: SleepGuard?
    /// Nil if the machine is not woken for recordings.
    private let wakeTimer: WakeTimer?
    private let webhook: Webhook?
    private let logger: Logger
    private let notices: Notices
    private let downloadLog: DownloadLog
    private let phones: Phones
    /// While the daemon listens.
    let schedules: RecordingSchedules
    private let lists: ChannelLists
    private var networkWatch: NetworkWatch?

    /// Builds all rooms and the server, which does not listen yet.
    init(
        _ configuration: Configuration, streams: [KnownStream], token: String, environment: [String: String],
        logger: Logger
    ) throws(ApplicationError) {
        self.logger = logger
        let store = try Self.openStore(configuration, logger)
        let report: @Sendable (String) -> Void = { logger.warning("\($0)") }
        client = OriginClient(configuration: configuration.origin(report: report), report: report)
        let pageFinder = configuration.asksForPages ? PageFinder() : nil
        handlers = Handlers(configuration.handlers, pages: pageFinder, client: client, environment: environment)
        client.handlers = handlers
        let moves = MoveRegister()
        let summaries = Summaries(store)
        let substitutions = Substitutions()
        self.summaries = summaries
        library = Library(
            store: store, client: client, mode: configuration.mode, moves: moves, summaries: summaries,
            partialPlayback: substitutions, storedRecordings: RecordingRestorer(), report: report)
        library.cookieFolder = CookieFolder(configuration.state + "/cookies", report: report)
        retention = RetentionService(of: library, cacheLimit: configuration.playCache, purge: configuration.purge)
        retention.newKeyTerms = configuration.keyTerms
        let exchange = ExchangeServices(library, moves: moves)
        self.exchange = exchange
        library.streams = streams
        var downloads = Downloader.Configuration()
        downloads.parallel = configuration.maxParallel
        downloads.running = configuration.maxDownloads
        downloads.rules = configuration.rules
        downloader = Downloader(
            library: library, retention: retention,
            integrity: IntegrityService(of: library, retention, bytesPerSecond: Int64(configuration.verifyRate) << 20),
            configuration: downloads, report: report)
        conditions = ConditionMonitor(downloader, MachineSensors(environment: environment))
        sleepGuard = Self.sleepGuard(configuration, of: downloader, environment: environment, report: report)
        webhook = Self.webhook(configuration, client, report: report)
        let playback = PlayerRoutes(
            library: library, substitutions: substitutions, retention: retention,
            timeShift: Self.timeShift(configuration), logs: Self.logs(configuration),
            sessionFolder: configuration.state + "/sessions",
            report: report)
        self.playback = playback
        playback.ownTokens = [token]
        sessions = playback.sessions
        sessions.history = Self.history(of: library, configuration, report: report)
        let conditions = self.conditions
        let downloader = self.downloader
        downloader.isLiveWatched = { [weak playback] in playback?.timeShifts?.isWatched ?? false }
        playback.timeShifts?.mayFetchAhead = { [weak downloader, weak conditions] in
            conditions?.look()
            return downloader?.mayFetchAhead ?? false
        }
        let service = LibraryService(
            library: library, summaries: summaries, substitutions: substitutions, retention: retention,
            exchange: exchange, downloader: downloader)
        service.selectionDefaults = configuration.selection
        service.players = PlayerStarter(state: StateDirectory(configuration.state), environment: environment)
        events = EventFeed(downloader, of: library)
        events.follow(exchange.mover)
        webhook?.follow(downloader, library)
        let setup = Notices.Setup(
            commands: configuration.notices, state: StateDirectory(configuration.state), environment: environment,
            logger: logger)
        notices = Notices(setup, of: downloader, library, service: service)
        downloadLog = DownloadLog(of: downloader, logger: logger)
        var endpoints = EndpointHandlers { [library] in await library.waitForStream(named: $0) }
        service.register(in: &endpoints)
        let state = StateDirectory(configuration.state)
        schedules = RecordingSchedules(
            library, downloader, stored: Self.planned(in: state, report: report),
            save: { text in
                do throws(APIError) {
                    try state.writeFile(Self.plansFile, text, isDurable: true)
                    return nil
                } catch {
                    return error.message
                }
            }, report: report)
        wakeTimer = Self.wakeTimer(
            configuration, for: schedules, environment: environment, date: library.date, report: report)
        RecordingService(service, schedules).register(in: &endpoints)
        PlaybackService(sessions, library: library).register(in: &endpoints)
        let streams = StreamService(library, store: UserStreams(configuration: configuration))
        streams.register(in: &endpoints)
        service.streams = streams
        lists = ChannelLists(library, store: ListFiles(state: state), report: report)
        let listService = ListService(library, lists, streams: streams)
        listService.register(in: &endpoints)
        service.lists = listService
        let control = ControlRoutes(endpoints, events: events, token: token, otherUsers: configuration.otherUsers)
        self.control = control
        playback.changingToken = control.pageKey
        phones = Phones(in: StateDirectory(configuration.state), report: { logger.warning("\($0)") })
        control.access.phones = phones
        let page = PageRoutes(control, player: PagePlayer(configuration.pagePlayer, environment: environment))
        self.page = page
        let subtitles = SubtitleRoutes(library, exchange.exporter)
        self.subtitles = subtitles
        limits = Self.serverConfiguration(configuration)
        let metrics = Metrics(
            library: library, downloader: downloader, sessions: sessions, client: client, version: Application.version)
        self.metrics = metrics
        pool = ConnectionPool(limit: limits.connections)
        server = WebServer(configuration: limits, policy: control, pool: pool) { exchange in
            if playback.handle(exchange) || control.handle(exchange) || page.handle(exchange)
                || metrics.handle(exchange) || subtitles.handle(exchange)
            {
                return
            }
            Welcome.answer(exchange)
        }
        metrics.server = server
        service.pool = pool
        service.sessions = sessions
    }

    /// The file of planned recordings in the state folder, and its length that is read at most.
    private nonisolated static let plansFile = "recordings"
    private static let longestPlans = 4 << 20

    private static func planned(in state: StateDirectory, report: (String) -> Void) -> String? {
        switch state.readFile(plansFile, limit: longestPlans) {
        case .success(let text): return text
        case .failure(.noSuchFile): return nil
        case .failure(let error):
            report("the planned recordings cannot be read, and none begins: \(error)")
            return nil
        }
    }

    private static func openStore(_ configuration: Configuration, _ logger: Logger) throws(ApplicationError)
        -> BundleStore
    {
        let store: BundleStore
        do {
            store = try BundleStore(
                path: configuration.store, reserve: configuration.reserve.map { Int64($0) << 20 },
                state: configuration.state
            ) {
                logger.warning("\($0)")
            }
        } catch  where error.code == .busy {
            throw ApplicationError(
                .store, "another daemon uses the store \(configuration.store)",
                next: "end that daemon, or use another folder: weir serve --store DIR", underlying: error)
        } catch  where error.code == .moved {
            throw ApplicationError(
                .store, "\(error)",
                next: "set this folder as \"store\" in weir.toml, or name it: weir serve --store DIR",
                underlying: error)
        } catch  where error.code == .newer {
            throw ApplicationError(
                .newerStore,
                "the store \(configuration.store) needs a newer Weir than \(Application.version): \(error)",
                next: "start the newer Weir again, or use another folder: weir serve --store DIR",
                underlying: error)
        } catch  where error.errno == EACCES {
            throw ApplicationError(
                .store, "the store cannot be opened: \(error)",
                next: "run weir as the owner of the folder, or use another folder: weir serve --store DIR",
                underlying: error)
        } catch {
            throw ApplicationError(
                .store, "the store cannot be opened: \(error)",
                next: "use another folder: weir serve --store DIR", underlying: error)
        }
        do {
            try store.setExcludedFromBackups(configuration.isExcludedFromBackups)
        } catch {
            logger.warning("the mark for backup programs cannot be changed: \(error)")
        }
        store.adopt(configuration.bundleMode)
        if let reason = store.readOnlyReason {
            logger.warning("nothing can be stored: \(reason)")
        }
        if let recovery = store.catalogue.recovery {
            logger.error("\(recovery)")
        }
        return store
    }

    private static func webhook(
        _ configuration: Configuration, _ client: OriginClient, report: @escaping @Sendable (String) -> Void
    ) -> Webhook? {
        guard let receiver = configuration.webhook else { return nil }
        return Webhook(receiver, events: configuration.webhookEvents, client: client, report: report)
    }

    private static func sleepGuard(
        _ configuration: Configuration, of downloader: Downloader, environment: [String: String],
        report: @escaping @Sendable (String) -> Void
    ) -> SleepGuard? {
        guard configuration.keepsAwake else { return nil }
        return SleepGuard(downloader, SystemBus(environment: environment), report: report)
    }

    private static func wakeTimer(
        _ configuration: Configuration, for schedules: RecordingSchedules, environment: [String: String],
        date: @escaping () -> Int64, report: @escaping @Sendable (String) -> Void
    ) -> WakeTimer? {
        guard configuration.wakesMachine else { return nil }
        return WakeTimer(schedules, UserManager(environment: environment), date: date, report: report)
    }

    /// The file in the state folder that notes where films were left, and its length that is read at most.
    private static let historyFile = "history"
    private static let longestHistory = 4 << 20

    /// The notes of an earlier daemon; nil if the key history is false, and then they are deleted.
    private static func history(
        of library: Library, _ configuration: Configuration, report: @escaping @Sendable (String) -> Void
    ) -> ViewingHistory? {
        let state = StateDirectory(configuration.state)
        guard configuration.keepsHistory else {
            state.removeFile(historyFile)
            return nil
        }
        let storage = ViewingHistory.Storage(
            read: { try? state.readBytes(historyFile, limit: longestHistory).get() },
            write: { bytes in
                do throws(APIError) {
                    try state.writeFile(historyFile, bytes: bytes, isDurable: false)
                } catch {
                    return error.message
                }
                return nil
            })
        return ViewingHistory(of: library, storage, report: report)
    }

    /// Each file of a time shift has a descriptor: half of them are for all else.
    private static func timeShift(_ configuration: Configuration) -> TimeShifts.Limits? {
        guard let seconds = configuration.timeshift else { return nil }
        let descriptors = DescriptorLimit.current?.soft ?? 1_024
        return TimeShifts.Limits(seconds: Double(seconds), files: min(8_192, descriptors / 2))
    }

    private static func logs(_ configuration: Configuration) -> SessionRecords.Configuration {
        var logs = SessionRecords.Configuration()
        logs.folder = configuration.state + "/log"
        logs.days = configuration.logDays
        logs.software = "Weir/\(Application.version)"
        return logs
    }

    private struct NetworkWish {
        let address: NetworkAddress
        /// The port for an address without one.
        let port: UInt16
        let token: String
    }

    private static func serverConfiguration(_ configuration: Configuration) -> WebServer.Configuration {
        var server = WebServer.Configuration()
        server.connections = DescriptorLimit.connections(of: server.connections, limit: DescriptorLimit.current?.soft)
        server.hostNames = configuration.hostNames
        server.allowedOrigins = configuration.allowedOrigins
        server.owners = OwnerRule(users: configuration.users)
        return server
    }

    /// Listens on the network, and returns the URL with the token, without a slash at its end; nil while an interface has no
    /// address. `port` is for an address without one. Where the address is not a literal one, follows its changes.
    func open(_ address: NetworkAddress, port: UInt16, token: String) throws(ApplicationError) -> String? {
        var url: String?
        if let host = address.literal(on: .current) {
            url = try open(host: host, port: address.port ?? port, token: token)
        } else {
            logger.warning("lan = \(address.host): no address yet; other machines are admitted as soon as there is one")
        }
        if !address.isLiteral {
            networkWish = NetworkWish(address: address, port: port, token: token)
        }
        return url
    }

    /// Listens at another address after the machine has got one, as by DHCP, for a wish that names an interface or `auto`.
    private func followNetwork() {
        guard let wish = networkWish else { return }
        let host = wish.address.literal(on: .current)
        guard host != networkHost else { return }
        let old = network
        network = nil
        networkHost = nil
        metrics.network = nil
        control.access.lan = nil
        Task {
            await old?.stop(within: .seconds(2))
        }
        guard let host else {
            logger.warning(
                "lan = \(wish.address.host): the address is gone; no other machine is admitted until there is one")
            return
        }
        do {
            _ = try open(host: host, port: wish.address.port ?? wish.port, token: wish.token)
            logger.notice("other machines are admitted at \(host) now")
        } catch {
            logger.warning("\(error)")
        }
    }

    private func open(host: String, port: UInt16, token: String) throws(ApplicationError) -> String {
        let gate = NetworkGate(
            token: token, library: library, playback: playback, subtitles: subtitles,
            .init(phones: phones, control: control, page: page))
        var limits = self.limits
        limits.limitsLoopback = true
        limits.owners = nil
        let network = WebServer(configuration: limits, pool: pool) { gate.answer($0) }
        let bound: ListenAddress
        do {
            let number = try network.listen(host: host, port: port)
            bound = ListenAddress(host: host, port: number)
        } catch {
            throw ApplicationError(
                .address, "the daemon cannot listen on the network: \(error)",
                next: "use an address that \"ip addr\" shows, and a free port: weir serve --lan ADDRESS:PORT",
                underlying: error)
        }
        self.network = network
        networkHost = host
        playback.ownTokens.append(token)
        metrics.network = network
        client.ownListeners.append(OriginRequest.Peer(host: bound.host, port: bound.port))
        let url = "http://\(bound)" + NetworkGate.path(token)
        control.access.lan = API.LAN(url: url)
        return url
    }

    /// Listens, resumes the downloads of an earlier process, and returns the URL of the first address. Inherited
    /// sockets replace the configured addresses.
    func start(
        _ configuration: Configuration, inherited: Range<Int32>, _ claim: StateClaim
    ) async throws(ApplicationError) -> String {
        await library.volumes.completeBegunRemovals()
        // Before a player asks for one of their channels, which waits until it is read.
        lists.start((try? configuration.streamFile().lists) ?? [])
        var addresses: [ListenAddress] = []
        for descriptor in inherited {
            addresses.append(try listen(inherited: descriptor))
        }
        if inherited.isEmpty {
            addresses = try listen(configuration)
        }
        guard let first = addresses.first else { throw ApplicationError(.address, "there is no address to listen on") }
        client.ownListeners = addresses.map { OriginRequest.Peer(host: $0.host, port: $0.port) }
        if !server.knowsUsers {
            logger.warning("the kernel does not report the users of connections: every user of this machine may play")
        }
        keepPageKey(in: claim)
        networkWatch = NetworkWatch { [weak self, client] in
            client.recordNetworkChange()
            self?.followNetwork()
        }
        downloader.resume()
        schedules.start()
        Task { @LoopActor [orphans = exchange.orphans] in await orphans.adopt() }
        return "http://\(first)"
    }

    /// Lets the page's link outlive the daemon, where the kernel says whose a connection is.
    private func keepPageKey(in claim: StateClaim) {
        guard server.knowsUsers else { return }
        do throws(APIError) { try control.pageKey.keep(in: claim) } catch {
            logger.warning("the link of the page ends with this daemon: \(error)")
        }
    }

    /// True while something plays, downloads, records, waits, is checked or moved, or a client is connected. A player that is paused
    /// counts for `IdleClock.longestPause`.
    var isBusy: Bool {
        sessions.count(withoutSilentFor: IdleClock.longestPause) > 0
            || pool.count(withoutSilentFor: IdleClock.longestPause) > 0
            || downloader.downloads.contains { $0.state.isActive }
            || schedules.isWaiting
            || downloader.integrity.jobs.all.contains { $0.state.isActive }
            || exchange.mover.jobs.all.contains { $0.state.isActive }
            || exchange.publications.jobs.all.contains { $0.state.isActive }
    }

    /// The number of connections since the start.
    var connections: Int { server.counters.connections + (network?.counters.connections ?? 0) }

    /// Listens for commands on a Unix socket. Without it, they use the network address.
    func open(socket path: String) {
        do throws(HTTPServerError) { try server.listen(path: path) } catch {
            logger.warning("the commands use the network address: \(error)")
        }
    }

    private func listen(inherited descriptor: Int32) throws(ApplicationError) -> ListenAddress {
        let address: ListenAddress
        do {
            let (host, port) = try server.listen(inherited: OwnedDescriptor(descriptor))
            address = ListenAddress(host: host, port: port)
        } catch {
            throw .inheritedSocket("\(error)", underlying: error)
        }
        // Inherited sockets must follow the rule for configured addresses.
        do { return try ListenAddress("\(address)") } catch {
            throw .inheritedSocket(error.sentence, underlying: error)
        }
    }

    private func listen(_ configuration: Configuration) throws(ApplicationError) -> [ListenAddress] {
        var addresses: [ListenAddress] = []
        for address in configuration.listen {
            do {
                let port = try server.listen(host: address.host, port: address.port)
                addresses.append(ListenAddress(host: address.host, port: port))
            } catch  where error.code == .addressInUse {
                guard configuration.listenIsDefault, addresses.isEmpty, OwnPort.isTaken(address) else {
                    throw ApplicationError.portTaken(address, underlying: error)
                }
                return try listenElsewhere(than: address, configuration, underlying: error)
            } catch  where configuration.listenIsDefault && error.code == .addressNotAvailable && !addresses.isEmpty {
                logger.debug("\(error)")  // The machine may lack IPv6.
            } catch {
                throw ApplicationError(
                    .address, "\(error)", next: "weir serve --listen 127.0.0.1:8216", underlying: error)
            }
        }
        return addresses
    }

    /// Listens at a port of this user's own, because another user of the machine has the usual one.
    private func listenElsewhere(
        than taken: ListenAddress, _ configuration: Configuration, underlying: any Error
    ) throws(ApplicationError) -> [ListenAddress] {
        let chosen: [ListenAddress]?
        do throws(APIError) { chosen = try OwnPort(in: StateDirectory(configuration.state)).choose() } catch {
            throw ApplicationError(.stateDirectory, error.message, next: error.next, underlying: error)
        }
        guard let chosen else { throw ApplicationError.portTaken(taken, underlying: underlying) }
        logger.notice("\(taken) belongs to another user of this machine: from now on Weir listens on \(chosen[0])")
        var addresses: [ListenAddress] = []
        for address in chosen {
            do throws(HTTPServerError) {
                let port = try server.listen(host: address.host, port: address.port)
                addresses.append(ListenAddress(host: address.host, port: port))
            } catch {
                // The machine may lack IPv6.
                guard error.code == .addressNotAvailable, !addresses.isEmpty else {
                    throw ApplicationError.portTaken(address, underlying: error)
                }
            }
        }
        return addresses
    }

    /// Stops all rooms, and keeps the received bytes: fetches first, then pieces, the catalogue, and last the logs. Each has a
    /// limit, so that a disk that hangs, or long work, does not keep the rest from its end.
    func stop() async {
        events.end()
        webhook?.stop()
        conditions.stop()
        sleepGuard?.stop()
        networkWatch = nil
        notices.stop()
        schedules.stop()
        lists.stop()
        await wait(for: "the accounts of downloads", atMost: .seconds(2)) { await self.downloader.close() }
        // Stops both servers in parallel. One after the other would double the wait for players, and let new ones in
        // meanwhile.
        async let networkStopped: ()? = network?.stop(within: .seconds(2))
        await server.stop(within: .seconds(2))
        await networkStopped
        client.stop()
        await ProcessGuard.shared.endGroups(within: .seconds(2)) { try await LoopActor.pause(for: $0) }
        phones.close()

        if let wakeTimer {
            await wait(for: "the timer that wakes the machine", atMost: .seconds(2)) { await wakeTimer.stop() }
        }
        await wait(for: "the planned recordings", atMost: .seconds(2)) { await self.schedules.close() }
        await wait(for: "the summaries of assets", atMost: .seconds(2)) { await self.summaries.close() }
        await wait(for: "the latest pieces", atMost: .seconds(8)) { await self.library.close() }
        await sessions.close(within: .seconds(4))
        sessions.history?.close()
    }

    /// Waits for a part of the stop, at most for its limit.
    private func wait(
        for part: String, atMost limit: Duration, _ body: @escaping @LoopActor () async -> Void
    ) async {
        let work = Task { @LoopActor in await body() }
        if await work.value(within: limit) == nil {
            logger.warning("\(part) were not written within \(limit.components.seconds) s: the next start checks them")
        }
    }
}

extension Configuration {
    /// The settings for requests to origins. Joins the authorities' certificates in the state folder.
    func origin(report: (String) -> Void) -> OriginClient.Configuration {
        var origin = OriginClient.Configuration()
        // Fewer transfers than usual means fewer streams of a connection too.
        if maxParallel < origin.slotsPerHost {
            origin.streamsPerHost = maxParallel
        } else {
            origin.streamsPerHost = max(maxParallel, origin.streamsPerHost)
        }
        origin.slotsPerHost = maxParallel
        origin.backgroundRate = limitRate
        origin.usesHTTP2 = usesHTTP2
        origin.userAgent = userAgent
        origin.proxies = proxies
        origin.allowedHosts = allowedHosts
        origin.authorities = authorities.prepare(in: state, report: report)
        return origin
    }
}

/// The response at an unknown path.
@LoopActor enum Welcome {
    static func answer(_ exchange: Exchange) {
        guard exchange.head.method == .get || exchange.head.method == .head else {
            return exchange.reply(.methodNotAllowed, "Only GET and HEAD are accepted here.")
        }
        exchange.reply(.notFound, "Unknown path. \"weir list\" shows the assets that can be played.")
    }
}
