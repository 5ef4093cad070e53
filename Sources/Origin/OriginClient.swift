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
            presence = OriginPresence(configuration.giveUpRule)
            reach.recordNetworkChange()
            addressMemory = AddressMemory()
            prober?.schedule()
            if isOffline {
                Array(transfers.values).forEach { $0.fail(.offline) }
            }
            names.reset()
        }
    }

    /// The share of the link for background transfers, running ones included.
    public var backgroundAllowance = BackgroundAllowance.full {
        didSet {
            if backgroundAllowance != oldValue {
                applyAllowance()
            }
        }
    }
    /// The user's handlers; nil for none.
    public weak var handlers: (any OriginHandlers)?
    /// Received body bytes.
    public private(set) var traffic = Traffic()
    /// Counts of requests and outcomes.
    public internal(set) var activity = Activity()
    var presence: OriginPresence
    private var reach = HostReach()
    private var redirects = RedirectMemory()
    var prober: OriginProber?
    private var staleConnections = StaleConnections()
    private var versions = HTTPVersions()
    /// Origins that have asked for Digest: their next requests need not try Basic first.
    var digestOrigins: Set<WebURL.Origin> = []
    private var addressMemory = AddressMemory()
    let names: NameResolver
    private var rules = AddressRules()
    private let handles: EasyHandlePool
    private let pools: ConnectionPools
    private var queue: HostQueue
    private var transfers: [UInt64: Transfer] = [:]
    private var starting: [(Transfer, OriginError.Code?)] = []
    private var lastID: UInt64 = 0
    private var pump: LoopTimer?
    private var backgroundRate: BackgroundRate
    private var refill: LoopTimer?
    private var yieldTimer: LoopTimer?
    private var windowLimiter = WindowLimiter()
    private var isThrottling = false
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
        presence = OriginPresence(configuration.giveUpRule)
        backgroundRate = BackgroundRate(users: configuration.backgroundRate, at: .now)
        pump = LoopTimer { [weak self] in self?.turn() }
        refill = LoopTimer { [weak self] in self?.turn() }
        yieldTimer = LoopTimer { [weak self] in self?.turn() }
        prober = OriginProber(self)
        if backgroundRate.isLimitedByUser {
            applyAllowance()
        }
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
        switch presence.admit(request.url.origin, now: .now) {
        case .normal: return start(request, receiver)
        case .probe: return start(request, receiver, isProbe: true)
        case .refused:
            prober?.schedule()
            guard !request.ignoresAbsence else { return start(request, receiver) }
            let refusal: OriginError.Code = isDead(request.url) ? .hostDead : .unreachable
            return start(request, receiver, refusal: refusal)
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
        let transfer = Transfer(lastID, for: request, receiver: receiver, client: self, isProbe: isProbe)
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
        presence.recordInterest(url.origin, now: .now)
        prober?.schedule()
        guard let target = target(of: url) else { return presence.isAbsent(url.origin, now: .now) }
        presence.recordInterest(target, now: .now)
        return presence.isAbsent(url.origin, now: .now) || presence.isAbsent(target, now: .now)
    }

    /// Records that a caller with an alternative timed out on a request: its origin is presumed absent for a while.
    public func presumeAbsent(after request: OriginRequest) {
        guard !isOffline else { return }
        presence.recordTimeout(request.url.origin, now: .now)
        prober?.record(request, at: request.url)
    }

    /// True if the URL's host refuses connections, or has no address, while other hosts answer.
    /// Its own, or the one that requests for such URLs were redirected to.
    public func isDead(_ url: WebURL) -> Bool { isDead(url.origin) || leadsToDeadHost(url) }
    /// As `isDead(_:)` of a URL there.
    package func isDead(_ origin: WebURL.Origin) -> Bool { reach.isDead(origin, now: .now) }

    private func leadsToDeadHost(_ url: WebURL) -> Bool {
        guard let target = target(of: url) else { return false }
        return isDead(target)
    }

    /// True if requests were redirected to a host that is dead.
    package var hasDeadRedirects: Bool { redirects.targets(now: .now).contains { isDead($0) } }

    /// See `RedirectMemory`.
    func recordRedirect(of url: WebURL, to target: WebURL.Origin) {
        redirects.recordRedirect(of: url, to: target, now: .now)
    }

    func target(of url: WebURL) -> WebURL.Origin? { redirects.target(of: url, now: .now) }

    func recordDirectReply(from url: WebURL) { redirects.recordDirectReply(from: url, now: .now) }

    /// See `RedirectMemory.beginLook`.
    func beginLook(atTargetOf url: WebURL) -> Bool {
        let reach = reach
        let now = ContinuousClock.now
        return redirects.beginLook(at: url, isDead: { reach.isDead($0, now: now) }, now: now)
    }

    /// The reason why a host could not be reached the last time.
    func reason(of url: WebURL) -> String? { reach.reason(of: url.origin) }

    /// True if the URL's host refused a connection, or had no address or route, when it was asked last.
    public func isFailing(_ url: WebURL) -> Bool { reach.verdict(on: url.origin, now: .now) != .reachable }

    /// True if a host fails, and is waited for.
    func isAwaited(_ origin: WebURL.Origin) -> Bool { reach.verdict(on: origin, now: .now) == .awaited }

    /// See `HostReach.beginLook`.
    func beginLook(at url: WebURL) -> Bool { reach.beginLook(at: url.origin, now: .now) }

    /// Lets the next request to each dead host be a look at it, however short ago the last one was.
    public func lookAtDeadHostsAgain() {
        let reach = reach
        let now = ContinuousClock.now
        presence.endPauses(of: { reach.isDead($0, now: now) }, now: now)
    }

    /// Records that the network has changed, so that earlier replies say nothing about it.
    public func recordNetworkChange() { reach.recordNetworkChange() }

    func recordReply(from url: WebURL) {
        presence.recordReply(url.origin)
        reach.recordReply(url.origin, now: .now)
    }

    func recordReach(of url: WebURL, after failure: TransferState.Failure) {
        if let fault = failure.hostFault {
            reach.recordFault(fault, of: url.origin, reason: failure.underlying, now: .now)
        } else if failure.code.isAway {
            reach.recordSilence(of: url.origin)
        }
    }

    /// Forgets that the URL's origin did not answer: the user orders something from it.
    public func forgetAbsence(of url: WebURL) { presence.recordReply(url.origin) }

    /// Ends all transfers with `cancelled`, for an orderly shutdown.
    public func stop() { Array(transfers.values).forEach { $0.fail(.cancelled) } }

    /// Requests enter libcurl only from here, never from within its callbacks.
    private func turn() {
        let beginning = starting
        starting = []
        for (transfer, refusal) in beginning {
            if let refusal {
                transfer.refuse(refusal)
            } else {
                transfer.begin()
            }
        }

        // Paused transfers lend their slots before any transfer is displaced.
        if isThrottling {
            throttle()
        }

        let now = ContinuousClock.now
        let displaced = queue.displace(now: now, isMultiplexed: versions.isMultiplexed) { id in
            transfers[id]?.mayStop ?? true
        }
        for id in displaced {
            transfers[id]?.displaced()
        }
        for id in queue.grant(now: now, isMultiplexed: versions.isMultiplexed) {
            transfers[id]?.slotGranted()
        }

        if isThrottling {
            throttle()
        }
    }

    func enqueue(_ transfer: Transfer, host: WebURL.Origin) {
        queue.enqueue(transfer.id, priority: transfer.priority, host: host, isCounted: transfer.isCounted)
        pump?.fireSoon()
    }

    func move(_ transfer: Transfer) {
        queue.move(transfer.id, to: transfer.priority)
        pump?.fireSoon()
    }

    func release(_ transfer: Transfer) {
        queue.release(transfer.id)
        pump?.fireSoon()
    }

    func remove(_ transfer: Transfer) { transfers[transfer.id] = nil }

    func lend(_ transfer: Transfer, _ isLent: Bool) {
        if queue.lend(transfer.id, isLent) {
            pump?.fireSoon()
        }
    }

    func recordEnd(_ error: OriginError?, _ request: OriginRequest, at url: WebURL, isProbe: Bool) {
        switch error?.code {
        case .unreachable: presence.recordUnreachable(url.origin, now: .now)
        case .hostDead: presence.recordDeath(url.origin, now: .now)
        default: break
        }
        if isProbe {
            presence.endProbe(request.url.origin, isTimeout: error?.code.isTimeout ?? false, now: .now)
        }
        if error != nil, presence.isAbsent(url.origin, now: .now) {
            prober?.record(request, at: url)
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

    func recordTimeout(of url: WebURL) {
        staleConnections.recordTimeout(url.origin, now: .now)
    }

    /// Records a reply that another address of the name may not give: this edge lacks its way to the resource. The next
    /// attempt is for that address. False if there is none.
    private func recordGatewayFailure(of wire: CurlRequest) -> Bool {
        // An edge that says when to come back is not one without a way.
        guard [502, 503, 504].contains(wire.reply.status), wire.reply.retryAfter == nil, let address = wire.connected,
            hasOtherAddress(wire)
        else { return false }
        addressMemory.recordFailure(address, now: .now)
        // Idle connections may lead to the same address.
        recordTimeout(of: wire.attempt.url)
        return true
    }

    /// Records what the end of an attempt says about the addresses of its host.
    func record(_ outcome: TransferState.Outcome, of wire: CurlRequest) {
        if recordGatewayFailure(of: wire) {
            return
        }
        switch outcome {
        case .finished:
            if let address = wire.connected {
                addressMemory.recordSuccess(address)
            }
        case .failed(let failure) where failure.code.isAway || failure.code == .cutShort:
            for address in wire.failingAddresses {
                addressMemory.recordFailure(address, now: .now)
            }
            names.recordFailure(of: wire.attempt.url.host)
            // Idle connections may lead to the same address.
            if hasOtherAddress(wire) {
                recordTimeout(of: wire.attempt.url)
            }
        default: break
        }
    }

    func doubt(about wire: CurlRequest) -> GiveUpRule.Doubt? {
        if hasOtherAddress(wire) {
            return .otherAddress
        }
        guard wire.isOnUsedConnection, !staleConnections.isSlow(wire.attempt.url.origin) else { return nil }
        return .usedConnection
    }

    /// Records that an origin let a request wait for longer than a dead connection is waited for.
    func recordSlowReply(from url: WebURL) { staleConnections.recordSlowReply(url.origin) }

    /// True if the host has an address besides the one that is used, which has not failed.
    func hasOtherAddress(_ wire: CurlRequest) -> Bool {
        guard let used = wire.connected else { return false }
        return addressMemory.hasOther(than: used, in: wire.addresses, now: .now)
    }

    /// The time in whole seconds for which a connection may have been idle that a request uses; nil for any time.
    private func maximumConnectionAge(at origin: WebURL.Origin) -> Int? {
        let now = ContinuousClock.now
        let known = staleConnections.maximumAge(origin, now: now)
        guard !staleConnections.isSlow(origin) else { return known }
        var silence: Duration?
        for transfer in transfers.values {
            guard let own = transfer.suspectSilence(at: origin, now: now) else { continue }
            silence = max(silence ?? own, own)
        }
        guard let silence else { return known }
        let age = Int(silence.components.seconds)
        return min(known ?? age, age)
    }

    func open(
        _ request: OriginRequest, attempt: TransferState.Attempt, plan: ConnectionPlan,
        addresses: [SocketAddress], priority: OriginRequest.Priority
    ) -> CurlRequest? {
        activity.requests += 1
        let origin = attempt.url.origin

        // Transfers that have to pause go by HTTP/1.1, where a connection of their own holds them back.
        let mayShare = priority == .playback || isUnlimited && !windowLimiter.isSlow
        let isMultiplexed = versions.isMultiplexed(origin)
        var age = maximumConnectionAge(at: origin)
        if isMultiplexed, let limit = age {
            // The streams of a lost connection share the next one.
            age = max(1, limit)
        }

        let settings = CurlRequest.Settings(
            configuration: configuration, handles: handles, rules: rules, plan: plan,
            addresses: addressMemory.ordered(addresses.map { $0.with(port: origin.port) }, now: .now),
            maximumConnectionAge: age,
            offersHTTP2: configuration.usesHTTP2 && mayShare && request.method == .get && attempt.manner.allowsHTTP2
                && versions.mayMultiplex(origin, now: .now)
                && versions.hasLengths(origin, isPlaylist: request.acceptsCompression),
            isMultiplexed: isMultiplexed,
            mayShareConnection: versions.mayShare(origin, now: .now),
            bounds: priority == .background ? backgroundRate.bounds : nil)
        return CurlRequest(request, attempt: attempt, settings: settings)
    }

    func add(_ wire: CurlRequest, _ plan: ConnectionPlan) -> Bool {
        let pool = pools.pool(
            mayBePrivate: plan.rights.mayBePrivate, offersHTTP2: wire.offersHTTP2, isBounded: wire.bounds != nil)
        return pool.add(wire)
    }

    /// Decides how an attempt connects.
    func plan(_ request: OriginRequest, _ attempt: TransferState.Attempt) -> ConnectionPlan {
        var rights = AddressRights(peer: OriginRequest.Peer(of: attempt.url))
        rights.namedPeer = request.namedPeer
        rights.firstClass = request.route.firstClass
        rights.allowedHosts = configuration.allowedHosts + request.route.allowedHosts
        if let named = rights.namedPeer?.host, !rights.isNamedHost {
            let known = SocketAddress.known(of: named) ?? names.formerAddresses(of: named)
            rights.namedAddresses = known ?? []
        }
        var plan = ConnectionPlan(rights)
        plan.proxy = configuration.proxies.proxy(for: attempt.url, choice: request.route.proxy)
        plan.socket = request.socket
        plan.isInsecure = request.route.isInsecure
        plan.certificate = request.route.certificate
        plan.key = request.route.key
        return plan
    }

    /// The reason why an attempt may not connect, as far as its name says; nil if it may.
    func refusal(of plan: ConnectionPlan) -> String? { plan.refusal(by: rules) }

    func remove(_ wire: CurlRequest) { wire.multi?.remove(wire) }

    /// True if neither the user nor a player limits background transfers.
    private var isUnlimited: Bool { backgroundAllowance == .full && !backgroundRate.isLimitedByUser }

    private func applyAllowance() {
        isThrottling = true
        queue.backgroundSlots = [backgroundAllowance.slots, backgroundRate.slots].compactMap(\.self).min()
        backgroundRate.leave(backgroundAllowance.rate, at: .now)
        refill?.cancel()
        pump?.fireSoon()
    }

    /// The number of requests that a host which answers by HTTP/2 is sent at once; nil for any other.
    public func streams(for url: WebURL) -> Int? {
        guard versions.isMultiplexed(url.origin) else { return nil }
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
        recordTimeout(of: wire.attempt.url)
        for transfer in Array(transfers.values) where transfer.sharesConnection(of: wire) {
            transfer.displaced()
        }
    }

    func recordFault(_ fault: HTTPVersions.Fault, at url: WebURL) {
        versions.record(fault, of: url.origin, now: .now)
    }

    func recordLengthless(_ request: OriginRequest, at url: WebURL) {
        versions.recordLengthless(url.origin, isPlaylist: request.acceptsCompression)
    }

    private func recordVersion(of wire: CurlRequest) {
        guard wire.offersHTTP2 else { return }
        let origin = wire.attempt.url.origin
        let wasMultiplexed = versions.isMultiplexed(origin)
        versions.recordReply(origin, isHTTP2: wire.reply.isHTTP2, now: .now)
        // There are more slots now.
        if !wasMultiplexed, versions.isMultiplexed(origin) {
            pump?.fireSoon()
        }
    }

    /// Handles a head's arrival: the connection can be limited now; at the request's start that may be too early.
    func headReceived(on wire: CurlRequest) {
        recordVersion(of: wire)
        if let time = wire.connectTime {
            windowLimiter.connected(in: time)
        }
        for address in wire.lostAddresses {
            addressMemory.recordFailure(address, now: .now)
        }
        if isThrottling {
            pump?.fireSoon()
        }
    }

    /// Counts received bytes. Above the allowance, running transfers pause in the next turn.
    func count(_ bytes: Int, for priority: OriginRequest.Priority) {
        switch priority {
        case .playback: traffic.playback += Int64(bytes)
        case .background: traffic.background += Int64(bytes)
        }
        let all = traffic.playback + traffic.background
        if windowLimiter.record(all, at: .now), windowLimiter.window != nil || isThrottling {
            isThrottling = true
            pump?.fireSoon()
        }
        guard priority == .background, backgroundRate.isLimited else { return }
        let now = ContinuousClock.now
        backgroundRate.consume(bytes, at: now)
        if backgroundRate.wait(at: now) != nil {
            pump?.fireSoon()
        }
    }

    /// True if background transfers have to pause. Then the client resumes them in a later turn.
    /// - Parameter uncounted: bytes that have arrived, of which `count` is not told yet.
    func isAheadOfRate(after uncounted: Int) -> Bool {
        guard backgroundRate.isLimited, backgroundRate.wait(at: .now, after: uncounted) != nil else { return false }
        pump?.fireSoon()
        return true
    }

    /// Throttles again after a time, if nothing else does before.
    func throttle(after time: Duration) { yieldTimer?.schedule(after: time) }

    private func throttle() {
        let isStopped = backgroundAllowance.rate == 0
        let wait = backgroundRate.wait(at: .now)
        if let wait {
            refill?.schedule(after: wait)
        }

        var hold = Transfer.Hold.none
        if isStopped {
            hold = .long
        } else if wait != nil {
            hold = .brief
        }

        let widest = windowLimiter.window
        let windows = [backgroundAllowance.window ?? widest, backgroundRate.window]
        let window = windows.compactMap(\.self).min()
        var share: Int?
        if let window {
            var count = 0
            for transfer in transfers.values where transfer.priority == .background && transfer.isOnTheWire {
                count += 1
            }
            share = Int(window) / max(1, count)
        }

        for transfer in transfers.values {
            if transfer.priority == .background {
                transfer.throttle(hold, window: share)
            } else {
                // One that has to yield soon, to another one of its player, should have little under way.
                transfer.throttle(.none, window: widest.map { Int($0) })
            }
        }

        isThrottling = !isUnlimited || widest != nil
    }
}
