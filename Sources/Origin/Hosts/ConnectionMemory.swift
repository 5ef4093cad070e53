import HTTPMessage

/// Remembers how earlier attempts fared, and decides by it how the next one connects. Pure.
///
/// `AddressMemory` is for the addresses of a name, `StaleConnections` for connections that may be dead, `HTTPVersions` for
/// connections that are shared. A failed attempt changes several of them.
struct ConnectionMemory {
    /// How an attempt has connected.
    struct Use {
        let origin: WebURL.Origin
        /// The address that it has used; nil for none, and through a proxy.
        let connected: SocketAddress?
        /// All addresses of the host.
        let addresses: [SocketAddress]
        /// True if an earlier request has opened the connection.
        let isOnUsedConnection: Bool
        /// The addresses that do not answer, if the attempt has failed.
        var failing: [SocketAddress] = []
        /// See `Reply.lacksWay`.
        var lacksWay = false
    }

    /// How an attempt may connect.
    struct Terms: Equatable {
        /// The addresses of the host, in the order in which they are tried.
        var addresses: [SocketAddress]
        /// See `StaleConnections.maximumAge`.
        var maximumAge: Int?
        var offersHTTP2: Bool
        /// True if the origin has answered by HTTP/2, so that connections are shared.
        var isMultiplexed: Bool
        /// True to wait for a connection that is being opened; see `HTTPVersions.mayShare`.
        var mayShare: Bool
    }

    private var addresses = AddressMemory()
    private var stale = StaleConnections()
    private var versions = HTTPVersions()
    /// Origins that have asked for Digest: their next requests need not try Basic first.
    private var digestOrigins: Set<WebURL.Origin> = []

    // MARK: Events

    /// Forgets which addresses have failed: the network is another one.
    mutating func recordSwitch() { addresses = AddressMemory() }

    /// Records the end of an attempt. Returns true if the host's name may have got other addresses.
    mutating func record(
        _ outcome: TransferState.Outcome, of use: Use, now: ContinuousClock.Instant
    ) -> Bool {
        if use.lacksWay, let address = use.connected, hasOtherAddress(than: use, now: now) {
            // The next attempt is for another address. Idle connections may lead to the same one.
            addresses.recordFailure(address, now: now)
            stale.recordTimeout(use.origin, now: now)
            return false
        }
        switch outcome {
        case .finished:
            if let address = use.connected {
                addresses.recordSuccess(address)
            }
            return false
        case .failed(let failure) where failure.code.isAway || failure.code == .cutShort:
            recordLoss(of: use.failing, now: now)
            // Idle connections may lead to the same address.
            if hasOtherAddress(than: use, now: now) {
                stale.recordTimeout(use.origin, now: now)
            }
            return true
        case .failed, .exceeded, .stopped: return false
        }
    }

    /// Records addresses that have failed.
    mutating func recordLoss(of lost: [SocketAddress], now: ContinuousClock.Instant) {
        for address in lost {
            addresses.recordFailure(address, now: now)
        }
    }

    /// Records that the connections to an origin may be dead, or have bytes that nothing reads.
    mutating func recordTimeout(of origin: WebURL.Origin, now: ContinuousClock.Instant) {
        stale.recordTimeout(origin, now: now)
    }

    /// Records that an origin let a request wait for longer than a dead connection is waited for.
    mutating func recordSlowReply(from origin: WebURL.Origin) { stale.recordSlowReply(origin) }

    /// Records a reply to a request that offered HTTP/2. Returns true if requests share connections from now on.
    mutating func recordVersion(of origin: WebURL.Origin, isHTTP2: Bool, now: ContinuousClock.Instant) -> Bool {
        let wasMultiplexed = versions.isMultiplexed(origin)
        versions.recordReply(origin, isHTTP2: isHTTP2, now: now)
        return !wasMultiplexed && versions.isMultiplexed(origin)
    }

    mutating func record(_ fault: HTTPVersions.Fault, of origin: WebURL.Origin, now: ContinuousClock.Instant) {
        versions.record(fault, of: origin, now: now)
    }

    mutating func recordLengthless(_ origin: WebURL.Origin, isPlaylist: Bool) {
        versions.recordLengthless(origin, isPlaylist: isPlaylist)
    }

    mutating func recordDigest(of origin: WebURL.Origin) { digestOrigins.insert(origin) }

    // MARK: Attempts

    func usesDigest(_ origin: WebURL.Origin) -> Bool { digestOrigins.contains(origin) }

    /// True if the origin lets requests wait for longer than a dead connection is waited for.
    func isSlow(_ origin: WebURL.Origin) -> Bool { stale.isSlow(origin) }

    /// True if requests to the origin are streams of one connection.
    func isMultiplexed(_ origin: WebURL.Origin) -> Bool { versions.isMultiplexed(origin) }

    /// The reason to try an attempt that is silent once more, soon; nil if there is none.
    func doubt(about use: Use, now: ContinuousClock.Instant) -> GiveUpRule.Doubt? {
        if hasOtherAddress(than: use, now: now) {
            return .otherAddress
        }
        guard use.isOnUsedConnection, !stale.isSlow(use.origin) else { return nil }
        return .usedConnection
    }

    /// Decides how an attempt connects.
    /// - Parameters:
    ///   - known: the addresses of the host, as they were resolved.
    ///   - mayOfferHTTP2: true if nothing about the request speaks against HTTP/2.
    ///   - silence: the longest time for which another request to this origin has waited on a used connection; nil if none has, and
    ///     if `isSlow`.
    func terms(
        at origin: WebURL.Origin, among known: [SocketAddress], isPlaylist: Bool, mayOfferHTTP2: Bool,
        now: ContinuousClock.Instant, silence: Duration?
    ) -> Terms {
        let isMultiplexed = versions.isMultiplexed(origin)
        var age = stale.maximumAge(origin, now: now)
        if let silence, !stale.isSlow(origin) {
            let seconds = Int(silence.components.seconds)
            age = min(age ?? seconds, seconds)
        }
        if isMultiplexed, let limit = age {
            // The streams of a lost connection share the next one.
            age = max(1, limit)
        }

        let offersHTTP2 =
            mayOfferHTTP2 && versions.mayMultiplex(origin, now: now)
            && versions.hasLengths(origin, isPlaylist: isPlaylist)
        return Terms(
            addresses: addresses.ordered(known, now: now), maximumAge: age, offersHTTP2: offersHTTP2,
            isMultiplexed: isMultiplexed, mayShare: versions.mayShare(origin, now: now))
    }

    /// True if the host has an address besides the one that is used, which has not failed.
    private func hasOtherAddress(than use: Use, now: ContinuousClock.Instant) -> Bool {
        guard let used = use.connected else { return false }
        return addresses.hasOther(than: used, in: use.addresses, now: now)
    }
}
