public import EventLoop
public import HTTPMessage

/// Fetches from origins, by libcurl on the loop.
///
/// Connections are kept and used again, in two pools: one for the hosts that the user's own URLs named, one for all
/// others. A connection to a private address, which was allowed for one asset, is thus never found by a request of
/// another that may not go there.
@LoopActor public final class OriginClient {
    /// The limits.
    public let configuration: Configuration
    /// Where Weir itself listens, as IP literals: never connected to, whoever names it.
    public var ownListeners: [OriginRequest.Peer] = [] {
        didSet { rules.ownListeners = ownListeners.compactMap { SocketAddress(literal: $0.host, port: $0.port) } }
    }
    /// While true, no socket is opened and no name is looked up: every transfer fails at once, those under way too.
    /// What is known of the presence of origins is forgotten with each change: it may be another network.
    public var isOffline = false {
        didSet {
            guard isOffline != oldValue else { return }
            presence = Self.presence(configuration)
            lookout?.schedule()
            if isOffline { Array(transfers.values).forEach { $0.fail(.offline) } }
        }
    }

    /// What background transfers may take from now on, those under way included.
    public var backgroundAllowance = BackgroundAllowance.full {
        didSet { if backgroundAllowance != oldValue { allow() } }
    }
    /// The bytes of bodies that have come.
    public private(set) var traffic = Traffic()
    /// What was asked of origins, and what became of that.
    public internal(set) var activity = Activity()

    var presence: OriginPresence
    private var lookout: Lookout?
    private var trust = ConnectionTrust()
    private var rules = AddressRules()
    private let handles: EasyHandles
    private let namedPool: CurlMulti
    private let publicPool: CurlMulti
    private var queue: HostQueue
    private var transfers: [UInt64: Transfer] = [:]
    private var starting: [(Transfer, OriginError.Code?)] = []
    private var lastID: UInt64 = 0
    private var pump: LoopTimer?
    /// nil while no rate bounds background transfers.
    private var bucket: TokenBucket?
    private var refill: LoopTimer?
    private var queueBound = QueueBound()
    /// Whether some may be held, or bounded, by an allowance.
    private var isThrottling = false

    /// Makes a client without connections.
    public init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        handles = EasyHandles(configuration)
        namedPool = CurlMulti(
            idleConnections: configuration.idleConnections, bufferSize: configuration.bufferSize)
        publicPool = CurlMulti(
            idleConnections: configuration.idleConnections, bufferSize: configuration.bufferSize)
        queue = HostQueue(places: configuration.placesPerHost, reserve: configuration.placesInReserve)
        presence = Self.presence(configuration)
        pump = LoopTimer { [weak self] in self?.turn() }
        refill = LoopTimer { [weak self] in self?.turn() }
        lookout = Lookout(self)
    }

    private static func presence(_ configuration: Configuration) -> OriginPresence {
        OriginPresence(
            threshold: configuration.absenceThreshold, pauses: configuration.absencePauses,
            interest: configuration.absenceInterest)
    }

    // MARK: Transfers

    /// Begins a transfer. The receiver, which is held until the end, hears of it after the callback of the loop that
    /// runs now.
    @discardableResult public func start(_ request: OriginRequest, receiver: any TransferReceiver) -> Transfer {
        if isOffline { return start(request, receiver, refusal: .offline) }
        if request.url.isNowhere { return start(request, receiver, refusal: .unreachable) }
        switch presence.admit(request.url.origin, now: .now) {
        case .normal: return start(request, receiver)
        case .probe: return start(request, receiver, isProbe: true)
        case .refused:
            lookout?.schedule()
            return start(request, receiver, refusal: request.insists ? nil : .unreachable)
        }
    }

    /// Begins a transfer whose end says whether an absent origin is there again.
    func probe(_ request: OriginRequest, receiver: any TransferReceiver) { start(request, receiver, isProbe: true) }

    @discardableResult private func start(
        _ request: OriginRequest, _ receiver: any TransferReceiver, refusal: OriginError.Code? = nil,
        isProbe: Bool = false
    ) -> Transfer {
        lastID += 1
        let transfer = Transfer(lastID, request, receiver, client: self, isProbe: isProbe)
        transfers[lastID] = transfer
        starting.append((transfer, refusal))
        pump?.fireSoon()
        return transfer
    }

    /// Whether the origin of a URL is presumed absent, so that who has something in its stead had better not wait for
    /// it. It is probed from now on for a while, so that this changes soon after it is back.
    public func isPresumedAbsent(_ url: WebURL) -> Bool {
        if url.isNowhere { return true }
        // Between a pause and its probe nobody is to wait either; after a long time whoever comes looks for himself.
        lookout?.look()
        presence.want(url.origin, now: .now)
        lookout?.schedule()
        return presence.isAbsent(url.origin, now: .now)
    }

    /// Notes that a request was waited for in vain by somebody who could do without: for a while its origin is presumed
    /// absent.
    public func presumeAbsent(after request: OriginRequest) {
        guard !isOffline else { return }
        presence.doubted(request.url.origin, now: .now)
        lookout?.note(request, at: request.url)
    }

    /// Ends all transfers with `cancelled`, for an orderly stop.
    public func stop() { Array(transfers.values).forEach { $0.fail(.cancelled) } }

    /// Requests enter libcurl from here alone, never from within one of its callbacks.
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
        // What pauses leaves its place to others, before any is taken away.
        if isThrottling { throttle() }
        let now = ContinuousClock.now
        for id in queue.displace(now: now) { transfers[id]?.displaced() }
        for id in queue.grant(now: now) { transfers[id]?.placeGranted() }
        if isThrottling { throttle() }
    }

    // MARK: What transfers call

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

    func forget(_ transfer: Transfer) { transfers[transfer.id] = nil }

    /// The place of a transfer that pauses goes to another, until it goes on.
    func lend(_ transfer: Transfer, _ isLent: Bool) {
        if queue.lend(transfer.id, isLent) { pump?.fireSoon() }
    }

    /// Notes what the end of a request says of the presence of the origin that it was at.
    func note(_ error: OriginError?, _ request: OriginRequest, at url: WebURL, isProbe: Bool) {
        if error?.code == .unreachable { presence.missed(url.origin, now: .now) }
        if isProbe { presence.endProbe(request.url.origin, isInVain: error?.code.isSilence ?? false, now: .now) }
        if error != nil, presence.isAbsent(url.origin, now: .now) { lookout?.note(request, at: url) }
        if isProbe { lookout?.schedule() }
    }

    /// Notes that a request was waited for in vain.
    func noteSilence(of url: WebURL) { trust.silent(url.origin, now: .now) }

    func open(_ request: OriginRequest, _ attempt: TransferState.Attempt) -> CurlRequest? {
        activity.requests += 1
        let settings = CurlRequest.Settings(
            configuration: configuration, handles: handles, rules: rules, isNamed: isNamed(request, attempt),
            oldestConnection: trust.oldest(attempt.url.origin, now: .now))
        return CurlRequest(request, attempt, settings)
    }

    func add(_ wire: CurlRequest, for request: OriginRequest, _ attempt: TransferState.Attempt) -> Bool {
        (isNamed(request, attempt) ? namedPool : publicPool).add(wire)
    }

    func remove(_ wire: CurlRequest) {
        namedPool.remove(wire)
        publicPool.remove(wire)
    }

    private func isNamed(_ request: OriginRequest, _ attempt: TransferState.Attempt) -> Bool {
        request.namedPeer == OriginRequest.Peer(of: attempt.url)
    }

    // MARK: Background

    private func allow() {
        isThrottling = true
        queue.backgroundPlaces = backgroundAllowance.places
        let rate = backgroundAllowance.rate ?? 0
        bucket = rate > 0 ? TokenBucket(rate: rate, at: .now) : nil
        refill?.cancel()
        pump?.fireSoon()
    }

    /// A connection stands that was perhaps not there in the turn in which its request began.
    func headCame(on wire: CurlRequest, for priority: OriginRequest.Priority) {
        if let time = wire.connectTime { queueBound.connected(in: time) }
        if isThrottling, priority == .background { pump?.fireSoon() }
    }

    /// Counts bytes that have come. More than the allowance has stop what is under way in the next turn.
    func count(_ bytes: Int, for priority: OriginRequest.Priority) {
        guard priority == .background else {
            traffic.playback += Int64(bytes)
            return
        }
        traffic.background += Int64(bytes)
        if queueBound.note(traffic.background, at: .now), queueBound.window != nil || isThrottling {
            isThrottling = true
            pump?.fireSoon()
        }
        guard bucket != nil else { return }
        bucket?.take(bytes, at: .now)
        if bucket?.wait(at: .now) != nil { pump?.fireSoon() }
    }

    /// Holds what may not go on, and lets go what may.
    private func throttle() {
        let isStopped = backgroundAllowance.rate == 0
        let wait = bucket?.wait(at: .now)
        if let wait { refill?.schedule(after: wait) }
        let background = transfers.values.filter { $0.priority == .background }
        let window = backgroundAllowance.window ?? queueBound.window
        let share = window.map { Int($0) / max(1, background.count(where: \.isOnTheWire)) }
        for transfer in transfers.values {
            if transfer.priority == .background {
                transfer.throttle(isStopped || wait != nil, isLong: isStopped, window: share)
            } else {
                transfer.throttle(false, isLong: false, window: nil)
            }
        }
        isThrottling = backgroundAllowance != .full || window != nil
    }
}

extension OriginClient {
    /// Bytes of bodies since the start, by who waited for them when they came.
    public struct Traffic: Sendable {
        /// A player, or the command line.
        public internal(set) var playback: Int64 = 0
        /// A download.
        public internal(set) var background: Int64 = 0
    }
}
