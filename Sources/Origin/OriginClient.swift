// The room Origin.
//
// Duty: libcurl on the loop: connections, redirects, retries, resumption, guards, priorities.
// Entrance: `OriginClient.fetch`, with an `OriginRequest`; one `Transfer` each, whose decisions are `TransferState`.
// Does not enter: playlists, segments and the store. What a body must be is decided by the caller.

public import EventLoop
public import HTTPMessage

/// An HTTP client for origins: libcurl on the event loop.
///
/// Connections are reused in separate pools, see `ConnectionPools`.
@LoopActor public final class OriginClient {
    /// The limits.
    public let configuration: Configuration
    /// Weir's own listeners as IP literals. No request may connect to them, even if its URL names them.
    public var ownListeners: [OriginRequest.Peer] = [] {
        didSet { rules.ownListeners = ownListeners.compactMap { SocketAddress(literal: $0.host, port: $0.port) } }
    }
    /// While true, no socket is opened and no name is resolved: every transfer fails at once, running ones too. Each
    /// change resets the presence of all origins and what is known of their names, since the network may be another one.
    public var isOffline = false {
        didSet {
            guard isOffline != oldValue else { return }
            hosts.recordSwitch(configuration.giveUpRule)
            connections.recordSwitch()
            prober?.schedule()
            if isOffline {
                Array(transfers.values).forEach { $0.fail(.offline) }
            }
            names.reset()
        }
    }

    /// The share of the link for background transfers, running ones included.
    public var backgroundAllowance: BackgroundAllowance {
        get { link.allowance }
        set {
            if link.leave(newValue, at: .now) {
                applyAllowance()
            }
        }
    }
    /// The user's limit of all background transfers together, in bytes per second; nil for none.
    public var backgroundRate: Int64? {
        get { link.usersRate }
        set {
            link.limit(to: newValue, at: .now)
            applyAllowance()
        }
    }
    /// The user's handlers; nil for none.
    public weak var handlers: (any OriginHandlers)?
    /// Received body bytes.
    public var traffic: Traffic { link.traffic }
    /// Counts of requests and outcomes.
    public internal(set) var activity = Activity()
    var hosts: HostMemory
    var connections = ConnectionMemory()
    private var link: LinkShare
    var prober: OriginProber?
    let names: NameResolver
    private var rules = AddressRules()
    private let handles: EasyHandlePool
    private let pools: ConnectionPools
    private var queue: HostQueue
    private var transfers: [UInt64: Transfer] = [:]
    private var starting: [(Transfer, OriginError.Code?)] = []
    private var lastID: UInt64 = 0
    /// True in a turn that has not granted slots yet.
    private var isQueueDue = false
    private var pump: LoopTimer?
    private var refill: LoopTimer?
    private var yieldTimer: LoopTimer?
    /// Receives notes for the user's log.
    private let report: @Sendable (String) -> Void
    private var downgrades: Set<[WebURL.Origin]> = []

    /// Creates a client without connections.
    /// - Parameter report: receives notes for the user's log.
    public convenience init(
        configuration: Configuration = Configuration(), report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.init(configuration: configuration, lookup: SystemLookup(), report: report)
    }

    init(configuration: Configuration, lookup: any NameLookup, report: @escaping @Sendable (String) -> Void) {
        self.configuration = configuration
        self.report = report
        names = NameResolver(lookup)
        handles = EasyHandlePool(configuration)
        pools = ConnectionPools(configuration)
        queue = HostQueue(
            slots: configuration.slotsPerHost, reserve: configuration.slotsInReserve,
            streams: configuration.streamsPerHost)
        hosts = HostMemory(configuration.giveUpRule)
        link = LinkShare(backgroundRate: configuration.backgroundRate, at: .now)
        pump = LoopTimer { [weak self] in self?.turn() }
        refill = LoopTimer { [weak self] in self?.turn() }
        yieldTimer = LoopTimer { [weak self] in self?.turn() }
        prober = OriginProber(self)
        queue.backgroundSlots = link.backgroundSlots
    }

    /// Starts a transfer. Retains the receiver until the end, and first notifies it after the loop's current callback.
    @discardableResult public func start(_ request: OriginRequest, receiver: any TransferReceiver) -> Transfer {
        if isOffline {
            return start(request, receiver, refusal: .offline)
        }
        if request.url.isPlaceholder {
            return start(request, receiver, refusal: .unreachable)
        }
        if isHandled(request) {
            return start(request, receiver)
        }
        if request.url.needsHandler {
            return start(request, receiver, refusal: .noHandler)
        }
        switch hosts.admit(request.url, ignoresAbsence: request.ignoresAbsence, now: .now) {
        case .normal: return start(request, receiver)
        case .probe: return start(request, receiver, isProbe: true)
        case .insisting:
            prober?.schedule()
            return start(request, receiver)
        case .refused(let code):
            prober?.schedule()
            return start(request, receiver, refusal: code)
        }
    }

    /// True if a handler answers the request.
    package func isHandled(_ request: OriginRequest) -> Bool {
        request.method == .get && handlers?.answers(request.url, isUsers: request.isUsers) ?? false
    }

    /// Starts a transfer whose end decides whether an absent origin has returned.
    func probe(_ request: OriginRequest, receiver: any TransferReceiver) { start(request, receiver, isProbe: true) }

    @discardableResult private func start(
        _ request: OriginRequest, _ receiver: any TransferReceiver, refusal: OriginError.Code? = nil,
        isProbe: Bool = false
    ) -> Transfer {
        lastID += 1
        let asked = AskedRequest(request)
        let transfer = Transfer(lastID, for: asked, receiver: receiver, client: self, isProbe: isProbe)
        transfers[lastID] = transfer
        starting.append((transfer, refusal))
        pump?.fireSoon()
        return transfer
    }

    /// True if the URL's origin is presumed absent, so that a caller with an alternative should not wait for it. The
    /// call also keeps the origin being probed for `GiveUpRule.absenceInterest`, so that its return is noticed soon.
    public func isPresumedAbsent(_ url: WebURL) -> Bool {
        if url.isPlaceholder {
            return true
        }
        // Send due probes first, so that the end of a pause does not make a caller wait. After a long time without
        // requests, the next caller's own request is the probe.
        prober?.sendDueProbes()
        let isAbsent = hosts.isPresumedAbsent(url, now: .now)
        prober?.schedule()
        return isAbsent
    }

    /// Records that a caller with an alternative timed out on a request: its origin is presumed absent for a while.
    public func presumeAbsent(after request: OriginRequest) {
        guard !isOffline else { return }
        hosts.recordTimeout(of: request.url.origin, now: .now)
        prober?.record(request, at: request.url)
    }

    /// True if the URL's host refuses connections, or has no address, while other hosts answer.
    /// Its own, or the one that requests for such URLs were redirected to.
    public func isDead(_ url: WebURL) -> Bool { hosts.isDead(url, now: .now) }
    /// As `isDead(_:)` of a URL there.
    package func isDead(_ origin: WebURL.Origin) -> Bool { hosts.isDead(origin, now: .now) }

    /// True if requests were redirected to a host that is dead.
    package var hasDeadRedirects: Bool { hosts.hasDeadRedirects(now: .now) }

    /// True if the URL's host refused a connection, or had no address or route, when it was asked last.
    public func isFailing(_ url: WebURL) -> Bool { hosts.isFailing(url.origin, now: .now) }

    /// Lets the next request to each dead host be a look at it, however short ago the last one was.
    public func lookAtDeadHostsAgain() { hosts.endPausesOfDeadHosts(now: .now) }

    /// Records that the network has changed, so that earlier replies say nothing about it.
    public func recordNetworkChange() { hosts.recordNetworkChange() }

    /// Forgets that the URL's origin did not answer: the user orders something from it.
    public func forgetAbsence(of url: WebURL) { hosts.forgetAbsence(of: url.origin) }

    /// Ends all transfers with `cancelled`, for an orderly shutdown.
    public func stop() { Array(transfers.values).forEach { $0.fail(.cancelled) } }

    /// Requests enter libcurl only from here, never from within its callbacks.
    private func turn() {
        isQueueDue = true
        let beginning = starting
        starting = []
        for (transfer, refusal) in beginning {
            if let refusal {
                transfer.refuse(refusal)
            } else {
                transfer.begin()
            }
        }

        let now = ContinuousClock.now
        var hold: LinkShare.Hold?
        // Paused transfers lend their slots before any transfer is displaced.
        if link.isLimiting {
            let decided = link.hold(at: now)
            throttle(by: decided)
            hold = decided
        }

        let displaced = queue.displace(now: now, isMultiplexed: connections.isMultiplexed) { id in
            transfers[id]?.mayStop ?? true
        }
        for id in displaced {
            transfers[id]?.displaced()
        }
        isQueueDue = false
        let granted = queue.grant(now: now, isMultiplexed: connections.isMultiplexed)
        for id in granted {
            transfers[id]?.slotGranted()
        }

        // All others are as they were.
        if let hold, link.isLimiting, !displaced.isEmpty || !granted.isEmpty {
            throttle(by: hold)
        }
    }

    /// Looks at the queue in another turn, unless this one is about to.
    private func queueChanged() {
        if !isQueueDue {
            pump?.fireSoon()
        }
    }

    func enqueue(_ transfer: Transfer, host: WebURL.Origin) {
        queue.enqueue(transfer.id, priority: transfer.priority, host: host, isCounted: transfer.isCounted)
        queueChanged()
    }

    func move(_ transfer: Transfer) {
        queue.move(transfer.id, to: transfer.priority)
        queueChanged()
    }

    func release(_ transfer: Transfer) {
        queue.release(transfer.id)
        queueChanged()
    }

    func remove(_ transfer: Transfer) { transfers[transfer.id] = nil }

    func lendSlot(_ transfer: Transfer, _ isLent: Bool) {
        if queue.lendSlot(transfer.id, isLent) {
            pump?.fireSoon()
        }
    }

    /// Records the end of a transfer, or a failure of one that goes on.
    /// - Parameter request: evaluated only if the origin is absent, or was probed.
    func recordEnd(
        _ error: OriginError?, _ request: @autoclosure () -> OriginRequest, at url: WebURL, isProbe: Bool
    ) {
        let probed = isProbe ? request().url.origin : nil
        hosts.recordEnd(error?.code, at: url.origin, probed: probed, now: .now)
        if error != nil, hosts.isAbsent(url.origin, now: .now) {
            prober?.record(request(), at: url)
        }
        if isProbe {
            prober?.schedule()
        }
    }

    /// Notes, once for two origins, that a redirect has led from https to http.
    func recordDowngrade(from url: WebURL, to target: WebURL) {
        guard downgrades.count < Self.mostDowngrades, downgrades.insert([url.origin, target.origin]).inserted else {
            return
        }
        report(
            "\(url.redacted) redirects to \(target.redacted), which is not encrypted: no header fields, cookies or passwords are sent there"
        )
    }

    private static let mostDowngrades = 1_000

    /// Records what the end of an attempt says about the addresses of its host.
    func record(_ outcome: TransferState.Outcome, of wire: CurlRequest) {
        var use = wire.use
        use.lacksWay = wire.reply.lacksWay
        if case .failed = outcome {
            use.failing = wire.failingAddresses
        }
        if connections.record(outcome, of: use, now: .now) {
            names.recordFailure(of: wire.attempt.url.host)
        }
    }

    /// The longest time for which a request to an origin has waited for its reply on a used connection.
    private func longestSilence(at origin: WebURL.Origin) -> Duration? {
        let now = ContinuousClock.now
        var silence: Duration?
        for transfer in transfers.values {
            guard let own = transfer.suspectSilence(at: origin, now: now) else { continue }
            silence = max(silence ?? own, own)
        }
        return silence
    }

    func open(
        _ asked: AskedRequest, attempt: TransferState.Attempt, plan: ConnectionPlan,
        addresses: [SocketAddress], priority: OriginRequest.Priority
    ) -> CurlRequest? {
        activity.requests += 1
        let origin = attempt.url.origin
        let mayShare = priority == .playback || link.mayShareConnections
        var silence: Duration?
        if !connections.isSlow(origin) {
            silence = longestSilence(at: origin)
        }
        let terms = connections.terms(
            at: origin, among: addresses.map { $0.with(port: origin.port) },
            isPlaylist: asked.request.acceptsCompression,
            mayOfferHTTP2: configuration.usesHTTP2 && mayShare && asked.request.method == .get
                && attempt.manner.allowsHTTP2,
            now: .now, silence: silence)
        let settings = CurlRequest.Settings(
            configuration: configuration, handles: handles, rules: rules, plan: plan, addresses: terms.addresses,
            maximumConnectionAge: terms.maximumAge, offersHTTP2: terms.offersHTTP2,
            isMultiplexed: terms.isMultiplexed, mayShareConnection: terms.mayShare,
            bounds: priority == .background ? link.bounds : nil)
        return CurlRequest(asked, attempt: attempt, settings: settings)
    }

    func add(_ wire: CurlRequest, _ plan: ConnectionPlan) -> Bool {
        let pool = pools.pool(
            mayBePrivate: plan.rights.mayBePrivate, offersHTTP2: wire.offersHTTP2, isBounded: wire.bounds != nil)
        return pool.add(wire)
    }

    /// Decides how an attempt connects.
    func plan(_ asked: AskedRequest, _ attempt: TransferState.Attempt) -> ConnectionPlan {
        var rights = AddressRights(peer: OriginRequest.Peer(of: attempt.url))
        rights.namedPeer = asked.request.namedPeer
        rights.firstClass = asked.request.route.firstClass
        rights.allowedHosts = configuration.allowedHosts + asked.request.route.allowedHosts
        if let named = rights.namedPeer?.host, !rights.isNamedHost {
            let known = SocketAddress.known(of: named) ?? names.formerAddresses(of: named)
            rights.namedAddresses = known ?? []
        }
        var plan = ConnectionPlan(rights)
        plan.proxy = configuration.proxies.proxy(for: attempt.url, choice: asked.request.route.proxy)
        plan.socket = asked.request.socket
        plan.isInsecure = asked.request.route.isInsecure
        plan.certificate = asked.request.certificateUse(at: attempt.url)
        return plan
    }

    /// The reason why an attempt may not connect, as far as its name says; nil if it may.
    func refusal(of plan: ConnectionPlan) -> String? { plan.refusal(by: rules) }

    func remove(_ wire: CurlRequest) { wire.multi?.remove(wire) }

    private func applyAllowance() {
        queue.backgroundSlots = link.backgroundSlots
        refill?.cancel()
        pump?.fireSoon()
    }

    /// The number of requests that an origin which answers by HTTP/2 is sent at once; nil for any other.
    public func streams(at origin: WebURL.Origin) -> Int? {
        guard connections.isMultiplexed(origin) else { return nil }
        return queue.streams
    }

    /// Decides what becomes of the connection that `wire` shares with others, once its request has ended or is stopped. A
    /// lost connection is not used again, and its other streams are continued on another one. libcurl reports the loss to one
    /// of them, and the others would wait for their time limits; and it keeps a connection whose request was stopped.
    func leaveShared(_ wire: CurlRequest, after outcome: TransferState.Outcome?) {
        guard wire.sharedPort != nil else { return }
        var isReported = false
        switch outcome {
        case .finished, .exceeded, .stopped: return
        case .failed(let failure):
            if let fault = failure.http2Fault {
                isReported = fault != .stream
            }
        case nil: break
        }
        guard isReported || wire.isSilent(for: configuration.giveUpRule.sharedSilence) else { return }
        connections.recordTimeout(of: wire.attempt.url.origin, now: .now)
        for transfer in Array(transfers.values) where transfer.sharesConnection(of: wire) {
            transfer.displaced()
        }
    }

    /// Handles a head's arrival: the connection can be limited now; at the request's start that may be too early.
    func headReceived(on wire: CurlRequest) {
        if wire.offersHTTP2 {
            let isNew = connections.recordVersion(
                of: wire.attempt.url.origin, isHTTP2: wire.reply.isHTTP2, now: .now)
            // There are more slots now.
            if isNew {
                pump?.fireSoon()
            }
        }
        if let time = wire.connectTime {
            link.recordConnection(in: time)
        }
        connections.recordLoss(of: wire.lostAddresses, now: .now)
        if link.isLimiting {
            pump?.fireSoon()
        }
    }

    /// Counts received bytes. Above the allowance, running transfers pause in the next turn.
    func count(_ bytes: Int, for priority: OriginRequest.Priority) {
        if link.count(bytes, for: priority, at: .now) {
            pump?.fireSoon()
        }
    }

    /// True if background transfers have to pause. Then the client resumes them in a later turn.
    /// - Parameter uncounted: bytes that have arrived, of which `count` is not told yet.
    func isAheadOfRate(after uncounted: Int) -> Bool {
        guard link.isAheadOfRate(after: uncounted, at: .now) else { return false }
        pump?.fireSoon()
        return true
    }

    /// Throttles again after a time, if nothing else does before.
    func throttle(after time: Duration) { yieldTimer?.schedule(after: time) }

    private func throttle(by hold: LinkShare.Hold) {
        if let wait = hold.wait {
            refill?.schedule(after: wait)
        }

        var share: Int?
        if hold.window != nil {
            var count = 0
            for transfer in transfers.values where transfer.priority == .background && transfer.isOnTheWire {
                count += 1
            }
            share = hold.window(amongst: count)
        }

        for transfer in transfers.values {
            if transfer.priority == .background {
                transfer.throttle(hold.background, window: share)
            } else {
                // One that has to yield soon, to another one of its player, should have little under way.
                transfer.throttle(.none, window: hold.playerWindow)
            }
        }
    }
}
